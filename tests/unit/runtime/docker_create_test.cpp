#include "runtime_fixture.hpp"

using namespace mayfly;
using test::kSampleContainer;
using test::kSampleVolume;
using test::RuntimeFixture;
using test::sample_spec;
using Effect = test::FakeEngineClient::Effect;

namespace {

// A runtime of this installation that has already made the sandbox.
void create_by_another_process(RuntimeFixture& fixture) {
  REQUIRE(fixture.create());
  fixture.engine.calls.clear();
}

}  // namespace

TEST_CASE("create makes the volume first then the container and compares it") {
  RuntimeFixture fixture;
  fixture.connect();
  const auto id = fixture.create();
  REQUIRE(id);
  const std::string runner = fixture.engine.containers.at(kSampleContainer).config.mounts.at(0).volume;
  CHECK(fixture.engine.calls == std::vector<std::string>{"inspect_volume " + runner,
                                                         "create_volume " + kSampleVolume,
                                                         "create_container " + kSampleContainer,
                                                         "inspect_container " + kSampleContainer});
  CHECK(fixture.engine.containers.at(kSampleContainer).id == *id);
  CHECK(fixture.engine.containers.at(kSampleContainer).config.mounts.at(0).read_only);
}

TEST_CASE("create before the engine was reached is refused as unavailable") {
  RuntimeFixture fixture;
  CHECK(fixture.create().error().code == ErrorCode::unavailable);
  CHECK(fixture.engine.calls.empty());
}

TEST_CASE("Y04 a sandbox without limits is never created") {
  RuntimeFixture fixture;
  fixture.connect();
  SandboxSpec spec = sample_spec();
  spec.granted.pids = 0;
  CHECK(fixture.create(spec).error().code == ErrorCode::invalid_argument);
  CHECK_FALSE(fixture.engine.called("create_volume " + kSampleVolume));
  CHECK(fixture.is_clean());
}

TEST_CASE("C13 a warning of the engine is a failure and the container is deleted") {
  RuntimeFixture fixture;
  fixture.connect();
  fixture.engine.create_warnings = {"Your kernel does not support swap limit capabilities"};
  const auto created = fixture.create();
  REQUIRE_FALSE(created);
  CHECK(created.error().code == ErrorCode::forbidden);
  CHECK(created.error().message.find("swap limit") != std::string::npos);
  CHECK(fixture.is_clean());
}

TEST_CASE("C13 a warning that the policy names is accepted and no other one") {
  RuntimeFixture fixture({"swap limit", ""});
  fixture.connect();
  fixture.engine.create_warnings = {"Your kernel does not support swap limit capabilities"};
  REQUIRE(fixture.create());
  REQUIRE(fixture.destroy());
  fixture.engine.create_warnings.push_back("something else");
  CHECK(fixture.create().error().code == ErrorCode::forbidden);
  CHECK(fixture.is_clean());
}

TEST_CASE("C13 a pids limit that the engine dropped deletes the container and names the field") {
  RuntimeFixture fixture;
  fixture.connect();
  fixture.engine.tamper_inspect = [](Json& raw) { raw["HostConfig"]["PidsLimit"] = nullptr; };
  const auto created = fixture.create();
  REQUIRE_FALSE(created);
  CHECK(created.error().code == ErrorCode::forbidden);
  CHECK(created.error().message.find("HostConfig.PidsLimit: wanted 132, found null") != std::string::npos);
  CHECK(fixture.is_clean());
}

TEST_CASE("C13 swap that the engine made larger deletes the container") {
  RuntimeFixture fixture;
  fixture.connect();
  fixture.engine.tamper_inspect = [](Json& raw) { raw["HostConfig"]["MemorySwap"] = -1; };
  CHECK(fixture.create().error().code == ErrorCode::forbidden);
  CHECK(fixture.is_clean());
}

TEST_CASE("a container that cannot be inspected after create is deleted") {
  RuntimeFixture fixture;
  fixture.connect();
  fixture.engine.fail_once("inspect_container", ErrorCode::protocol);
  CHECK(fixture.create().error().code == ErrorCode::protocol);
  CHECK(fixture.is_clean());
}

TEST_CASE("P07 a squatted volume with bind options is refused and left alone") {
  RuntimeFixture fixture;
  fixture.connect();
  fixture.engine.volumes[kSampleVolume].info = {
      kSampleVolume, "local", "/x", {{"type", "none"}, {"o", "bind"}, {"device", "/etc"}}, {}};
  const auto created = fixture.create();
  REQUIRE_FALSE(created);
  CHECK(created.error().code == ErrorCode::forbidden);
  CHECK_FALSE(fixture.engine.called("create_container " + kSampleContainer));
  CHECK(fixture.engine.volumes.contains(kSampleVolume));
}

TEST_CASE("P07 a squatted volume with our options but without our signature is refused") {
  RuntimeFixture fixture;
  fixture.connect();
  REQUIRE(fixture.create());
  REQUIRE(fixture.engine.containers.erase(kSampleContainer) == 1);
  fixture.engine.volumes[kSampleVolume].info.labels.clear();
  CHECK(fixture.create().error().code == ErrorCode::forbidden);
  CHECK_FALSE(fixture.engine.containers.contains(kSampleContainer));
}

