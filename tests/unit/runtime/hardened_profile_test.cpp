#include "runtime/docker/hardened_profile.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <set>

#include "golden.hpp"
#include "profile_samples.hpp"

using namespace mayfly;
using namespace mayfly::docker;
using test::sample_engine;
using test::sample_spec;

namespace {

ContainerConfig sample_container(const SandboxSpec& spec = sample_spec(),
                                 const EngineFacts& engine = sample_engine()) {
  return make_sandbox_container(spec, engine, "mayfly-runner-0123", {{"dev.mayfly.sandbox", spec.id.str()}});
}

std::int64_t hard_limit(const ContainerConfig& config, const std::string& name) {
  for (const Ulimit& limit : config.ulimits) {
    if (limit.name == name) return limit.hard;
  }
  FAIL("no ulimit " << name);
  return -1;
}

bool sends(const ContainerConfig& config, const std::string& entry) {
  return std::find(config.env.begin(), config.env.end(), entry) != config.env.end();
}

}  // namespace

TEST_CASE("C03 the whole body of a create is the golden one") {
  test::expect_golden("create_body.json", to_json(sample_container()).dump(1) + "\n");
}

TEST_CASE("C03 the whole body of a workspace volume is the golden one") {
  const VolumeConfig volume =
      make_workspace_volume(sample_spec(), {{"dev.mayfly.sandbox", test::kSampleId.str()}});
  test::expect_golden("workspace_volume.json", to_json(volume).dump(1) + "\n");
}

TEST_CASE("C03 no two keys of the body are the same but for their case") {
  const auto check = [](const Json& object, const auto& self) -> void {
    std::set<std::string> lower;
    for (const auto& [key, value] : object.items()) {
      std::string folded = key;
      std::transform(folded.begin(), folded.end(), folded.begin(),
                     [](unsigned char c) { return std::tolower(c); });
      INFO(key);
      CHECK(lower.insert(folded).second);
      if (value.is_object()) self(value, self);
    }
  };
  check(to_json(sample_container()), check);
}

TEST_CASE("F26 memory and swap are sent as one number and swappiness only for cgroup v1") {
  const ContainerConfig on_v1 = sample_container();
  CHECK(on_v1.memory == static_cast<std::int64_t>(sample_spec().granted.memory.count));
  CHECK(on_v1.memory_swap == on_v1.memory);
  CHECK(on_v1.memory_swappiness == 0);

  EngineFacts engine = sample_engine();
  engine.cgroup_version = 2;
  CHECK_FALSE(sample_container(sample_spec(), engine).memory_swappiness);
}

TEST_CASE("F28 shm has the size that was asked and never the engine's default") {
  SandboxSpec spec = sample_spec();
  spec.limits.shm = 32_MiB;
  CHECK(sample_container(spec).shm_size == 32 << 20);
  spec.limits.shm = Bytes{0};
  CHECK(sample_container(spec).shm_size == 4096);
}

TEST_CASE("F32 tmp can run programs and a size of zero is not unlimited") {
  SandboxSpec spec = sample_spec();
  CHECK(sample_container(spec).tmpfs.at("/tmp") ==
        "rw,nosuid,nodev,exec,size=67108864,nr_inodes=8192,mode=1777,uid=65532,gid=65532");
  spec.limits.tmp = Bytes{0};
  CHECK(sample_container(spec).tmpfs.at("/tmp") ==
        "rw,nosuid,nodev,exec,size=4096,nr_inodes=8192,mode=1777,uid=65532,gid=65532");
  spec.limits.workspace = Bytes{0};
  CHECK(make_workspace_volume(spec, {}).options.at("o").starts_with("size=4096,nr_inodes=4096,"));
}

