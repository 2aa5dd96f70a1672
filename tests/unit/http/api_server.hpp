// A whole server over a fake control plane, on a thread of its own, for the tests of this folder.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <mutex>
#include <thread>
#include <type_traits>

#include "fakes/fake_task_service.hpp"
#include "http/api.hpp"
#include "http/server.hpp"
#include "support/raw_http.hpp"
#include "support/temp_dir.hpp"

namespace mayfly::test {

// Keeps what was logged, as one text.
class CapturedLog final : public Logger {
 public:
  void write(LogLevel level, std::string_view component, std::string_view message,
             std::initializer_list<Field> fields) override;
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

struct ApiServerOptions {
  http::ConnectionTimes times;
  Millis heartbeat{std::chrono::seconds(15)};
  std::size_t connections = 1024;
};

class ApiServer {
 public:
  explicit ApiServer(ApiServerOptions options = {});
  ~ApiServer();

  // Runs `work` on the I/O thread and returns what it returned.
  template <class Work>
  auto on_loop(Work work) -> std::invoke_result_t<Work&> {
    std::packaged_task<std::invoke_result_t<Work&>()> task(std::move(work));
    auto result = task.get_future();
    asio::post(io_, [&task] { task(); });
    return result.get();
  }
  // Asks on the I/O thread until it is true; false when it was not within a generous cap.
  bool eventually(const std::function<bool()>& condition);

  RawConnection connect() const { return RawConnection::to_unix(socket_path()); }
  RawConnection connect_tcp() const { return RawConnection::to_tcp(tcp_port_); }
  std::uint16_t tcp_port() const { return tcp_port_; }
  std::filesystem::path socket_path() const { return directory_.path() / "run" / "api.sock"; }

  // One request on a connection of its own over the Unix socket; kept for the OpenAPI check.
  RawResponse call(std::string_view method, std::string_view target, const RawHeaders& headers = {},
                   std::string_view body = {});
  // Drains on the I/O thread; completes when the server has.
  void drain(Deadline deadline);

  FakeTaskService& service() { return *service_; }  // touch it on the loop only
  http::Api& api() { return *api_; }
  http::Server& server() { return *server_; }
  const CapturedLog& log() const { return log_; }
  static std::string token() { return "mft_0123456789abcdef0123456789abcdef"; }

  // Shortcuts for what most tests begin with.
  TaskId add_task();
  void post_output(const TaskId& id, LogKind kind, std::string data);

 private:
  TempDir directory_;
  CapturedLog log_;
  Metrics metrics_;
  BlockingPool pool_{1};
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  std::unique_ptr<FakeTaskService> service_;
  std::unique_ptr<http::Api> api_;
  std::unique_ptr<http::Server> server_;
  std::uint16_t tcp_port_ = 0;
  bool drained_ = false;
  std::thread thread_;
};

inline const RawHeaders kJsonBody = {{"Content-Type", "application/json"}};
inline constexpr std::string_view kSmallSpec = R"({"image":"busybox:1","command":["true"]})";

// The members of a JSON body; throws when it is none.
Json parse_body(const RawResponse& response);

}  // namespace mayfly::test
