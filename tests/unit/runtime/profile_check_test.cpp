#include "runtime/docker/profile_check.hpp"

#include <catch2/catch.hpp>

#include "fake_engine_client.hpp"
#include "profile_samples.hpp"
#include "runtime/docker/hardened_profile.hpp"
#include "support/io_loop.hpp"

using namespace mayfly;
using namespace mayfly::docker;
using test::sample_engine;
using test::sample_spec;

namespace {

ContainerConfig wanted() {
  return make_sandbox_container(sample_spec(), sample_engine(), "mayfly-runner-0123",
                                {{"dev.mayfly.sandbox", test::kSampleId.str()}});
}

// As the fake engine, which writes as a real one does, shows it.
Json shown() {
  test::FakeEngineClient engine;
  engine.images[test::kSampleImageId] = {};
  test::IoLoop loop;
  REQUIRE(loop.await(engine.create_container(test::kSampleContainer, wanted(), Deadline::never())));
  return loop.await(engine.inspect_container(test::kSampleContainer, Deadline::never()))->raw;
}

std::vector<Difference> differences_after(const std::function<void(Json&)>& change) {
  Json inspect = shown();
  change(inspect);
  return compare_container(test::kSampleContainer, wanted(), inspect, sample_engine(),
                           CompareLabels::compared);
}

std::string field_after(const std::function<void(Json&)>& change) {
  const auto differences = differences_after(change);
  return differences.size() == 1 ? differences.front().field : describe(differences);
}

}  // namespace

TEST_CASE("what a faithful engine shows has no difference") {
  CHECK(describe(differences_after([](Json&) {})).empty());
}

TEST_CASE("C13 a pids limit that inspect shows as null is a difference") {
  const auto differences =
      differences_after([](Json& inspect) { inspect["HostConfig"]["PidsLimit"] = nullptr; });
  CHECK(differences == std::vector<Difference>{{"HostConfig.PidsLimit", "132", "null"}});
}

TEST_CASE("C13 swap other than memory is a difference") {
  CHECK(field_after([](Json& inspect) { inspect["HostConfig"]["MemorySwap"] = -1; }) ==
        "HostConfig.MemorySwap");
}

TEST_CASE("C03 each weakening that an engine might show is found under its own name") {
  const std::vector<std::pair<std::string, Json>> weakened = {
      {"Privileged", true},
      {"ReadonlyRootfs", false},
      {"NetworkMode", "host"},
      {"PidMode", "host"},
      {"IpcMode", "host"},
      {"UTSMode", "host"},
      {"UsernsMode", "host"},
      {"CgroupnsMode", "host"},
      {"Cgroup", "host"},
      {"CapAdd", {"SYS_ADMIN"}},
      {"CapDrop", nullptr},
      {"Binds", {"/:/host"}},
      {"Devices", {{{"PathOnHost", "/dev/kvm"}}}},
      {"DeviceCgroupRules", {"a *:* rwm"}},
      {"VolumesFrom", {"other"}},
      {"ExtraHosts", {"a:1.2.3.4"}},
      {"GroupAdd", {"0"}},
      {"PublishAllPorts", true},
      {"AutoRemove", true},
      {"OomKillDisable", true},
      {"OomScoreAdj", -500},
      {"Init", true},
      {"Runtime", "other"},
      {"Memory", 0},
      {"NanoCpus", 0},
      {"ShmSize", 64 << 20},
      {"CpuShares", 1024},
      {"CgroupParent", "/elsewhere"},
      {"MemorySwappiness", 60},
      {"SecurityOpt", {"seccomp=unconfined"}},
      {"Tmpfs", Json::object()},
      {"MaskedPaths", Json::array()},
      {"ReadonlyPaths", nullptr},
      {"Sysctls", {{"net.ipv4.ip_forward", "1"}}},
      {"LogConfig", {{"Type", "syslog"}}},
      {"Ulimits", Json::array()},
      {"Dns", Json::array()},
      {"RestartPolicy", {{"Name", "always"}}},
      {"Annotations", {{"run.oci.keep_original_groups", "1"}}},
      {"BlkioWeight", 10},
      {"StorageOpt", {{"size", "1g"}}},
      {"Isolation", "hyperv"}};
  for (const auto& [key, value] : weakened) {
    const auto change = [key = key, value = value](Json& inspect) { inspect["HostConfig"][key] = value; };
    CHECK(field_after(change) == "HostConfig." + key);
  }
}