TEST_CASE("P08 options of volumes and tmpfs hold numbers and fixed words whatever the image says") {
  SandboxSpec spec = sample_spec();
  spec.image.reference = "x:size=1m,uid=0,exec";
  spec.image.volumes = {"/data,exec,uid=0"};
  spec.image.env_names = {"size=9g"};
  CHECK(make_workspace_volume(spec, {}).options == make_workspace_volume(sample_spec(), {}).options);
  for (const auto& [path, options] : sample_container(spec).tmpfs) {
    CHECK(options.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_=,") == std::string::npos);
    CHECK(options.find("uid=") == options.rfind("uid=65532"));
  }
}

TEST_CASE("a path that the image declares as a volume is covered with a small tmpfs") {
  CHECK(sample_container().tmpfs.at("/data") ==
        "rw,nosuid,nodev,noexec,size=1048576,nr_inodes=1024,mode=1777,uid=65532,gid=65532");
}

TEST_CASE("variables of the image and of the dynamic loader are removed and none is set") {
  const ContainerConfig config = sample_container();
  for (const char* name : {"PATH", "PYTHON_VERSION", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT",
                           "GLIBC_TUNABLES", "GCONV_PATH"}) {
    INFO(name);
    CHECK(sends(config, name));
  }
  for (const std::string& entry : config.env) CHECK(entry.find('=') == std::string::npos);
  CHECK(std::adjacent_find(config.env.begin(), config.env.end()) == config.env.end());
}

TEST_CASE("the largest file is as large as the largest file system of the sandbox") {
  SandboxSpec spec = sample_spec();
  CHECK(hard_limit(sample_container(spec), "fsize") == (128 << 20) + (64 << 10));
  spec.limits.tmp = 200_MiB;
  CHECK(hard_limit(sample_container(spec), "fsize") == (200 << 20) + (64 << 10));
  spec.limits.shm = 201_MiB;
  CHECK(hard_limit(sample_container(spec), "fsize") == (201 << 20) + (64 << 10));
}

TEST_CASE("the runner has the descriptors that it needs also where the task asked for few") {
  SandboxSpec spec = sample_spec();
  spec.limits.open_files = 16;
  CHECK(hard_limit(sample_container(spec), "nofile") == 256);
  spec.limits.open_files = 2048;
  CHECK(hard_limit(sample_container(spec), "nofile") == 2048);
}

TEST_CASE("AppArmor is named only where the engine has it") {
  const auto names_apparmor = [](const ContainerConfig& config) {
    return std::count(config.security_opt.begin(), config.security_opt.end(), "apparmor=docker-default");
  };
  EngineFacts engine = sample_engine();
  CHECK(names_apparmor(sample_container(sample_spec(), engine)) == 0);
  engine.apparmor = true;
  CHECK(names_apparmor(sample_container(sample_spec(), engine)) == 1);
}

TEST_CASE("each processor's thermal throttle is masked by name") {
  EngineFacts engine = sample_engine();
  engine.processors = 3;
  const auto masked = sample_container(sample_spec(), engine).masked_paths;
  CHECK(std::count_if(masked.begin(), masked.end(),
                      [](const std::string& path) { return path.ends_with("thermal_throttle"); }) == 3);
  CHECK(std::find(masked.begin(), masked.end(), "/sys/devices/system/cpu/cpu2/thermal_throttle") !=
        masked.end());
}

TEST_CASE("Y04 numbers that an engine would read as unlimited make no sandbox") {
  const auto code_with = [](const auto& change) {
    SandboxSpec spec = sample_spec();
    change(spec.granted);
    const auto checked = check_sandbox_spec(spec);
    return checked ? ErrorCode::internal : checked.error().code;
  };
  CHECK(check_sandbox_spec(sample_spec()));
  CHECK(code_with([](Granted& granted) { granted.memory = Bytes{0}; }) == ErrorCode::invalid_argument);
  CHECK(code_with([](Granted& granted) { granted.memory = 5_MiB; }) == ErrorCode::invalid_argument);
  CHECK(code_with([](Granted& granted) { granted.memory = Bytes{1ULL << 63U}; }) ==
        ErrorCode::invalid_argument);
  CHECK(code_with([](Granted& granted) { granted.pids = 0; }) == ErrorCode::invalid_argument);
  CHECK(code_with([](Granted& granted) { granted.pids = 4097; }) == ErrorCode::invalid_argument);
  CHECK(code_with([](Granted& granted) { granted.millicpus = 0; }) == ErrorCode::invalid_argument);
  CHECK(code_with([](Granted& granted) { granted.millicpus = -1; }) == ErrorCode::invalid_argument);
}
