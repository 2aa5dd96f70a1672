// The query of GET /v1/tasks and its pages. Pure; any thread.
#pragma once

#include "http/http_types.hpp"
#include "store/task_store.hpp"

namespace mayfly::http {

struct ListQuery {
  TaskFilter filter;
  std::size_t limit = 50;
  std::optional<TaskId> before;  // from the cursor
};

// state (repeated, or with commas), label=key=value (repeated), submitted_after, submitted_before,
// limit 1..200, cursor. A cursor of another filter or tenant is refused.
Result<ListQuery> parse_list_query(const Request& request);
// {items, next_cursor}, and the next page as Link (RFC 8288).
Response list_response(const Request& request, const TaskPage& page);

}  // namespace mayfly::http
