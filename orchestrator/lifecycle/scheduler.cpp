#include "lifecycle/scheduler.hpp"

#include <iterator>

namespace mayfly {
namespace {

constexpr std::size_t kLookBehindHead = 64;     // how many are tried behind one that does not fit
constexpr std::uint32_t kMostPassedOver = 256;  // then the node is left to run empty for the head

}  // namespace

bool Scheduler::could_fit(const Granted& granted) const {
  return granted.millicpus <= capacity_.millicpus && granted.memory <= capacity_.memory &&
         capacity_.sandboxes > 0;
}

bool Scheduler::fits(const Granted& granted) const {
  return running_.size() < capacity_.sandboxes && millicpus_ + granted.millicpus <= capacity_.millicpus &&
         memory_ + granted.memory <= capacity_.memory;
}

void Scheduler::enqueue(TaskId id, std::int32_t priority, Granted granted) {
  const Key key{.minus_priority = -priority, .arrival = ++arrivals_};
  if (keys_.emplace(id, key).second) queue_.emplace(key, Waiting{.id = std::move(id), .granted = granted});
}

bool Scheduler::remove(const TaskId& id) {
  const auto found = keys_.find(id);
  if (found == keys_.end()) return false;
  queue_.erase(found->second);
  keys_.erase(found);
  return true;
}

std::optional<TaskId> Scheduler::take_next() {
  std::size_t tried = 0;
  const auto head = queue_.begin();
  for (auto waiting = head; waiting != queue_.end() && tried < kLookBehindHead; ++waiting, ++tried) {
    if (waiting != head && head->second.passed_over >= kMostPassedOver) break;
    if (!fits(waiting->second.granted)) continue;
    if (waiting != head) ++head->second.passed_over;
    TaskId id = waiting->second.id;
    reserve(id, waiting->second.granted);
    keys_.erase(id);
    queue_.erase(waiting);
    return id;
  }
  return std::nullopt;
}

void Scheduler::reserve(const TaskId& id, Granted granted) {
  if (!running_.emplace(id, granted).second) return;
  millicpus_ += granted.millicpus;
  memory_ = memory_ + granted.memory;
}

void Scheduler::release(const TaskId& id) {
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  millicpus_ -= found->second.millicpus;
  memory_.count -= found->second.memory.count;
  running_.erase(found);
}

std::optional<std::size_t> Scheduler::position(const TaskId& id) const {
  const auto found = keys_.find(id);
  if (found == keys_.end()) return std::nullopt;
  return static_cast<std::size_t>(std::distance(queue_.begin(), queue_.find(found->second))) + 1;
}

}  // namespace mayfly
