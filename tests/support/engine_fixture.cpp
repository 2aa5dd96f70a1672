#include "support/engine_fixture.hpp"

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "base/ids.hpp"
#include "docker_api/engine_session.hpp"
#include "docker_api/request_target.hpp"
#include "support/tar_builder.hpp"

namespace mayfly::test {

namespace {

constexpr const char* kBusybox = "/bin/busybox";
constexpr const char* kRepository = "mayfly-test/busybox";
constexpr const char* kTag = "1";

std::string read_whole(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) FAIL("no " << path << ": apt-get install busybox-static");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string output_of(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) FAIL("cannot run " << command);
  std::string output;
  char piece[4096];
  while (const std::size_t got = std::fread(piece, 1, sizeof piece, pipe)) output.append(piece, got);
  if (::pclose(pipe) != 0) FAIL(command << " failed");
  return output;
}

}  // namespace

std::string busybox_rootfs_tar() {
  TarBuilder tar;
  for (const char* directory : {"bin", "dev", "etc", "proc", "sys", "workspace"}) tar.directory(directory);
  tar.directory("tmp", 01777);
  tar.file("bin/busybox", read_whole(kBusybox), 0755);
  tar.file("etc/passwd", "root:x:0:0:root:/:/bin/sh\n");
  std::istringstream applets(output_of(std::string(kBusybox) + " --list"));
  for (std::string applet; std::getline(applets, applet);)
    if (applet != "busybox") tar.symlink("bin/" + applet, "busybox");
  return tar.finish();
}

docker::EngineAddress test_engine_address() {
  const char* host = std::getenv("DOCKER_HOST");
  auto address = docker::parse_engine_address(host == nullptr ? "" : host);
  if (!address) FAIL("DOCKER_HOST: " << address.error().message);
  return *address;
}

EngineFixture::EngineFixture() : run_(make_random_hex(6)) {
  const docker::EngineAddress address = test_engine_address();
  engine = docker::make_engine_client(loop.executor(), address, nullptr);
  const auto version = loop.await(engine->negotiate(soon()));
  if (!version)
    FAIL("these tests need a container engine at "
         << docker::format_engine_address(address) << ": " << version.error().message
         << "\nstart one: apt-get install -y --no-install-recommends docker.io iptables && dockerd &"
         << "\nor set DOCKER_HOST to one that runs");
}

EngineFixture::~EngineFixture() {
  try {
    remove_all();
  } catch (const std::exception& failure) {
    std::cerr << "left behind with label " << label_filter() << ": " << failure.what() << '\n';
  }
}

void EngineFixture::remove_all() {
  const auto containers = loop.await(engine->list_containers(label_filter(), soon()));
  for (const auto& container : containers.value())
    loop.await(engine->remove_container(container.id, soon())).value();
  const auto volumes = loop.await(engine->list_volumes(label_filter(), soon()));
  for (const auto& volume : volumes.value()) loop.await(engine->remove_volume(volume.name, soon())).value();
}

void EngineFixture::fail_test(const Error& error) {
  FAIL(name_of(error.code) << ": " << error.message);
  std::abort();  // FAIL throws
}

std::string EngineFixture::busybox_image() {
  const auto present = loop.await(engine->inspect_image(std::string(kRepository) + ":" + kTag, soon()));
  if (present) return present->id;
  if (present.error().code != ErrorCode::not_found) fail_test(present.error());
  return must(engine->import_image(kRepository, kTag, busybox_rootfs_tar(), soon()));
}

void EngineFixture::remove_image(const std::string& id) {
  docker::EngineSession session(loop.executor(), test_engine_address(), nullptr);
  Result<docker::EngineCall> call =
      docker::EngineCall{.endpoint = "images/remove", .method = "DELETE", .path = {}};
  call->path = "/images/" + docker::percent_encode(id) + "?force=1";
  must(session.call(std::move(call), soon()));
}

docker::ContainerConfig EngineFixture::shell_container(const std::string& script) {
  docker::ContainerConfig config;
  config.image = busybox_image();
  config.user = "65532:65532";
  config.working_dir = "/";
  config.hostname = "task";
  config.entrypoint = {"/bin/sh", "-c"};
  config.cmd = {script};
  config.env = {"PATH=/bin"};
  config.labels = labels();
  config.security_opt = {"no-new-privileges:true"};
  config.memory = config.memory_swap = 64LL << 20;
  config.nano_cpus = 1'000'000'000;
  config.cpu_shares = 256;
  config.pids_limit = 64;
  config.shm_size = 16LL << 20;
  config.oom_score_adj = 500;
  config.ulimits = {{"nofile", 1024, 1024}, {"core", 0, 0}};
  config.tmpfs = {{"/tmp", "rw,nosuid,nodev,exec,size=16m,nr_inodes=1024,mode=1777"}};
  config.dns = {"127.0.0.1"};
  config.dns_search = {"."};
  return config;
}

}  // namespace mayfly::test
