#include "store/task_reads.hpp"

#include <limits>
#include <utility>

#include "base/json.hpp"

namespace mayfly::task_reads {
namespace {

// A page ends early, with a cursor, when its stored texts pass this: specs may hold megabytes each.
constexpr std::size_t kPageBytes = 8U << 20U;

// Our own text, written by dump_json: no limits of size or depth apply.
Result<Json> parse_own(std::string_view text, std::string_view what) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded())
    return fail(ErrorCode::corrupt, std::string(what) + " in the task store is not JSON");
  return json;
}

// Calls take(query) for each row; take returns Result<>.
template <class Take>
Result<> for_each_row(Result<Query> query, Take take) {
  if (!query) return fail_with(query);
  for (;;) {
    const auto row = query->next();
    if (!row) return fail_with(row);
    if (!*row) return {};
    if (auto taken = take(*query); !taken) return taken;
  }
}

Result<TaskRecord> to_task(std::string_view body_text, std::string_view spec_text) {
  auto body = parse_own(body_text, "a task");
  if (!body) return fail_with(body);
  auto spec = parse_own(spec_text, "a spec");
  if (!spec) return fail_with(spec);
  (*body)["spec"] = std::move(*spec);
  return task_from_stored_json(*body);
}

struct SizedTask {
  TaskRecord task;
  std::size_t bytes = 0;
};

// Nothing when retention removed it meanwhile.
Result<std::optional<SizedTask>> find_task(Database& database, std::int64_t n) {
  std::optional<SizedTask> found;
  auto query =
      database.query("SELECT body, spec FROM tasks JOIN specs ON specs.task = tasks.n WHERE n = ?", {n});
  auto done = for_each_row(std::move(query), [&found](const Query& row) -> Result<> {
    auto task = to_task(row.text(0), row.text(1));
    if (!task) return fail_with(task);
    found = SizedTask{.task = std::move(*task), .bytes = row.text(0).size() + row.text(1).size()};
    return {};
  });
  if (!done) return fail_with(done);
  return found;
}

Result<std::vector<std::int64_t>> numbers(Result<Query> query) {
  std::vector<std::int64_t> all;
  auto done = for_each_row(std::move(query), [&all](const Query& row) -> Result<> {
    all.push_back(row.integer(0));
    return {};
  });
  if (!done) return fail_with(done);
  return all;
}

Result<AttemptRecord> to_attempt(std::string_view text) {
  auto body = parse_own(text, "an attempt");
  if (!body) return fail_with(body);
  return attempt_from_stored_json(*body);
}

Result<std::vector<AttemptRecord>> attempts(Result<Query> query) {
  std::vector<AttemptRecord> all;
  auto done = for_each_row(std::move(query), [&all](const Query& row) -> Result<> {
    auto attempt = to_attempt(row.text(0));
    if (!attempt) return fail_with(attempt);
    all.push_back(std::move(*attempt));
    return {};
  });
  if (!done) return fail_with(done);
  return all;
}

// The tasks of a page by number: conditions joined by AND, with their values in the same order. Refers to the
// filter.
class Selection {
 public:
  void where(std::string condition, std::initializer_list<SqlValue> values) {
    sql_ += (values_.empty() ? " WHERE " : " AND ") + std::move(condition);
    values_.insert(values_.end(), values);
  }
  void where_state_in(const std::vector<TaskState>& states) {
    std::string marks;
    for (std::size_t i = 0; i < states.size(); ++i) marks += i == 0 ? "?" : ", ?";
    where("state IN (" + marks + ")", {});
    for (const TaskState state : states) values_.emplace_back(name_of(state));
  }
  Result<std::vector<std::int64_t>> run(Database& database, std::size_t limit) {
    sql_ += " ORDER BY n DESC LIMIT ?";
    values_.emplace_back(limit);
    return numbers(database.query(sql_, values_.data(), values_.size()));
  }

