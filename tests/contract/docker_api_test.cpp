// The Docker client against a real engine: each call's promise in engine_client.hpp, as the engine really
// keeps it.
#include <algorithm>
#include <catch2/catch.hpp>

#include "docker_api/version_negotiation.hpp"
#include "support/engine_fixture.hpp"
#include "support/tar_builder.hpp"

namespace mayfly::docker {
namespace {

using test::EngineFixture;

template <class T>
ErrorCode failure_of(EngineFixture& fixture, Async<T> call) {
  const auto result = fixture.loop.await(std::move(call));
  REQUIRE_FALSE(result);
  return result.error().code;
}

std::string make_container(EngineFixture& fixture, const std::string& what, const ContainerConfig& config) {
  const std::string name = fixture.name(what);
  const Created created = fixture.must(fixture.engine->create_container(name, config, EngineFixture::soon()));
  CHECK(created.warnings.empty());
  return name;
}

VolumeConfig tmpfs_volume(EngineFixture& fixture, const std::string& what) {
  VolumeConfig config;
  config.name = fixture.name(what);
  config.options = {
      {"type", "tmpfs"}, {"device", "tmpfs"}, {"o", "size=1048576,mode=0700,uid=65532,gid=65532"}};
  config.labels = fixture.labels();
  return config;
}

TEST_CASE("F41 a version within both ranges is agreed on with a real engine") {
  EngineFixture fixture;
  const auto version = fixture.must(fixture.engine->negotiate(EngineFixture::soon()));
  const auto agreed = parse_api_version(fixture.engine->agreed_version()).value();
  CHECK(agreed >= kLowestApi);
  CHECK(agreed <= std::min(kHighestApi, parse_api_version(version.api_version).value()));
  CHECK(version.os == "linux");
  fixture.must(fixture.engine->ping(EngineFixture::soon()));
}

TEST_CASE("an engine tells what it is made of") {
  EngineFixture fixture;
  const SystemInfo info = fixture.must(fixture.engine->info(EngineFixture::soon()));
  CHECK_FALSE(info.storage_driver.empty());
  CHECK(info.processors > 0);
  CHECK(info.memory > 0);
  CHECK((info.cgroup_version == "1" || info.cgroup_version == "2"));
  CHECK(std::count(info.runtimes.begin(), info.runtimes.end(), info.default_runtime) == 1);
}

TEST_CASE("a container goes from created over started and waited for to removed") {
  EngineFixture fixture;
  const std::string name = make_container(fixture, "life", fixture.shell_container("exit 42"));
  const auto created = fixture.must(fixture.engine->inspect_container(name, EngineFixture::soon()));
  CHECK(created.name == name);
  CHECK(created.state.status == "created");
  CHECK_FALSE(created.state.exit_code);
  fixture.must(fixture.engine->start_container(name, EngineFixture::soon()));
  CHECK(fixture.must(fixture.engine->wait_container(name, EngineFixture::soon())) == 42);
  const auto ended = fixture.must(fixture.engine->inspect_container(name, EngineFixture::soon()));
  CHECK(ended.state.status == "exited");
  CHECK(ended.state.exit_code == 42);
  CHECK_FALSE(ended.state.oom_killed);
  CHECK(fixture.must(fixture.engine->remove_container(name, EngineFixture::soon())) ==
        RemoveOutcome::removed);
  CHECK(fixture.must(fixture.engine->remove_container(name, EngineFixture::soon())) ==
        RemoveOutcome::already_gone);
  CHECK(failure_of(fixture, fixture.engine->inspect_container(name, EngineFixture::soon())) ==
        ErrorCode::not_found);
}

TEST_CASE("an engine takes the whole create body without warnings and shows what was asked") {
  EngineFixture fixture;
  ContainerConfig config = fixture.shell_container("true");
  config.masked_paths = {"/proc/kcore", "/proc/keys"};
  config.read_only_paths = {"/proc/sys"};
  const auto info = fixture.must(fixture.engine->info(EngineFixture::soon()));
  if (info.cgroup_version == "1") config.memory_swappiness = 0;
  const std::string name = make_container(fixture, "body", config);
  const auto shown = fixture.must(fixture.engine->inspect_container(name, EngineFixture::soon()));
  const Json host = shown.raw.at("HostConfig");
  const Json asked = to_json(config);
  for (const char* key :
       {"Memory",          "MemorySwap",    "NanoCpus",     "CpuShares",    "PidsLimit",      "ShmSize",
        "OomScoreAdj",     "NetworkMode",   "IpcMode",      "CgroupnsMode", "ReadonlyRootfs", "Privileged",
        "PublishAllPorts", "AutoRemove",    "Init",         "CapDrop",      "SecurityOpt",    "Tmpfs",
        "MaskedPaths",     "ReadonlyPaths", "Dns",          "DnsSearch",    "PidMode",        "UTSMode",
        "UsernsMode",      "LogConfig",     "RestartPolicy"}) {
    CAPTURE(key);
    CHECK(host.at(key) == asked.at("HostConfig").at(key));
  }
  const Json shown_config = shown.raw.at("Config");
  for (const char* key : {"User", "WorkingDir", "Hostname", "Entrypoint", "Cmd", "Env", "Labels",
                          "StopSignal", "Tty", "OpenStdin", "StdinOnce", "Healthcheck"}) {
    CAPTURE(key);
    CHECK(shown_config.at(key) == asked.at(key));
  }
}

TEST_CASE("a name that is taken is a conflict and an image that is not there is not found") {
  EngineFixture fixture;
  const ContainerConfig config = fixture.shell_container("true");
  const std::string name = make_container(fixture, "taken", config);
  CHECK(failure_of(fixture, fixture.engine->create_container(name, config, EngineFixture::soon())) ==
        ErrorCode::conflict);
  ContainerConfig unknown = config;
  unknown.image = "sha256:" + std::string(64, '0');
  CHECK(failure_of(fixture, fixture.engine->create_container(fixture.name("no-image"), unknown,
                                                             EngineFixture::soon())) == ErrorCode::not_found);
  CHECK(failure_of(fixture, fixture.engine->inspect_image("mayfly-test/none:0", EngineFixture::soon())) ==
        ErrorCode::not_found);
}

TEST_CASE("a body that the engine cannot take is an invalid argument with its words") {
  EngineFixture fixture;
  ContainerConfig config = fixture.shell_container("true");
  config.memory = config.memory_swap = 4096;
  const std::string name = fixture.name("tiny");
  const auto refused =
      fixture.loop.await(fixture.engine->create_container(name, config, EngineFixture::soon()));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK_THAT(refused.error().message, Catch::Contains("emory"));
}

TEST_CASE("F20 a kill reaches a running container and is fine for one that is not") {
  EngineFixture fixture;
  const std::string name = make_container(fixture, "kill", fixture.shell_container("sleep 600"));
  fixture.must(fixture.engine->kill_container(name, "SIGKILL", EngineFixture::soon()));
  fixture.must(fixture.engine->start_container(name, EngineFixture::soon()));
  fixture.must(fixture.engine->start_container(name, EngineFixture::soon()));
  fixture.must(fixture.engine->kill_container(name, "SIGKILL", EngineFixture::soon()));
  CHECK(fixture.must(fixture.engine->wait_container(name, EngineFixture::soon())) == 137);
  fixture.must(fixture.engine->kill_container(name, "SIGKILL", EngineFixture::soon()));
}

TEST_CASE("a wait that is given up at its deadline leaves the container running") {
  EngineFixture fixture;
  const std::string name = make_container(fixture, "wait", fixture.shell_container("sleep 600"));
  fixture.must(fixture.engine->start_container(name, EngineFixture::soon()));
  CHECK(failure_of(fixture, fixture.engine->wait_container(name, Deadline::in(Millis(50)))) ==
        ErrorCode::deadline_exceeded);
  CHECK(fixture.must(fixture.engine->inspect_container(name, EngineFixture::soon())).state.status ==
        "running");
}

TEST_CASE("an update changes the limits of a running container and nothing else") {
  EngineFixture fixture;
  const std::string name = make_container(fixture, "update", fixture.shell_container("sleep 600"));
  fixture.must(fixture.engine->start_container(name, EngineFixture::soon()));
  UpdateConfig update;
  update.memory = update.memory_swap = 96LL << 20;
  update.nano_cpus = 500'000'000;
  update.pids_limit = 32;
  CHECK(fixture.must(fixture.engine->update_container(name, update, EngineFixture::soon())).empty());
  const Json host =
      fixture.must(fixture.engine->inspect_container(name, EngineFixture::soon())).raw.at("HostConfig");
  CHECK(host.at("Memory") == 96LL << 20);
  CHECK(host.at("MemorySwap") == 96LL << 20);
  CHECK(host.at("NanoCpus") == 500'000'000);
  CHECK(host.at("PidsLimit") == 32);
  CHECK(host.at("CpuShares") == 256);
}

TEST_CASE("containers are listed by label whatever their state") {
  EngineFixture fixture;
  const std::string created = make_container(fixture, "a", fixture.shell_container("true"));
  const std::string running = make_container(fixture, "b", fixture.shell_container("sleep 600"));
  fixture.must(fixture.engine->start_container(running, EngineFixture::soon()));
  auto listed = fixture.must(fixture.engine->list_containers(fixture.label_filter(), EngineFixture::soon()));
  std::sort(listed.begin(), listed.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].name == created);
  CHECK(listed[0].state == "created");
  CHECK(listed[1].name == running);
  CHECK(listed[1].state == "running");
  CHECK(listed[0].labels.at("mayfly-test.run") == fixture.labels().at("mayfly-test.run"));
}

TEST_CASE("a volume keeps its options and a second create of its name shows the old ones") {
  EngineFixture fixture;
  VolumeConfig config = tmpfs_volume(fixture, "options");
  CHECK(fixture.must(fixture.engine->create_volume(config, EngineFixture::soon())).options == config.options);
  const auto shown = fixture.must(fixture.engine->inspect_volume(config.name, EngineFixture::soon()));
  CHECK(shown.options == config.options);
  CHECK(shown.labels == config.labels);
  CHECK(shown.driver == "local");
  const auto old_options = config.options;
  config.options["o"] = "size=4096";
  CHECK(fixture.must(fixture.engine->create_volume(config, EngineFixture::soon())).options == old_options);
  const auto listed =
      fixture.must(fixture.engine->list_volumes(fixture.label_filter(), EngineFixture::soon()));
  REQUIRE(listed.size() == 1);
  CHECK(listed[0].name == config.name);
}

TEST_CASE("a volume in use is a conflict and goes once its container is gone") {
  EngineFixture fixture;
  const VolumeConfig volume = tmpfs_volume(fixture, "used");
  fixture.must(fixture.engine->create_volume(volume, EngineFixture::soon()));
  ContainerConfig config = fixture.shell_container("true");
  config.mounts = {{volume.name, "/workspace", false}};
  const std::string name = make_container(fixture, "user", config);
  CHECK(failure_of(fixture, fixture.engine->remove_volume(volume.name, EngineFixture::soon())) ==
        ErrorCode::conflict);
  fixture.must(fixture.engine->remove_container(name, EngineFixture::soon()));
  CHECK(fixture.must(fixture.engine->remove_volume(volume.name, EngineFixture::soon())) ==
        RemoveOutcome::removed);
  CHECK(fixture.must(fixture.engine->remove_volume(volume.name, EngineFixture::soon())) ==
        RemoveOutcome::already_gone);
}

TEST_CASE("a volume is filled and read back through a container that never starts") {
  EngineFixture fixture;
  VolumeConfig volume;
  volume.name = fixture.name("runner");
  volume.labels = fixture.labels();
  fixture.must(fixture.engine->create_volume(volume, EngineFixture::soon()));
  ContainerConfig config = fixture.shell_container("true");
  config.mounts = {{volume.name, "/runner", false}};
  const std::string name = make_container(fixture, "filler", config);
  const std::string content(3'000'000, 'r');
  const std::string tar = test::TarBuilder().file("runner", content, 0755).finish();
  fixture.must(fixture.engine->put_archive(name, "/runner", tar, EngineFixture::soon()));
  const auto back =
      fixture.must(fixture.engine->get_archive(name, "/runner/runner", 8U << 20U, EngineFixture::soon()));
  CHECK((test::file_in_tar(back, "runner") == content));
  CHECK(failure_of(fixture, fixture.engine->get_archive(name, "/runner/runner", 1U << 20U,
                                                        EngineFixture::soon())) == ErrorCode::protocol);
  CHECK(failure_of(fixture, fixture.engine->get_archive(name, "/runner/none", 1U << 20U,
                                                        EngineFixture::soon())) == ErrorCode::not_found);
  CHECK(failure_of(fixture, fixture.engine->put_archive(name, "/none", tar, EngineFixture::soon())) ==
        ErrorCode::not_found);
}

TEST_CASE("an image is imported from a tar and found by its name and runs") {
  EngineFixture fixture;
  const std::string repository = fixture.name("imported");
  const std::string id = fixture.must(
      fixture.engine->import_image(repository, "1", test::busybox_rootfs_tar(), EngineFixture::soon()));
  const auto image = fixture.must(fixture.engine->inspect_image(repository + ":1", EngineFixture::soon()));
  CHECK(image.id == id);
  CHECK(image.os == "linux");
  CHECK(image.entrypoint.empty());
  ContainerConfig config = fixture.shell_container("seq 5 | wc -l | grep -q 5 && exit 5");
  config.image = id;
  const std::string name = make_container(fixture, "of-import", config);
  fixture.must(fixture.engine->start_container(name, EngineFixture::soon()));
  CHECK(fixture.must(fixture.engine->wait_container(name, EngineFixture::soon())) == 5);
  fixture.must(fixture.engine->remove_container(name, EngineFixture::soon()));
  fixture.remove_image(id);
}

TEST_CASE("an import that is no tar is refused") {
  EngineFixture fixture;
  const auto refused = fixture.loop.await(
      fixture.engine->import_image("mayfly-test/bad", "1", std::string(2000, 'x'), EngineFixture::soon()));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::engine_refused);
}

}  // namespace
}  // namespace mayfly::docker
