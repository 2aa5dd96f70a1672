#include <catch2/catch.hpp>

#include "docker_api/engine_types.hpp"

namespace mayfly::docker {
namespace {

ContainerConfig full_config() {
  ContainerConfig config;
  config.image = "sha256:abc";
  config.user = "65532:65532";
  config.working_dir = "/workspace";
  config.hostname = "task";
  config.entrypoint = {"/.mayfly/runner"};
  config.env = {"A=b", "LD_PRELOAD"};
  config.labels = {{"k", "v"}};
  config.memory = config.memory_swap = 64 << 20;
  config.memory_swappiness = 0;
  config.nano_cpus = 500'000'000;
  config.cpu_shares = 256;
  config.pids_limit = 64;
  config.shm_size = 16 << 20;
  config.oom_score_adj = 500;
  config.ulimits = {{"nofile", 1024, 2048}};
  config.tmpfs = {{"/tmp", "rw,size=64m"}};
  config.mounts = {{"vol", "/workspace", false}, {"runner", "/.mayfly", true}};
  config.security_opt = {"no-new-privileges:true"};
  config.dns = {"127.0.0.1"};
  config.masked_paths = {"/proc/kcore"};
  return config;
}

TEST_CASE("a create body overrides all that an image could bring") {
  const Json body = to_json(full_config());
  CHECK(body["Healthcheck"] == R"({"Test":["NONE"]})"_json);
  CHECK(body["Volumes"] == Json::object());
  CHECK(body["ExposedPorts"] == Json::object());
  CHECK(body["Entrypoint"] == R"(["/.mayfly/runner"])"_json);
  CHECK(body["Cmd"] == Json::array());
  CHECK(body["User"] == "65532:65532");
  CHECK(body["WorkingDir"] == "/workspace");
  CHECK(body["StopSignal"] == "SIGTERM");
  CHECK(body["StopTimeout"] == 10);
  CHECK(body["Env"] == R"(["A=b","LD_PRELOAD"])"_json);
  CHECK(body["Domainname"] == "");
}

TEST_CASE("a create body asks for a framed stream that a later client can attach to") {
  const Json body = to_json(full_config());
  CHECK(body["Tty"] == false);
  CHECK(body["OpenStdin"] == true);
  CHECK(body["StdinOnce"] == false);
  for (const char* key : {"AttachStdin", "AttachStdout", "AttachStderr"}) CHECK(body[key] == true);
}

TEST_CASE("a create body says aloud what no sandbox gets") {
  const Json host = to_json(full_config())["HostConfig"];
  for (const char* key : {"Binds", "VolumesFrom", "Links", "Devices", "DeviceRequests", "DeviceCgroupRules",
                          "GroupAdd", "ExtraHosts", "CapAdd"}) {
    CAPTURE(key);
    CHECK(host.at(key) == Json::array());
  }
  for (const char* key : {"PortBindings", "Sysctls"}) CHECK(host.at(key) == Json::object());
  for (const char* key : {"VolumeDriver", "PidMode", "UTSMode", "UsernsMode", "Cgroup"})
    CHECK(host.at(key) == "");
  for (const char* key : {"Privileged", "PublishAllPorts", "AutoRemove", "OomKillDisable", "Init"})
    CHECK(host.at(key) == false);
  CHECK(host["RestartPolicy"]["Name"] == "no");
}

TEST_CASE("a create body holds no key that steers what Mayfly does not use") {
  const Json body = to_json(full_config());
  for (const char* key : {"MacAddress", "NetworkDisabled", "NetworkingConfig", "OnBuild", "Shell"})
    CHECK_FALSE(body.contains(key));
  for (const char* key : {"Annotations", "StorageOpt", "Isolation", "ContainerIDFile", "BlkioWeight"})
    CHECK_FALSE(body["HostConfig"].contains(key));
}

TEST_CASE("a create body carries every limit that was asked for") {
  const Json host = to_json(full_config())["HostConfig"];
  CHECK(host["NetworkMode"] == "none");
  CHECK(host["IpcMode"] == "private");
  CHECK(host["CgroupnsMode"] == "private");
  CHECK(host["ReadonlyRootfs"] == true);
  CHECK(host["CapDrop"] == R"(["ALL"])"_json);
  CHECK(host["Memory"] == 64 << 20);
  CHECK(host["MemorySwap"] == 64 << 20);
  CHECK(host["MemorySwappiness"] == 0);
  CHECK(host["NanoCpus"] == 500'000'000);
  CHECK(host["CpuShares"] == 256);
  CHECK(host["PidsLimit"] == 64);
  CHECK(host["ShmSize"] == 16 << 20);
  CHECK(host["OomScoreAdj"] == 500);
  CHECK(host["Ulimits"] == R"([{"Name":"nofile","Soft":1024,"Hard":2048}])"_json);
  CHECK(host["Tmpfs"] == R"({"/tmp":"rw,size=64m"})"_json);
  CHECK(host["LogConfig"] == R"({"Type":"none","Config":{}})"_json);
  CHECK(host["Mounts"][1] == R"({"Type":"volume","Source":"runner","Target":"/.mayfly","ReadOnly":true,
                                 "VolumeOptions":{"NoCopy":true}})"_json);
}

TEST_CASE("empty lists of masked paths leave the engine's own list in force") {
  ContainerConfig config = full_config();
  CHECK(to_json(config)["HostConfig"]["MaskedPaths"] == R"(["/proc/kcore"])"_json);
  CHECK(to_json(config)["HostConfig"]["ReadonlyPaths"].is_null());
  config.masked_paths.clear();
  CHECK(to_json(config)["HostConfig"]["MaskedPaths"].is_null());
}

TEST_CASE("swappiness that was not asked for is sent as null") {
  ContainerConfig config = full_config();
  config.memory_swappiness.reset();
  CHECK(to_json(config)["HostConfig"].at("MemorySwappiness").is_null());
}

TEST_CASE("a volume body names the local driver") {
  const VolumeConfig config{.name = "v", .options = {{"type", "tmpfs"}}, .labels = {{"k", "v"}}};
  CHECK(to_json(config) ==
        R"({"Name":"v","Driver":"local","DriverOpts":{"type":"tmpfs"},"Labels":{"k":"v"}})"_json);
}

TEST_CASE("an update body holds only what is to change") {
  UpdateConfig config;
  CHECK(to_json(config) == Json::object());
  config.memory = config.memory_swap = 1 << 20;
  config.pids_limit = 5;
  CHECK(to_json(config) == R"({"Memory":1048576,"MemorySwap":1048576,"PidsLimit":5})"_json);
}

}  // namespace
}  // namespace mayfly::docker
