// RFC 9457 problem details: the one shape of every refusal (docs/openapi.json, schema Problem).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "http/http_types.hpp"

namespace mayfly::http {

struct Problem {
  int status = 500;
  std::string code;    // stable; clients decide by it
  std::string title;   // one text a code
  std::string detail;  // what happened to this request and what the reader can do
  bool retryable = false;
  std::vector<FieldFault> errors{};
};

// An Error as a problem. Of class 5xx only the code survives: inner text stays in our log.
Problem problem_from(const Error& error);
// A fault of HTTP itself that no ErrorCode stands for (408, 417, 505).
Problem make_problem(int status, std::string code, std::string detail);

// application/problem+json, with Retry-After where asking again makes sense.
Response problem_response(const Problem& problem, std::string_view request_id);

}  // namespace mayfly::http
