// What every backend of Runtime owes its callers. Each case runs once a backend.
#include <array>
#include <catch2/catch.hpp>
#include <optional>

#include "async/with_deadline.hpp"
#include "contract/runtime_backends.hpp"
#include "support/greet_runner.hpp"

using namespace mayfly;
using test::BackendUnderTest;

namespace {

Deadline soon() {
  return Deadline::in(std::chrono::seconds(60));
}

std::unique_ptr<BackendUnderTest> each_backend() {
  const auto& backends = test::runtime_backends();
  const auto index = GENERATE_COPY(range(std::size_t{0}, backends.size()));
  INFO("backend " << backends[index].name);
  return backends[index].make();
}

template <class T>
T must(BackendUnderTest& backend, Async<T> call) {
  auto result = backend.loop().await(std::move(call));
  if (!result) FAIL(name_of(result.error().code) << ": " << result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

SandboxSpec make_spec(BackendUnderTest& backend) {
  SandboxSpec spec;
  spec.id = make_id<SandboxId>();
  spec.image = must(backend, backend.runtime().prepare(backend.image(), soon()));
  spec.limits.memory = 64_MiB;
  spec.limits.workspace = 16_MiB;
  spec.limits.tmp = 8_MiB;
  spec.limits.shm = 4_MiB;
  spec.limits.pids = 32;
  spec.granted = grant(spec.limits);
  spec.lifetime = std::chrono::minutes(10);
  return spec;
}

std::size_t count_ours(BackendUnderTest& backend) {
  std::size_t ours = 0;
  for (const SandboxListing& entry : must(backend, backend.runtime().list(soon())))
    ours += entry.ours ? 1 : 0;
  return ours;
}

std::optional<SandboxListing> find_ours(BackendUnderTest& backend, const SandboxId& id) {
  for (SandboxListing& entry : must(backend, backend.runtime().list(soon()))) {
    if (entry.ours && entry.id == id) return std::move(entry);
  }
  return std::nullopt;
}

Async<> read_to_end(Carrier& carrier) {
  std::array<std::byte, 4096> buffer;
  for (;;) {
    const auto size = co_await carrier.read_some(buffer);
    if (!size) co_return fail_with(size);
    if (*size == 0) co_return Result<>{};
  }
}

struct Running {
  SandboxSpec spec;
  std::unique_ptr<Carrier> carrier;
  channel::Hello hello;
};

Running run_one(BackendUnderTest& backend) {
  Running running{make_spec(backend), nullptr, {}};
  must(backend, backend.runtime().create(running.spec, soon()));
  running.carrier = must(backend, backend.runtime().channel(running.spec.id, soon()));
  must(backend, backend.runtime().start(running.spec.id, soon()));
  running.hello = must(backend, test::greet_runner(*running.carrier, "nonce", soon()));
  return running;
}

}  // namespace

TEST_CASE("runtime contract: a sandbox lives from create to destroy and says hello over its carrier") {
  const auto backend = each_backend();
  Running running = run_one(*backend);
  CHECK(running.hello.state == channel::RunnerState::parked);
  CHECK(running.hello.self.pid == 1);
  const SandboxId id = running.spec.id;

  auto status = must(*backend, backend->runtime().inspect(id, soon()));
  CHECK(status.state == SandboxState::running);
  CHECK_FALSE(status.exit_code);
  must(*backend, backend->runtime().raise_cpu(id, backend->capabilities().node_millicpus, soon()));

  must(*backend, backend->runtime().signal(id, Signal::kill, soon()));
  status = must(*backend, backend->runtime().wait(id, soon()));
  CHECK(status.state == SandboxState::exited);
  CHECK(status.exit_code == 137);
  must(*backend, with_deadline(read_to_end(*running.carrier), soon(), "end of the carrier"));
  status = must(*backend, backend->runtime().inspect(id, soon()));
  CHECK(status.state == SandboxState::exited);
  CHECK(status.exit_code == 137);

  must(*backend, backend->runtime().signal(id, Signal::term, soon()));
  must(*backend, backend->runtime().destroy(id, soon()));
  must(*backend, backend->runtime().destroy(id, soon()));
  CHECK(count_ours(*backend) == 0);
}

TEST_CASE("runtime contract: capabilities say what the node has") {
  const auto backend = each_backend();
  CHECK_FALSE(backend->capabilities().backend.empty());
  CHECK(backend->capabilities().node_millicpus >= 1000);
  CHECK(backend->capabilities().node_memory > 64_MiB);
  CHECK(backend->capabilities().workspace_max > 16_MiB);
  must(*backend, backend->runtime().ping(soon()));
  must(*backend, backend->runtime().connect(soon()));
}

TEST_CASE("runtime contract: the runner sees itself confined") {
  const auto backend = each_backend();
  const channel::SelfReport self = run_one(*backend).hello.self;
  CHECK(self.uid == 65532);
  CHECK(self.gid == 65532);
  CHECK(self.cap_effective.find_first_not_of('0') == std::string::npos);
  CHECK(self.cap_bounding.find_first_not_of('0') == std::string::npos);
  CHECK(self.no_new_privileges);
  CHECK(self.seccomp_mode == 2);
  CHECK_FALSE(self.dumpable);
  CHECK(self.interfaces == std::vector<std::string>{"lo"});
}

TEST_CASE("runtime contract: list shows a sandbox in each state of its life") {
  const auto backend = each_backend();
  const SandboxSpec spec = make_spec(*backend);
  CHECK_FALSE(find_ours(*backend, spec.id));
  const std::string engine_id = must(*backend, backend->runtime().create(spec, soon()));
  auto entry = find_ours(*backend, spec.id);
  REQUIRE(entry);
  CHECK(entry->state == SandboxState::created);
  CHECK(entry->engine_id == engine_id);
  CHECK(entry->has_container);
  CHECK(entry->has_volume);

  const auto carrier = must(*backend, backend->runtime().channel(spec.id, soon()));
  must(*backend, backend->runtime().start(spec.id, soon()));
  entry = find_ours(*backend, spec.id);
  REQUIRE(entry);
  CHECK(entry->state == SandboxState::running);
  carrier->close();
  must(*backend, backend->runtime().destroy(spec.id, soon()));
  CHECK_FALSE(find_ours(*backend, spec.id));
}

TEST_CASE("runtime contract: a second create of the same sandbox adopts the first") {
  const auto backend = each_backend();
  const SandboxSpec spec = make_spec(*backend);
  const std::string first = must(*backend, backend->runtime().create(spec, soon()));
  CHECK(must(*backend, backend->runtime().create(spec, soon())) == first);
  CHECK(count_ours(*backend) == 1);
  must(*backend, backend->runtime().destroy(spec.id, soon()));
  CHECK(count_ours(*backend) == 0);
}

TEST_CASE("runtime contract: a second create with other limits is a conflict and harms nothing") {
  const auto backend = each_backend();
  SandboxSpec spec = make_spec(*backend);
  must(*backend, backend->runtime().create(spec, soon()));
  spec.granted.pids += 1;
  const auto second = backend->loop().await(backend->runtime().create(spec, soon()));
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::conflict);
  CHECK(count_ours(*backend) == 1);
}

TEST_CASE("runtime contract: what is not there is done for destroy and signal and not found for inspect") {
  const auto backend = each_backend();
  const auto nobody = make_id<SandboxId>();
  must(*backend, backend->runtime().destroy(nobody, soon()));
  must(*backend, backend->runtime().signal(nobody, Signal::kill, soon()));
  const auto status = backend->loop().await(backend->runtime().inspect(nobody, soon()));
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::not_found);
}

