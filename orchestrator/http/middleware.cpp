#include "http/middleware.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/digest.hpp"
#include "http/problem.hpp"

namespace mayfly::http {
namespace {

using Refusal = std::optional<Response>;

Response refuse(const Request& request, ErrorCode code, std::string detail,
                std::vector<FieldFault> fields = {}) {
  const Error error{.code = code, .message = std::move(detail), .fields = std::move(fields)};
  return problem_response(problem_from(error), request.id);
}

// The client's own id, when it is one that is safe to write into logs and headers.
Refusal adopt_request_id(Request& request, const GateContext&) {
  const std::string_view given = request.headers.get("X-Request-Id");
  const auto safe = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-_.:/+=").find(c) != std::string_view::npos;
  };
  if (!given.empty() && given.size() <= 128 && std::all_of(given.begin(), given.end(), safe))
    request.id = given;
  return std::nullopt;
}

// "localhost:8080", "127.0.0.1" and the like, with any port (a tunnel changes it).
bool is_loopback_name(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const bool has_port = colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos;
  const std::string_view name = has_port ? host.substr(0, colon) : host;
  return equal_without_case(name, "localhost") || name == "127.0.0.1" || name == "[::1]";
}

Refusal check_host(Request& request, const GateContext&) {
  if (request.transport == Transport::unix_socket || is_loopback_name(request.headers.get("Host")))
    return std::nullopt;
  return refuse(request, ErrorCode::misdirected,
                "this server answers for localhost, 127.0.0.1 and [::1] only");
}

Refusal check_origin(Request& request, const GateContext&) {
  const std::string* origin = request.headers.find("Origin");
  if (!origin) return std::nullopt;
  const std::string host(request.headers.get("Host"));
  if (equal_without_case(*origin, "http://" + host) || equal_without_case(*origin, "https://" + host))
    return std::nullopt;
  return refuse(request, ErrorCode::forbidden, "requests of web pages from elsewhere are refused");
}

Refusal find_route(Request& request, const GateContext& context) {
  const std::size_t question = request.target.find('?');
  request.path = request.target.substr(0, question);
  const std::string_view query = question == std::string::npos
                                     ? std::string_view()
                                     : std::string_view(request.target).substr(question + 1);
  auto parsed = parse_query(query);
  if (!parsed) return refuse(request, parsed.error().code, parsed.error().message);
  auto match = context.router.find(request.method, request.path);
  if (!match) return refuse(request, match.error().code, match.error().message);
  request.query = std::move(*parsed);
  request.route = match->route;
  request.params = std::move(match->params);
  request.allow = std::move(match->allow);
  return std::nullopt;
}

Refusal check_credentials(Request& request, const GateContext& context) {
  request.principal = authenticate(request, context.bearer_token);
  const bool open_to_all = request.route && request.route->access == Access::everyone;
  if (request.principal || open_to_all) return std::nullopt;
  const bool tried = request.headers.find("Authorization") != nullptr;
  Response response =
      refuse(request, ErrorCode::unauthenticated,
             tried ? "the credentials are wrong" : "a bearer token is needed (Authorization: Bearer …)");
  response.headers.add("WWW-Authenticate", tried ? "Bearer realm=\"mayfly\", error=\"invalid_token\""
                                                 : "Bearer realm=\"mayfly\"");
  return response;
}

Refusal require_route(Request& request, const GateContext&) {
  if (request.route) return std::nullopt;
  if (request.allow.empty()) return refuse(request, ErrorCode::not_found, "there is no such path");
  Response response = request.method == "OPTIONS" ? empty_response(204)
                                                  : refuse(request, ErrorCode::method_not_allowed,
                                                           "this path knows " + request.allow);
  response.headers.add("Allow", request.allow);
  return response;
}

Refusal check_query(Request& request, const GateContext&) {
  const std::vector<std::string>& known = request.route->query;
  std::vector<FieldFault> faults;
  for (const auto& [name, value] : request.query) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    faults.push_back(
        {.pointer = "?" + name, .code = "unknown_parameter", .detail = "this path does not know it"});
  }
  if (faults.empty()) return std::nullopt;
  return refuse(request, ErrorCode::invalid_argument, "unknown query parameters", std::move(faults));
}

bool is_spec_type(std::string_view type) {
  return type == "application/json" || type == "application/yaml";
}

Refusal check_media(Request& request, const GateContext&) {
  if (const std::string* coding = request.headers.find("Content-Encoding"); coding && *coding != "identity") {
    return refuse(request, ErrorCode::unsupported_media, "encoded bodies are not taken; send it as it is");
  }
  const std::string* value = request.headers.find("Content-Type");
  const MediaType media = parse_media_type(value ? *value : "");
  const bool wrong_charset = !media.charset.empty() && media.charset != "utf-8";
  switch (request.route->body) {
    case BodyRule::none:
      return std::nullopt;
    case BodyRule::empty_or_json:
      if (!value || (media.type == "application/json" && !wrong_charset)) return std::nullopt;
      return refuse(request, ErrorCode::unsupported_media, "the body must be empty or application/json");
    case BodyRule::task_spec:
      if (is_spec_type(media.type) && !wrong_charset) return std::nullopt;
      return refuse(request, ErrorCode::unsupported_media,
                    "the body must be application/json or application/yaml, in UTF-8");
  }
  return std::nullopt;
}

using Gate = Refusal (*)(Request&, const GateContext&);

// One reason a position.
constexpr std::array kGates = {
    Gate{adopt_request_id},   // first: every answer carries the id, a refusal too
    Gate{check_host},         // before anything of ours is looked at: a rebound name (A13) learns nothing
    Gate{check_origin},       // beside it, the other half of keeping web pages out
    Gate{find_route},         // only finds: credentials need to know whether the route is for everyone
    Gate{check_credentials},  // before any answer that depends on what exists here
    Gate{require_route},      // 404 and 405 for those who may ask
    Gate{check_query},        // a misspelt parameter must not be ignored
    Gate{check_media},        // last: from here on the body would be read
};

}  // namespace

std::optional<Response> pass_gates(Request& request, const GateContext& context) {
  for (const Gate gate : kGates) {
    if (auto refusal = gate(request, context)) return refusal;
  }
  return std::nullopt;
}

std::uint64_t body_limit_of(const Route& route) {
  switch (route.body) {
    case BodyRule::none:
      return 0;
    case BodyRule::empty_or_json:
      return kEmptyBodyBytes;
    case BodyRule::task_spec:
      return kSpecBodyBytes;
  }
  return 0;
}

std::optional<Principal> authenticate(const Request& request, const std::string& bearer_token) {
  const Principal principal{.tenant = TenantId("default")};
  if (request.transport == Transport::unix_socket) return principal;
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view given = request.headers.get("Authorization");
  if (bearer_token.empty() || !equal_without_case(given.substr(0, kScheme.size()), kScheme))
    return std::nullopt;
  // Digests, so that not even the token's length shows in the time.
  const std::string digest = sha256_hex(given.substr(kScheme.size()));
  if (!equal_in_constant_time(digest, sha256_hex(bearer_token))) return std::nullopt;
  return principal;
}

}  // namespace mayfly::http