TEST_CASE("F16 E11 a create whose answer was cut is looked for and removed") {
  const ErrorCode cut =
      GENERATE(ErrorCode::engine_unreachable, ErrorCode::deadline_exceeded, ErrorCode::protocol);
  RuntimeFixture fixture;
  fixture.connect();
  fixture.engine.fail_once("create_container", cut, Effect::done);
  CHECK(fixture.create().error().code == cut);
  CHECK(fixture.is_clean());
}

TEST_CASE("F16 E11 a dropped create that completes only later is waited for and removed") {
  RuntimeFixture fixture;
  fixture.connect();
  fixture.engine.fail_once("create_container", ErrorCode::deadline_exceeded, Effect::done);
  fixture.engine.hidden_looks_after_create = 4;
  CHECK(fixture.create().error().code == ErrorCode::deadline_exceeded);
  CHECK(fixture.is_clean());
}

TEST_CASE("F16 E11 a dropped create that is listed before its name is known is removed") {
  RuntimeFixture fixture;
  fixture.connect();
  fixture.engine.fail_once("create_container", ErrorCode::deadline_exceeded, Effect::done);
  fixture.engine.nameless_removals_after_create = 3;
  CHECK(fixture.create().error().code == ErrorCode::deadline_exceeded);
  CHECK(fixture.is_clean());
}

TEST_CASE("F16 a cut create of the volume leaves no volume") {
  RuntimeFixture fixture;
  fixture.connect();
  fixture.engine.fail_once("create_volume", ErrorCode::engine_refused, Effect::done);
  CHECK(fixture.create().error().code == ErrorCode::engine_refused);
  CHECK(fixture.is_clean());
}

TEST_CASE("a create that the engine refuses leaves no volume") {
  RuntimeFixture fixture;
  fixture.connect();
  fixture.engine.fail_once("create_container", ErrorCode::engine_refused);
  CHECK(fixture.create().error().code == ErrorCode::engine_refused);
  CHECK(fixture.is_clean());
}

TEST_CASE("F37 an image that went away before create is named and never taken for a vanished container") {
  RuntimeFixture fixture;
  fixture.connect();
  fixture.engine.images.erase(test::kSampleImageId);
  const auto created = fixture.create();
  REQUIRE_FALSE(created);
  CHECK(created.error().code == ErrorCode::not_found);
  CHECK(created.error().message.find("\"python:3.12\"") != std::string::npos);
  CHECK(created.error().message.find("no longer on the engine") != std::string::npos);
  CHECK(fixture.is_clean());
}

TEST_CASE("a second create of the same sandbox adopts what the first made") {
  RuntimeFixture fixture;
  fixture.connect();
  const auto first = fixture.create();
  fixture.clock.advance(std::chrono::minutes(5));  // so the label that tells when it expires would be another
  CHECK(fixture.create().value() == first.value());
  CHECK(fixture.engine.containers.size() == 1);
}

TEST_CASE("a conflict while the other create is in progress is waited for and adopted") {
  RuntimeFixture fixture;
  fixture.connect();
  const auto first = fixture.create();
  fixture.engine.containers.at(kSampleContainer).hidden_looks = 3;
  CHECK(fixture.create().value() == first.value());
}

TEST_CASE("C16 a foreign container with the sandbox's name is a conflict and left alone") {
  RuntimeFixture fixture;
  fixture.connect();
  fixture.engine.add_container(kSampleContainer, {{"dev.mayfly.sandbox", test::kSampleId.str()}});
  CHECK(fixture.create().error().code == ErrorCode::conflict);
  CHECK(fixture.engine.containers.contains(kSampleContainer));
  CHECK(fixture.destroy());
  CHECK(fixture.engine.containers.contains(kSampleContainer));
  CHECK_FALSE(fixture.engine.volumes.contains(kSampleVolume));
}

TEST_CASE("a container of ours with another configuration is a conflict that says what differs") {
  RuntimeFixture fixture;
  fixture.connect();
  create_by_another_process(fixture);
  fixture.engine.containers.at(kSampleContainer).config.pids_limit = 7;
  const auto created = fixture.create();
  REQUIRE_FALSE(created);
  CHECK(created.error().code == ErrorCode::conflict);
  CHECK(created.error().message.find("PidsLimit") != std::string::npos);
  CHECK(fixture.engine.containers.contains(kSampleContainer));
}

TEST_CASE("labels of the image cannot take the place of ours") {
  RuntimeFixture fixture;
  fixture.connect();
  fixture.engine.image_labels = {
      {"dev.mayfly.signature", "forged"}, {"dev.mayfly.sandbox", "other"}, {"maintainer", "x"}};
  REQUIRE(fixture.create());
  const auto listing = fixture.list();
  REQUIRE(listing.size() == 1);
  CHECK(listing[0].ours);
}