 private:
  std::string sql_ = "SELECT n FROM tasks";
  std::vector<SqlValue> values_;
};

// Where a page begins: below the cursor's task, or where it stood if retention removed it (ids sort by age).
Result<std::int64_t> first_number_above(Database& database, const std::optional<TaskId>& before) {
  if (!before) return std::numeric_limits<std::int64_t>::max();
  return database.number(
      "SELECT coalesce((SELECT n FROM tasks WHERE id = ?1), "
      "(SELECT n + 1 FROM tasks WHERE id < ?1 ORDER BY id DESC LIMIT 1), 0)",
      {*before});
}

Result<std::vector<std::int64_t>> select_page(Database& database, const TaskFilter& filter, std::size_t limit,
                                              const std::optional<TaskId>& before) {
  const auto above = first_number_above(database, before);
  if (!above) return fail_with(above);
  Selection selection;
  selection.where("n < ?", {*above});
  if (filter.tenant) selection.where("tenant = ?", {*filter.tenant});
  if (filter.submitted_after) selection.where("submitted_ms >= ?", {*filter.submitted_after});
  if (filter.submitted_before) selection.where("submitted_ms < ?", {*filter.submitted_before});
  for (const auto& [name, value] : filter.labels) {
    selection.where("n IN (SELECT task FROM labels WHERE name = ? AND value = ?)", {name, value});
  }
  if (!filter.states.empty()) selection.where_state_in(filter.states);
  return selection.run(database, limit);
}

}  // namespace

Result<std::int64_t> number_of(Database& database, const TaskId& id) {
  auto n = database.number("SELECT n FROM tasks WHERE id = ?", {id});
  if (n && *n == 0) return fail(ErrorCode::not_found, "no task " + id.str());
  return n;
}

Result<TaskRecord> get_task(Database& database, const TaskId& id) {
  const auto n = number_of(database, id);
  if (!n) return fail_with(n);
  auto found = find_task(database, *n);
  if (!found) return fail_with(found);
  if (!*found) return fail(ErrorCode::not_found, "no task " + id.str());
  return std::move((*found)->task);
}

Result<TaskPage> list_tasks(Database& database, const TaskFilter& filter, std::size_t limit,
                            const std::optional<TaskId>& before) {
  const auto selected = select_page(database, filter, limit + 1, before);
  if (!selected) return fail_with(selected);
  TaskPage page;
  std::size_t bytes = 0;
  for (const std::int64_t n : *selected) {
    if (page.tasks.size() == limit || bytes > kPageBytes) {
      page.next = page.tasks.back().id;
      break;
    }
    auto found = find_task(database, n);
    if (!found) return fail_with(found);
    if (!*found) continue;
    bytes += (*found)->bytes;
    page.tasks.push_back(std::move((*found)->task));
  }
  return page;
}

Result<std::vector<TaskRecord>> unfinished_tasks(Database& database) {
  const auto selected = numbers(database.query("SELECT n FROM tasks WHERE unfinished = 1 ORDER BY n"));
  if (!selected) return fail_with(selected);
  std::vector<TaskRecord> tasks;
  for (const std::int64_t n : *selected) {
    auto found = find_task(database, n);
    if (!found) return fail_with(found);
    if (*found) tasks.push_back(std::move((*found)->task));
  }
  return tasks;
}

Result<std::vector<TaskId>> finished_before(Database& database, WallTime verdict_before, std::size_t limit) {
  auto old = database.query(
      "SELECT id FROM tasks WHERE unfinished = 0 AND verdict_ms < ? ORDER BY verdict_ms, n LIMIT ?",
      {verdict_before, limit});
  if (!old) return fail_with(old);
  std::vector<TaskId> ids;
  for (auto row = old->next();; row = old->next()) {
    if (!row) return fail_with(row);
    if (!*row) return ids;
    ids.emplace_back(std::string(old->text(0)));
  }
}

