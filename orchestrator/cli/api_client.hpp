// The client's side of the HTTP API, over libcurl: a Unix socket or loopback TCP with a bearer token.
// Blocking; one thread.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace mayfly::cli {

// Where the server is: "unix:///path", a path of a socket, or "http://127.0.0.1:8080".
struct ServerAddress {
  std::filesystem::path socket;  // empty: TCP
  std::string base_url = "http://localhost";
  std::string token;
};
// `token_file` is read for TCP only. invalid_argument names the accepted forms.
Result<ServerAddress> parse_server_address(std::string_view text, const std::filesystem::path& token_file);

struct ApiRequest {
  std::string method = "GET";
  std::string path{};  // with query, percent-encoded
  std::vector<std::string> headers{};
  std::string body{};
};

struct ApiResponse {
  long status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body{};
};

class ApiClient {
 public:
  explicit ApiClient(ServerAddress address);
  ~ApiClient();
  ApiClient(const ApiClient&) = delete;
  ApiClient& operator=(const ApiClient&) = delete;

  // The answer to a request, whatever its status. unavailable when there is no server; payload_too_large for
  // a body over 64 MiB.
  Result<ApiResponse> call(const ApiRequest& request);
  // As call, and a status of 400 or more is an Error with the problem's own words and fields.
  Result<Json> json(const ApiRequest& request);
  // Hands the body of a 2xx answer over piece by piece, until it ends or `take` returns false. unavailable
  // when the connection was lost in the middle: the caller resumes.
  Result<> stream(const ApiRequest& request, const std::function<bool(std::string_view)>& take);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// For one segment of a path or a value of a query.
std::string percent_encode(std::string_view text);
// What percent_encode made; a broken escape stays as it is.
std::string percent_decode(std::string_view text);
// An error answer (RFC 9457) as an Error.
Error problem_of(const ApiResponse& response);

}  // namespace mayfly::cli
