// The files that are shipped, and files that must be refused; the same files go through the JSON schema
// (check_schema.py), so that an editor and the program say the same.
#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "policy/policy.hpp"
#include "policy_fixture.hpp"
#include "support/temp_dir.hpp"

namespace mayfly {
namespace {

namespace fs = std::filesystem;
using test::faults_of;

const fs::path kPolicies = fs::path(MAYFLY_SOURCE_DIR) / "policies";
const fs::path kTests = fs::path(MAYFLY_SOURCE_DIR) / "tests/unit/policy";

std::set<fs::path> yaml_files(const fs::path& dir) {
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(dir)) {
    if (entry.path().extension() == ".yaml") files.insert(entry.path());
  }
  REQUIRE_FALSE(files.empty());
  return files;
}

TEST_CASE("the shipped default policy says what is built in") {
  const auto shipped = load_policy(kPolicies / "default.yaml");
  INFO(faults_of(shipped));
  REQUIRE(shipped);
  const Policy built_in = builtin_policy();
  CHECK(shipped->default_limits == built_in.default_limits);
  CHECK(shipped->max_limits == built_in.max_limits);
  CHECK(shipped->default_timeouts == built_in.default_timeouts);
  CHECK(shipped->max_timeouts == built_in.max_timeouts);
  CHECK(shipped->name == built_in.name);
  CHECK(shipped->version == built_in.version);
  CHECK(shipped->notes.empty());
}

// All but the node's capacity, which is derived where it is left out.
TEST_CASE("the shipped default policy shows every field that there is") {
  const auto shipped = load_policy(kPolicies / "default.yaml");
  REQUIRE(shipped);
  std::set<std::string> shown;
  for (const auto& [name, place] : shipped->places) shown.insert(name);
  for (const char* layer : {"defaults", "ceilings"}) {
    for (const char* name :
         {"cpus", "memory", "workspace", "tmp", "shm", "log", "pids", "open_files", "cpu_time"})
      CHECK(shown.contains(std::string(layer) + ".limits." + name));
    for (const char* name : {"queue", "prepare", "start", "run", "idle", "stop", "total"})
      CHECK(shown.contains(std::string(layer) + ".timeouts." + name));
  }
  for (const char* name : {"artifacts.bytes", "artifacts.files", "workspace.tmpfs_max", "runner.lease",
                           "accept_warnings", "retention.tasks", "retention.log_bytes",
                           "retention.idempotency_keys", "capacity.queued_tasks", "disk.reserve"})
    CHECK(shown.contains(name));
  CHECK(shown.size() == 2 * 16 + 10);
}

TEST_CASE("every shipped and good policy file is accepted") {
  for (const auto& dir : {kPolicies, kTests / "good"}) {
    for (const auto& file : yaml_files(dir)) {
      const auto policy = load_policy(file);
      INFO(file << "\n" << faults_of(policy));
      CHECK(policy);
    }
  }
}

TEST_CASE("Y02 every bad policy file is refused with a place in it") {
  for (const auto& file : yaml_files(kTests / "bad")) {
    CAPTURE(file);
    const auto policy = load_policy(file);
    REQUIRE_FALSE(policy);
    CHECK(policy.error().code == ErrorCode::invalid_argument);
    REQUIRE_FALSE(policy.error().fields.empty());
    CHECK(policy.error().fields[0].pointer.rfind(file.string() + ":", 0) == 0);
  }
}

TEST_CASE("the example in the documentation denies what the documentation says") {
  std::ifstream file(fs::path(MAYFLY_SOURCE_DIR) / "docs/policies.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  const auto begin = page.find("```yaml\n") + 8;
  const auto policy = parse_policy(page.substr(begin, page.find("```", begin) - begin), "research.yaml");
  INFO(faults_of(policy));
  REQUIRE(policy);
  TaskSpec spec;
  spec.limits.memory = 2_GiB;
  const auto admission = admit(spec, *policy);
  REQUIRE_FALSE(admission);
  const auto& fault = admission.error().fields.at(0);
  CHECK_THAT(page, Catch::Contains(fault.pointer + ": " + fault.detail));
}

TEST_CASE("a policy file that is not there or too long is refused") {
  CHECK_FALSE(load_policy(kPolicies / "absent.yaml"));
  const test::TempDir dir;
  std::ofstream(dir.path() / "long.yaml") << std::string(2'000'000, '#');
  const auto policy = load_policy(dir.path() / "long.yaml");
  REQUIRE_FALSE(policy);
  CHECK(policy.error().code == ErrorCode::payload_too_large);
}

}  // namespace
}  // namespace mayfly