TEST_CASE("C03 what the image would make of the process is found under its own name") {
  const std::vector<std::pair<std::string, Json>> changed = {{"User", "0:0"},
                                                             {"Entrypoint", {"/bin/sh"}},
                                                             {"Cmd", {"-c", "id"}},
                                                             {"WorkingDir", "/"},
                                                             {"Tty", true},
                                                             {"OpenStdin", false},
                                                             {"StdinOnce", true},
                                                             {"Hostname", "other"},
                                                             {"StopSignal", "SIGKILL"},
                                                             {"Healthcheck", {{"Test", {"CMD", "id"}}}},
                                                             {"Volumes", {{"/elsewhere", Json::object()}}},
                                                             {"ExposedPorts", {{"80/tcp", Json::object()}}},
                                                             {"Env", {"LD_PRELOAD=/evil.so"}}};
  for (const auto& [key, value] : changed) {
    const auto change = [key = key, value = value](Json& inspect) { inspect["Config"][key] = value; };
    CHECK(field_after(change) == "Config." + key);
  }
}

TEST_CASE("nothing is the same in each way that an engine writes it") {
  const auto change = [](Json& inspect) {
    for (const char* key : {"Binds", "CapAdd", "Sysctls", "PidMode"}) inspect["HostConfig"][key] = nullptr;
    inspect["HostConfig"]["OomKillDisable"] = nullptr;
    inspect["HostConfig"].erase("DeviceRequests");
  };
  CHECK(field_after(change).empty());
  CHECK(field_after([](Json& inspect) { inspect["HostConfig"]["CapAdd"] = {""}; }) == "HostConfig.CapAdd");
}

TEST_CASE("an engine that no longer shows removed variables makes no difference") {
  CHECK(field_after([](Json& inspect) { inspect["Config"]["Env"] = nullptr; }).empty());
}

TEST_CASE("labels of the image make no difference but a changed one of ours does") {
  CHECK(field_after([](Json& inspect) { inspect["Config"]["Labels"]["maintainer"] = "somebody"; }).empty());
  CHECK(field_after([](Json& inspect) { inspect["Config"]["Labels"]["dev.mayfly.sandbox"] = "x"; }) ==
        "Config.Labels.dev.mayfly.sandbox");
}

TEST_CASE("a mount that nobody asked for is a difference") {
  CHECK(field_after([](Json& inspect) {
          inspect["Mounts"].push_back(
              {{"Type", "volume"}, {"Name", "anonymous"}, {"Destination", "/var/lib"}, {"RW", true}});
        }) == "Mounts");
  CHECK(field_after([](Json& inspect) { inspect["Mounts"][0]["RW"] = true; }) == "Mounts");
  CHECK(field_after([](Json& inspect) { inspect["Mounts"] = nullptr; }) == "Mounts");
}

TEST_CASE("a second network is a difference") {
  CHECK(field_after([](Json& inspect) {
          inspect["NetworkSettings"]["Networks"]["bridge"] = Json::object();
        }) == "NetworkSettings.Networks");
}

TEST_CASE("I01 another image than the one that was admitted is a difference") {
  CHECK(field_after([](Json& inspect) { inspect["Image"] = "sha256:other"; }) == "Image");
}

TEST_CASE("an answer that is no object is nothing but differences") {
  CHECK(differences_after([](Json& inspect) { inspect = "garbage"; }).size() > 20);
}

TEST_CASE("P07 a volume with other options than asked is a difference") {
  const VolumeConfig asked = make_workspace_volume(sample_spec(), {});
  VolumeInfo found{asked.name, "local", "/x", asked.options, {}};
  CHECK(compare_volume(asked, found, CompareLabels::compared).empty());
  found.options = {{"type", "none"}, {"o", "bind"}, {"device", "/etc"}};
  CHECK(compare_volume(asked, found, CompareLabels::ignored).at(0).field == "Options");
  found.options = asked.options;
  found.driver = "nfs";
  CHECK(compare_volume(asked, found, CompareLabels::ignored).at(0).field == "Driver");
}

TEST_CASE("a description names five differences and counts the rest") {
  std::vector<Difference> many;
  for (int i = 0; i < 7; ++i) many.push_back({"f" + std::to_string(i), "1", std::string(1000, 'x')});
  const std::string text = describe(many);
  CHECK(text.find("f4: wanted 1, found xxx") != std::string::npos);
  CHECK(text.find("f5") == std::string::npos);
  CHECK(text.ends_with("and 2 more"));
  CHECK(text.size() < 1300);
}
