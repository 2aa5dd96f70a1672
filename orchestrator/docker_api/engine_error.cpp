#include "docker_api/engine_error.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/utf8.hpp"

namespace mayfly::docker {

namespace {

constexpr std::size_t kMostMessage = 1024;

ErrorCode code_of(unsigned status) {
  switch (status) {
    case 400:
      return ErrorCode::invalid_argument;
    case 404:
      return ErrorCode::not_found;
    case 409:
      return ErrorCode::conflict;
    default:
      return ErrorCode::engine_refused;
  }
}

std::string reason_in(std::string_view body) {
  const auto answer = parse_json(body);
  if (!answer || !answer->is_object()) return "no reason given";
  const auto message = answer->find("message");
  if (message == answer->end() || !message->is_string()) return "no reason given";
  return shown_text(message->get_ref<const std::string&>());
}

}  // namespace

std::string shown_text(std::string_view engine_text) {
  return escape_for_terminal(engine_text.substr(0, kMostMessage));
}

tl::unexpected<Error> fail_answer(unsigned status, std::string_view body) {
  return fail(code_of(status), fmt::format("the engine answered {}: {}", status, reason_in(body)));
}

}  // namespace mayfly::docker
