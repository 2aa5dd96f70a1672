// Which queued task starts next: pure and synchronous, no I/O. One queue for now, by priority and then by
// arrival; a head that does not fit does not block what fits behind it, within a bound. Tenants and weights
// come into this class.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/ids.hpp"
#include "task/limits.hpp"

namespace mayfly {

// What the node can hold at once.
struct NodeCapacity {
  std::uint64_t sandboxes = 0;
  std::int64_t millicpus = 0;
  Bytes memory{};
};

class Scheduler {
 public:
  void set_capacity(NodeCapacity capacity) { capacity_ = capacity; }
  const NodeCapacity& capacity() const { return capacity_; }
  // Whether the task could ever run here.
  bool could_fit(const Granted& granted) const;

  void enqueue(TaskId id, std::int32_t priority, Granted granted);
  // Takes it out of the queue; false when it is not there.
  bool remove(const TaskId& id);
  // The next task that fits now: it leaves the queue and its share is reserved until `release`.
  std::optional<TaskId> take_next();
  // Reserves the share of a task that runs already (adopted at start-up).
  void reserve(const TaskId& id, Granted granted);
  void release(const TaskId& id);

  std::size_t queued() const { return queue_.size(); }
  std::size_t running() const { return running_.size(); }
  // 1 for the next one; absent when it is not queued. Linear in the number of tasks before it.
  std::optional<std::size_t> position(const TaskId& id) const;

 private:
  struct Key {
    std::int32_t minus_priority;
    std::uint64_t arrival;
    auto operator<=>(const Key&) const = default;
  };
  struct Waiting {
    TaskId id;
    Granted granted;
    std::uint32_t passed_over = 0;  // how often a task behind it was taken while it was the head
  };
  bool fits(const Granted& granted) const;

  NodeCapacity capacity_;
  std::map<Key, Waiting> queue_;
  std::unordered_map<TaskId, Key> keys_;
  std::unordered_map<TaskId, Granted> running_;
  std::int64_t millicpus_ = 0;
  Bytes memory_{};
  std::uint64_t arrivals_ = 0;
};

}  // namespace mayfly
