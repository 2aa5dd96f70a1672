#include "unit/http/api_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <cstdlib>
#include <fstream>

namespace mayfly::test {
namespace {

// The integration suite and this one write what they saw as NDJSON for tests/support/openapi_check.py.
void record_exchange(std::string_view method, std::string_view target, const RawHeaders& headers,
                     std::string_view body, const RawResponse& response) {
  const char* file = std::getenv("MAYFLY_HTTP_RECORDING");
  if (!file) return;
  Json json = {{"method", method},          {"path", target},
               {"status", response.status}, {"content_type", response.header("content-type")},
               {"request_body", body},      {"response_body", response.body}};
  for (const auto& [name, value] : headers) json["request_headers"][name] = value;
  std::ofstream(file, std::ios::app) << dump_json(json) << '\n';
}

}  // namespace

void CapturedLog::write(LogLevel, std::string_view component, std::string_view message,
                        std::initializer_list<Field> fields) {
  const std::lock_guard lock(mutex_);
  text_.append(component).append(": ").append(message);
  for (const auto& [name, value] : fields) text_.append(" ").append(name).append("=").append(value);
  text_.append("\n");
}

std::string CapturedLog::text() const {
  const std::lock_guard lock(mutex_);
  return text_;
}

ApiServer::ApiServer(ApiServerOptions options) {
  service_ = std::make_unique<FakeTaskService>(io_.get_executor());
  const http::ApiOptions api_options{.bearer_token = token(), .heartbeat = options.heartbeat};
  api_ = std::make_unique<http::Api>(*service_, pool_, metrics_, log_, api_options);
  http::ServerOptions server_options;
  server_options.unix_socket = socket_path();
  server_options.tcp = http::TcpAddress{.host = "127.0.0.1", .port = 0};
  server_options.times = options.times;
  server_options.connections = options.connections;
  server_options.accept_pause = Millis(5);
  server_ = std::make_unique<http::Server>(io_.get_executor(), server_options, *api_, log_);
  if (const auto started = server_->start(); !started) throw std::runtime_error(started.error().message);
  tcp_port_ = server_->tcp_port();
  thread_ = std::thread([this] { io_.run(); });
}

ApiServer::~ApiServer() {
  if (!drained_) drain(Deadline::in(Millis(0)));
  work_.reset();
  thread_.join();
}

void ApiServer::drain(Deadline deadline) {
  drained_ = true;
  std::promise<void> done;
  auto on_end = [&done](std::exception_ptr thrown) {
    thrown ? done.set_exception(thrown) : done.set_value();
  };
  asio::co_spawn(io_, server_->drain(deadline), std::move(on_end));
  done.get_future().get();
}

bool ApiServer::eventually(const std::function<bool()>& condition) {
  const auto cap = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!on_loop(condition)) {
    if (std::chrono::steady_clock::now() > cap) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

RawResponse ApiServer::call(std::string_view method, std::string_view target, const RawHeaders& headers,
                            std::string_view body) {
  RawConnection connection = connect();
  connection.send(format_request(method, target, headers, body));
  const auto expected = method == "HEAD" ? RawConnection::Body::none : RawConnection::Body::expected;
  RawResponse response = connection.read_response(expected);
  record_exchange(method, target, headers, body, response);
  return response;
}

TaskId ApiServer::add_task() {
  return on_loop([this] { return service_->add_task(make_spec()); });
}

void ApiServer::post_output(const TaskId& id, LogKind kind, std::string data) {
  on_loop([&, this] { service_->add_output(id, kind, std::move(data)); });
}

Json parse_body(const RawResponse& response) {
  const auto json = parse_json(response.body);
  if (!json) throw std::runtime_error("not JSON: " + response.body);
  return *json;
}

}  // namespace mayfly::test
