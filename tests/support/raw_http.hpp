// An HTTP client that says exactly what a test wants, right or wrong, over a Unix or TCP socket. Blocking;
// every read has a cap, after which it throws with what had come so far.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mayfly::test {

struct RawResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // taken out of its chunks
  std::vector<int> interim;                    // 1xx that came before
  bool cut = false;                            // the connection ended inside of the body

  std::string header(const std::string& lower_case_name) const;
};

using RawHeaders = std::vector<std::pair<std::string, std::string>>;

// With Host and, for a body, Content-Length, unless `headers` says them itself.
std::string format_request(std::string_view method, std::string_view target, const RawHeaders& headers = {},
                           std::string_view body = {});

class RawConnection {
 public:
  static RawConnection to_unix(const std::filesystem::path& path);
  static RawConnection to_tcp(std::uint16_t port);
  // With a receive buffer this small, for a reader that does not read.
  static RawConnection to_tcp_with_small_window(std::uint16_t port);
  RawConnection(RawConnection&& other) noexcept;
  RawConnection& operator=(RawConnection&&) = delete;
  ~RawConnection();

  // False when the other side has closed.
  bool send(std::string_view bytes);
  // Sends as much as the kernel takes without waiting.
  std::size_t send_what_fits(std::string_view bytes);
  enum class Body { expected, none };  // none: the answer to a HEAD
  RawResponse read_response(Body body = Body::expected);
  RawResponse read_head();
  // Until the text has come; all that was read is consumed and returned.
  std::string read_until(std::string_view text);
  // Whether the connection ends, by end of file or reset, before the cap; what came before is dropped.
  bool is_closed_by_server();
  void half_close();
  void close();
  int fd() const { return fd_; }

 private:
  explicit RawConnection(int fd) : fd_(fd) {}
  bool fill();  // false: end of file or reset
  std::string take_line();
  void read_body(RawResponse& response);
  void read_chunks(RawResponse& response);

  int fd_;
  std::string buffer_;
};

}  // namespace mayfly::test
