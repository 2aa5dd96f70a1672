#include "docker_api/connection_pool.hpp"

namespace mayfly::docker {

namespace {

// As many as calls run at once on a busy machine; more would only hold descriptors.
constexpr std::size_t kMostIdle = 8;

}  // namespace

Async<ConnectionPool::Lease> ConnectionPool::acquire() {
  if (!idle_.empty() && !idle_.back()->is_reusable()) forget_engine();
  if (idle_.empty()) co_return co_await open();
  Lease lease{std::move(idle_.back()), true, generation_};
  idle_.pop_back();
  co_return lease;
}

Async<ConnectionPool::Lease> ConnectionPool::open() {
  const std::uint64_t generation = generation_;
  auto socket = co_await connect_engine(executor_, address_);
  if (!socket) co_return fail_with(std::move(socket));
  co_return Lease{std::make_unique<EngineConnection>(std::move(*socket)), false, generation};
}

void ConnectionPool::give_back(Lease lease) {
  const bool useful = lease.generation == generation_ && idle_.size() < kMostIdle;
  if (useful && lease.connection->is_reusable()) idle_.push_back(std::move(lease.connection));
}

void ConnectionPool::forget_engine() {
  idle_.clear();
  ++generation_;
}

}  // namespace mayfly::docker
