#include <cstdio>

#include "base/ids.hpp"
#include "cli/client_commands.hpp"
#include "cli/exit_codes.hpp"

namespace mayfly::cli {
namespace {

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "-";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::string seconds_of(const Json& task, const char* phase) {
  const Json phases = task.value("phases", Json::object());
  const auto found = phases.find(phase);
  if (found == phases.end() || !found->is_number()) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.3fs", found->get<double>() / 1000.0);
  return text;
}

std::vector<std::string> row_of(const Json& task) {
  const std::string waiting = text_of(task, "pending_reason");
  const std::string reason = text_of(task, "reason");
  return {text_of(task, "id"),
          text_of(task, "name"),
          text_of(task, "state"),
          reason == "none" ? (waiting == "-" || waiting.empty() ? "-" : waiting) : reason,
          text_of(task, "exit_code"),
          seconds_of(task, "queue_ms"),
          seconds_of(task, "start_ms"),
          seconds_of(task, "run_ms")};
}

const std::vector<std::string> kHeads{"ID", "NAME", "STATE", "REASON", "EXIT", "QUEUE", "START", "RUN"};

int refused(const Error& error) {
  print_error(error);
  return error.code == ErrorCode::unavailable ? kOrchestrator : kFailure;
}

std::string task_path(const std::string& id) {
  return "/v1/tasks/" + percent_encode(id);
}

// A request that may have been carried out is sent again with the same key: it takes effect once.
Result<Json> create(ApiClient& api, const SubmitOptions& options) {
  ApiRequest request{.method = "POST", .path = options.dry_run ? "/v1/tasks?dry_run=true" : "/v1/tasks"};
  const std::string key =
      options.idempotency_key.empty() ? "cli-" + make_random_hex(16) : options.idempotency_key;
  request.headers = {"Content-Type: application/json", "Idempotency-Key: \"" + key + "\""};
  request.body = dump_json(to_json(options.spec));
  auto created = api.json(request);
  if (!created && created.error().code == ErrorCode::unavailable) created = api.json(request);
  return created;
}

}  // namespace

int submit(ApiClient& api, const SubmitOptions& options, Output output) {
  auto created = create(api, options);
  if (!created) return refused(created.error());
  const std::string id = created->value("id", std::string());
  const bool last_word = options.dry_run || (!options.wait && !options.follow);
  if (output == Output::json && last_word) {
    print_json(*created);
  } else if (last_word) {
    std::puts(id.c_str());
    if (!options.dry_run) say("submitted; follow it with: mayfly logs -f " + id);
  } else {
    say("submitted " + id);
  }
  if (last_word) return kOk;
  if (options.follow) {
    const int shown = show_logs(api, id, {.stream = "both", .follow = true, .raw = false});
    if (shown != kOk) return shown;
  }
  return wait_for_end(api, id);
}

int list_tasks(ApiClient& api, const ListOptions& options, Output output) {
  std::string query = "?limit=" + std::to_string(options.limit);
  for (const std::string& state : options.states) query += "&state=" + percent_encode(state);
  for (const std::string& label : options.labels) query += "&label=" + percent_encode(label);
  Json items = Json::array();
  for (std::string cursor;;) {
    auto page =
        api.json({.method = "GET",
                  .path = "/v1/tasks" + query + (cursor.empty() ? "" : "&cursor=" + percent_encode(cursor))});
    if (!page) return refused(page.error());
    for (Json& item : (*page)["items"]) items.push_back(std::move(item));
    const Json next = page->value("next_cursor", Json());
    if (!options.all || !next.is_string()) break;
    cursor = next.get<std::string>();
  }
  if (output == Output::json) {
    print_json(items);
    return kOk;
  }
  std::vector<std::vector<std::string>> rows;
  for (const Json& item : items) rows.push_back(row_of(item));
  print_table(kHeads, rows);
  return kOk;
}

int show_task(ApiClient& api, const std::string& id, bool wait, Output output) {
  const int ended = wait ? wait_for_end(api, id) : kOk;
  auto task = api.json({.method = "GET", .path = task_path(id)});
  if (!task) return refused(task.error());
  if (output == Output::json) {
    print_json(*task);
    return ended;
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& [key, value] : task->items()) {
    if (value.is_null() || (value.is_string() && value.get_ref<const std::string&>().empty())) continue;
    rows.push_back({key, value.is_string() ? value.get<std::string>() : dump_json(value)});
  }
  print_table({"FIELD", "VALUE"}, rows);
  return ended;
}

int cancel_task(ApiClient& api, const std::vector<std::string>& ids, Output output) {
  int code = kOk;
  Json answers = Json::array();
  for (const std::string& id : ids) {
    auto task = api.json({.method = "POST", .path = task_path(id) + "/cancel"});
    if (!task) {
      code = refused(task.error());
      continue;
    }
    if (output == Output::table) say(id + ": " + text_of(*task, "state"));
    answers.push_back(std::move(*task));
  }
  if (output == Output::json) print_json(answers);
  return code;
}

int exit_code_of(const Json& task) {
  TaskRecord record;
  record.state = find_task_state(text_of(task, "state")).value_or(TaskState::lost);
  record.reason = find_reason(text_of(task, "reason")).value_or(Reason::none);
  if (task.contains("exit_code") && task["exit_code"].is_number_integer())
    record.exit_code = task["exit_code"].get<int>();
  if (task.contains("signal") && task["signal"].is_number_integer())
    record.signal = task["signal"].get<int>();
  return exit_code_of(record);
}

}  // namespace mayfly::cli
