// Requests and responses as the rest of the program sees them: no Beast types, no sockets.
// Values; each belongs to one connection.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "async/task_types.hpp"
#include "base/ids.hpp"

namespace mayfly::http {

// Header fields in order. Names are compared without case.
class Headers {
 public:
  void add(std::string name, std::string value) { fields_.emplace_back(std::move(name), std::move(value)); }
  void set(std::string_view name, std::string value);  // replaces the first of that name, or adds
  const std::string* find(std::string_view name) const;
  std::string_view get(std::string_view name) const;  // empty when absent
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

bool equal_without_case(std::string_view a, std::string_view b);

enum class Transport { unix_socket, tcp };

// Who is asking, decided in one place (middleware.cpp, authenticate).
struct Principal {
  TenantId tenant;
};

struct Route;

struct Request {
  std::string id;  // X-Request-Id: the client's, or ours
  Transport transport = Transport::unix_socket;
  std::string method;
  std::string target;  // as it stood in the request line
  std::string path;    // the target without its query, still percent-encoded
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in order
  Headers headers;
  std::string body;
  std::map<std::string, std::string> params;  // what the route's pattern captured, decoded
  const Route* route = nullptr;               // null until routed, or when nothing matches
  std::string allow;                          // the methods that the path has; empty: no such path
  std::optional<Principal> principal;         // absent only on public routes

  const std::string* find_query(std::string_view name) const;  // the first of that name
  const TenantId& tenant() const { return principal.value().tenant; }
};

// Where a streaming body goes, piece by piece. Each write ends when the piece is in the kernel, or with an
// error when the reader is gone or has not read for too long; after an error the body must stop.
class BodyWriter {
 public:
  virtual ~BodyWriter() = default;
  virtual Async<> write(std::string_view piece) = 0;
};

// A body that is made while it is sent. An error or exception cuts the connection, so that the reader can
// tell a cut body from a whole one. An open-ended body is cancelled when the client goes away or the server
// drains.
class StreamingBody {
 public:
  virtual ~StreamingBody() = default;
  virtual Async<> write_to(BodyWriter& out) = 0;
};

enum class StreamLife { finite, open_ended };

struct Response {
  int status = 200;
  Headers headers;
  std::string body;
  std::unique_ptr<StreamingBody> stream;       // instead of `body`
  std::optional<std::uint64_t> stream_length;  // sent as Content-Length; absent: chunked
  StreamLife stream_life = StreamLife::finite;
};

Response json_response(int status, std::string json_text);
Response empty_response(int status);

enum class Framing { none, length, chunked, until_close };
enum class KeepAlive { yes, no };

// The status line and header fields up to and with the empty line. CR, LF and NUL in values are dropped: a
// value can not begin another field (response splitting).
std::string format_head(const Response& response, Framing framing, std::uint64_t length, KeepAlive keep);
std::string_view reason_phrase(int status);
// IMF-fixdate (RFC 9110 section 5.6.7): "Sun, 06 Nov 1994 08:49:37 GMT".
std::string format_http_date(WallTime time);

// Whether the Accept header names this media type itself (wildcards do not count).
bool accepts_explicitly(const Request& request, std::string_view media_type);
// The media type of a Content-Type value, lower-case, without parameters; and its charset, lower-case.
struct MediaType {
  std::string type;
  std::string charset;
};
MediaType parse_media_type(std::string_view value);

}  // namespace mayfly::http
