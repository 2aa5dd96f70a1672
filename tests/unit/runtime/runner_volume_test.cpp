#include "base/digest.hpp"
#include "runtime_fixture.hpp"

using namespace mayfly;
using test::RuntimeFixture;

namespace {

std::string volume_name() {
  return "mayfly-runner-" + sha256_hex("#!static runner").substr(0, 32);
}

Result<Capabilities> try_connect(RuntimeFixture& fixture) {
  return fixture.loop.await(fixture.runtime->connect(RuntimeFixture::soon()));
}

std::string used_volume(RuntimeFixture& fixture) {
  REQUIRE(fixture.create());
  return fixture.engine.containers.at(test::kSampleContainer).config.mounts.at(0).volume;
}

bool was_filled(const RuntimeFixture& fixture) {
  return std::any_of(fixture.engine.calls.begin(), fixture.engine.calls.end(),
                     [](const std::string& call) { return call.starts_with("put_archive"); });
}

void put_file(RuntimeFixture& fixture, const std::string& volume, const std::string& content) {
  const docker::Labels labels{{"dev.mayfly.runner", sha256_hex("#!static runner")}};
  fixture.engine.volumes[volume].info = {volume, "local", "/x", {}, labels};
  fixture.engine.volumes[volume].files = {{test::TarEntry::Kind::file, "runner", content, 0555, 0}};
}

}  // namespace

TEST_CASE("the runner's volume is named by its content and filled through a container that never starts") {
  RuntimeFixture fixture;
  REQUIRE(try_connect(fixture));
  CHECK(was_filled(fixture));
  const auto& files = fixture.engine.volumes.at(volume_name()).files;
  REQUIRE(files.size() == 1);
  CHECK(files[0].content == "#!static runner");
  CHECK(files[0].mode == 0555);
  CHECK(fixture.engine.containers.empty());
  for (const std::string& call : fixture.engine.calls) CHECK_FALSE(call.starts_with("start_container"));
  CHECK(used_volume(fixture) == volume_name());
}

TEST_CASE("the runner's volume is read back at each connect and filled once") {
  RuntimeFixture fixture;
  REQUIRE(try_connect(fixture));
  fixture.connect();
  REQUIRE(try_connect(fixture));
  CHECK_FALSE(was_filled(fixture));
  CHECK_FALSE(fixture.engine.called("import_image mayfly/helper:1"));
}

TEST_CASE("a volume of the runner's name with other content is passed over and left as it is") {
  RuntimeFixture fixture;
  put_file(fixture, volume_name(), "#!evil  runner!");
  REQUIRE(try_connect(fixture));
  CHECK(fixture.engine.volumes.at(volume_name()).files.at(0).content == "#!evil  runner!");
  CHECK(used_volume(fixture) == volume_name() + "-2");
}

TEST_CASE("P07 a volume of the runner's name that mounts a host path is passed over unread") {
  RuntimeFixture fixture;
  fixture.engine.volumes[volume_name()].info = {
      volume_name(), "local", "/x", {{"type", "none"}, {"o", "bind"}, {"device", "/etc"}}, {}};
  REQUIRE(try_connect(fixture));
  CHECK(used_volume(fixture) == volume_name() + "-2");
}

TEST_CASE("three squatted names refuse the connection with words") {
  RuntimeFixture fixture;
  for (const char* suffix : {"", "-2", "-3"}) put_file(fixture, volume_name() + suffix, "#!evil  runner!");
  const auto connected = try_connect(fixture);
  REQUIRE_FALSE(connected);
  CHECK(connected.error().code == ErrorCode::forbidden);
  CHECK(connected.error().message.find(volume_name()) != std::string::npos);
  CHECK(fixture.engine.containers.empty());
}

TEST_CASE("a volume that is larger than the runner is passed over") {
  RuntimeFixture fixture;
  put_file(fixture, volume_name(), std::string(3 << 20, 'x'));
  REQUIRE(try_connect(fixture));
  CHECK(used_volume(fixture) == volume_name() + "-2");
}

TEST_CASE("an engine that keeps other bytes than it was given is refused") {
  RuntimeFixture fixture;
  REQUIRE(try_connect(fixture));
  fixture.engine.volumes.at(volume_name()).files.at(0).content[0] = '?';
  REQUIRE(try_connect(fixture));
  CHECK(used_volume(fixture) == volume_name() + "-2");
}

TEST_CASE("a runner's volume that was pruned is made again before the next sandbox") {
  RuntimeFixture fixture;
  REQUIRE(try_connect(fixture));
  fixture.engine.volumes.clear();
  CHECK(used_volume(fixture) == volume_name());
  CHECK(fixture.engine.volumes.at(volume_name()).files.size() == 1);
}

TEST_CASE("an empty volume that the engine made by itself is not taken for the runner's") {
  RuntimeFixture fixture;
  REQUIRE(try_connect(fixture));
  fixture.engine.volumes.clear();
  fixture.engine.volumes[volume_name()].info = {volume_name(), "local", "/x", {}, {}};
  CHECK(used_volume(fixture) == volume_name() + "-2");
}

TEST_CASE("volumes of earlier runners are removed when nobody uses them and only if they are ours") {
  RuntimeFixture fixture;
  REQUIRE(try_connect(fixture));
  put_file(fixture, "mayfly-runner-foreign", "x");
  fixture.engine.volumes["mayfly-runner-foreign"].info.labels = {{"dev.mayfly.runner", "x"}};
  std::ofstream(fixture.runner_path()) << "#!newer runner";
  REQUIRE(try_connect(fixture));
  CHECK_FALSE(fixture.engine.volumes.contains(volume_name()));
  CHECK(fixture.engine.volumes.contains("mayfly-runner-foreign"));
}

TEST_CASE("a helper container that a killed process left is removed once it has expired") {
  RuntimeFixture fixture;
  docker::LabelContent content{docker::ObjectKind::helper_container, "mayfly-helper-old", "mayfly-helper-old",
                               "x", fixture.clock.wall() + std::chrono::minutes(10)};
  fixture.engine.add_container("mayfly-helper-old",
                               docker::make_labels(test::sample_installation(), content));
  fixture.engine.add_container("a-copy", docker::make_labels(test::sample_installation(), content));
  REQUIRE(try_connect(fixture));
  CHECK(fixture.engine.containers.size() == 2);
  fixture.clock.advance(std::chrono::minutes(10));
  REQUIRE(try_connect(fixture));
  CHECK(fixture.engine.containers.size() == 1);
  CHECK(fixture.engine.containers.contains("a-copy"));
}

TEST_CASE("a runner binary that is not there is named") {
  RuntimeFixture fixture;
  std::filesystem::remove(fixture.runner_path());
  const auto connected = try_connect(fixture);
  REQUIRE_FALSE(connected);
  CHECK(connected.error().message.find(fixture.runner_path()) != std::string::npos);
}