TEST_CASE("C16 runtime contract: a foreign object with copied labels is not ours and is left alone") {
  const auto backend = each_backend();
  const SandboxSpec spec = make_spec(*backend);
  const std::string engine_id = must(*backend, backend->runtime().create(spec, soon()));
  backend->plant_copy_of(spec.id);
  std::size_t foreign = 0;
  for (const SandboxListing& entry : must(*backend, backend->runtime().list(soon()))) {
    if (entry.id != spec.id) continue;
    CHECK(entry.ours == (entry.engine_id == engine_id));
    foreign += entry.ours ? 0 : 1;
  }
  CHECK(foreign == 1);
  must(*backend, backend->runtime().destroy(spec.id, soon()));
  CHECK(count_ours(*backend) == 0);
  CHECK(backend->count_copies() == 1);
}

TEST_CASE("F37 runtime contract: an image that is not there is refused with its exact name") {
  const auto backend = each_backend();
  const auto image = backend->loop().await(backend->runtime().prepare("mayfly-test/nothing-here:9", soon()));
  REQUIRE_FALSE(image);
  CHECK(image.error().code == ErrorCode::not_found);
  CHECK(image.error().message.find("mayfly-test/nothing-here:9") != std::string::npos);
  CHECK(backend->loop().await(backend->runtime().prepare("../x", soon())).error().code ==
        ErrorCode::invalid_argument);
}

TEST_CASE("F16 runtime contract: a create that is cut by its deadline leaves nothing") {
  const auto backend = each_backend();
  const SandboxSpec spec = make_spec(*backend);
  for (const int milliseconds : {0, 1, 2, 5, 10, 20}) {
    const auto created =
        backend->loop().await(backend->runtime().create(spec, Deadline::in(Millis(milliseconds))));
    if (created) must(*backend, backend->runtime().destroy(spec.id, soon()));
    INFO(milliseconds << " ms: " << (created ? "created" : created.error().message));
    CHECK_FALSE(find_ours(*backend, spec.id));
  }
}

TEST_CASE("runtime contract: destroy takes a running sandbox away while its carrier is open and read") {
  const auto backend = each_backend();
  Running running = run_one(*backend);
  must(*backend, backend->runtime().destroy(running.spec.id, soon()));
  (void)backend->loop().await(with_deadline(read_to_end(*running.carrier), soon(), "end of the carrier"));
  CHECK(count_ours(*backend) == 0);
}