Result<std::vector<AttemptRecord>> attempts_of(Database& database, const TaskId& id) {
  const auto n = number_of(database, id);
  if (!n) return fail_with(n);
  return attempts(database.query("SELECT body FROM attempts WHERE task = ? ORDER BY number", {*n}));
}

Result<std::optional<AttemptRecord>> find_attempt_by_sandbox(Database& database, const SandboxId& id) {
  auto found = attempts(database.query("SELECT body FROM attempts WHERE sandbox = ?", {id}));
  if (!found) return fail_with(found);
  if (found->empty()) return std::nullopt;
  return std::move(found->front());
}

Result<std::vector<TaskEvent>> events_after(Database& database, const TaskId& id, std::uint64_t seq,
                                            std::size_t limit) {
  const auto n = number_of(database, id);
  if (!n) return fail_with(n);
  std::vector<TaskEvent> events;
  auto query = database.query(
      "SELECT seq, at_ms, type, data FROM events WHERE task = ? AND seq > ? ORDER BY seq LIMIT ?",
      {*n, seq, limit});
  auto done = for_each_row(std::move(query), [&events](const Query& row) -> Result<> {
    auto data = parse_own(row.text(3), "an event");
    if (!data) return fail_with(data);
    events.push_back({.seq = static_cast<std::uint64_t>(row.integer(0)),
                      .at = WallTime(Millis(row.integer(1))),
                      .type = std::string(row.text(2)),
                      .data = std::move(*data)});
    return {};
  });
  if (!done) return fail_with(done);
  return events;
}

Result<std::vector<Artifact>> artifacts_of(Database& database, const TaskId& id) {
  const auto n = number_of(database, id);
  if (!n) return fail_with(n);
  std::vector<Artifact> artifacts;
  auto query =
      database.query("SELECT path, size, sha256, mode FROM artifacts WHERE task = ? ORDER BY path", {*n});
  auto done = for_each_row(std::move(query), [&artifacts](const Query& row) -> Result<> {
    artifacts.push_back({.path = std::string(row.text(0)),
                         .size = Bytes{static_cast<std::uint64_t>(row.integer(1))},
                         .sha256 = std::string(row.text(2)),
                         .mode = static_cast<std::uint32_t>(row.integer(3))});
    return {};
  });
  if (!done) return fail_with(done);
  return artifacts;
}

Result<std::vector<UsageSample>> usage_of(Database& database, const TaskId& id, std::size_t limit) {
  const auto n = number_of(database, id);
  if (!n) return fail_with(n);
  std::vector<UsageSample> samples;
  auto query = database.query(
      "SELECT at_ms, cpu_ms, memory_bytes, memory_peak_bytes, pids, pids_peak, stalled_ms FROM "
      "(SELECT * FROM usage_samples WHERE task = ? ORDER BY at_ms DESC LIMIT ?) ORDER BY at_ms",
      {*n, limit});
  auto done = for_each_row(std::move(query), [&samples](const Query& row) -> Result<> {
    const auto column = [&row](int index) { return static_cast<std::uint64_t>(row.integer(index)); };
    const Usage usage{.cpu_ms = column(1),
                      .memory_bytes = column(2),
                      .memory_peak_bytes = column(3),
                      .pids = column(4),
                      .pids_peak = column(5),
                      .stalled_ms = column(6)};
    samples.push_back({.at = WallTime(Millis(row.integer(0))), .usage = usage});
    return {};
  });
  if (!done) return fail_with(done);
  return samples;
}

Result<std::optional<std::string>> get_setting(Database& database, const std::string& name) {
  std::optional<std::string> value;
  auto query = database.query("SELECT value FROM settings WHERE name = ?", {name});
  auto done = for_each_row(std::move(query), [&value](const Query& row) -> Result<> {
    value = std::string(row.text(0));
    return {};
  });
  if (!done) return fail_with(done);
  return value;
}

}  // namespace mayfly::task_reads
