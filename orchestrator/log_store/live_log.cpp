#include "log_store/live_log.hpp"

namespace mayfly {

std::shared_ptr<LiveLog> LiveLogs::find(const TaskId& task) const {
  const auto known = logs_->find(task);
  return known == logs_->end() ? nullptr : known->second.lock();
}

std::shared_ptr<LiveLog> LiveLogs::get(const TaskId& task) {
  if (auto known = find(task)) return known;
  // The last holder takes the entry away; it may outlive the store, and so the map.
  auto forget = [task, logs = std::weak_ptr<Map>(logs_)](LiveLog* log) {
    if (const auto map = logs.lock()) map->erase(task);
    delete log;
  };
  std::shared_ptr<LiveLog> made(new LiveLog(executor_), std::move(forget));
  (*logs_)[task] = made;
  return made;
}

}  // namespace mayfly
