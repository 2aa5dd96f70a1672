#include "runtime_fixture.hpp"

using namespace mayfly;
using test::kSampleContainer;
using test::kSampleId;
using test::kSampleVolume;
using test::RuntimeFixture;

TEST_CASE("destroy removes the container and then the volume and may be called again") {
  RuntimeFixture fixture;
  fixture.connect();
  REQUIRE(fixture.create());
  fixture.engine.calls.clear();
  REQUIRE(fixture.destroy());
  CHECK(fixture.is_clean());
  CHECK(fixture.engine.calls ==
        std::vector<std::string>{"list_containers dev.mayfly.sandbox=" + kSampleId.str(),
                                 "remove_container " + kSampleContainer, "inspect_volume " + kSampleVolume,
                                 "remove_volume " + kSampleVolume});
  CHECK(fixture.destroy());
}

TEST_CASE("destroy of what never was is done") {
  RuntimeFixture fixture;
  CHECK(fixture.destroy(make_id<SandboxId>()));
}

TEST_CASE("destroy asks again when a removal gave no answer or is in progress") {
  const ErrorCode busy = GENERATE(ErrorCode::deadline_exceeded, ErrorCode::conflict);
  RuntimeFixture fixture;
  fixture.connect();
  REQUIRE(fixture.create());
  for (int i = 0; i < 3; ++i) fixture.engine.fail_once("remove_container", busy);
  CHECK(fixture.destroy());
  CHECK(fixture.is_clean());
}

TEST_CASE("destroy waits for a volume that is still in use") {
  RuntimeFixture fixture;
  fixture.connect();
  REQUIRE(fixture.create());
  for (int i = 0; i < 3; ++i) fixture.engine.fail_once("remove_volume", ErrorCode::conflict);
  CHECK(fixture.destroy());
  CHECK(fixture.is_clean());
}

TEST_CASE("destroy reports an engine that went away and can be repeated") {
  RuntimeFixture fixture;
  fixture.connect();
  REQUIRE(fixture.create());
  fixture.engine.fail_once("remove_container", ErrorCode::engine_unreachable);
  CHECK(fixture.destroy().error().code == ErrorCode::engine_unreachable);
  CHECK_FALSE(fixture.is_clean());
  CHECK(fixture.destroy());
  CHECK(fixture.is_clean());
}

TEST_CASE("destroy ends with the engine's words when its deadline comes") {
  RuntimeFixture fixture;
  fixture.connect();
  REQUIRE(fixture.create());
  fixture.engine.fail_once("remove_container", ErrorCode::conflict);
  const auto destroyed =
      fixture.loop.await(fixture.runtime->destroy(kSampleId, Deadline::at(MonoTime::min())));
  CHECK(destroyed.error().code == ErrorCode::conflict);
}

TEST_CASE("destroy removes a container that is listed without its name") {
  RuntimeFixture fixture;
  fixture.connect();
  REQUIRE(fixture.create());
  fixture.engine.containers.at(kSampleContainer).state = "removing";
  CHECK(fixture.list().at(0).ours);
  CHECK(fixture.list().at(0).state == SandboxState::removing);
  CHECK(fixture.destroy());
  CHECK(fixture.is_clean());
}

TEST_CASE("P07 destroy leaves a volume without our signature alone") {
  RuntimeFixture fixture;
  fixture.connect();
  fixture.engine.volumes[kSampleVolume].info = {kSampleVolume, "local", "/x", {}, {}};
  CHECK(fixture.destroy());
  CHECK(fixture.engine.volumes.contains(kSampleVolume));
}

TEST_CASE("list joins container and volume of a sandbox and shows a volume that is left alone") {
  RuntimeFixture fixture;
  fixture.connect();
  REQUIRE(fixture.create());
  auto listing = fixture.list();
  REQUIRE(listing.size() == 1);
  CHECK(listing[0].id == kSampleId);
  CHECK(listing[0].ours);
  CHECK(listing[0].state == SandboxState::created);
  CHECK(listing[0].has_container);
  CHECK(listing[0].has_volume);
  CHECK(listing[0].engine_id == fixture.engine.containers.at(kSampleContainer).id);

  fixture.engine.containers.clear();
  listing = fixture.list();
  REQUIRE(listing.size() == 1);
  CHECK(listing[0].ours);
  CHECK_FALSE(listing[0].has_container);
  CHECK(listing[0].has_volume);
}

TEST_CASE("C16 copied labels never touch the entry of the sandbox they were copied from") {
  RuntimeFixture fixture;
  fixture.connect();
  REQUIRE(fixture.create());
  fixture.engine.add_container("a-copy", fixture.engine.containers.at(kSampleContainer).labels);
  fixture.engine.add_container("z-copy", fixture.engine.containers.at(kSampleContainer).labels);
  const auto listing = fixture.list();
  REQUIRE(listing.size() == 3);
  for (const SandboxListing& entry : listing) {
    const bool is_real = entry.engine_id == fixture.engine.containers.at(kSampleContainer).id;
    CHECK(entry.ours == is_real);
    CHECK(entry.has_volume == is_real);
    CHECK(entry.id == kSampleId);
  }
  CHECK(fixture.destroy());
  CHECK(fixture.engine.containers.size() == 2);
}

TEST_CASE("V07 labels that hold no sandbox id are not listed") {
  RuntimeFixture fixture;
  fixture.engine.add_container("odd", {{"dev.mayfly.sandbox", "../../etc"}});
  CHECK(fixture.list().empty());
}
