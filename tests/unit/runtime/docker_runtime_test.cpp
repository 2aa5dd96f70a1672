#include "runtime_fixture.hpp"

using namespace mayfly;
using test::kSampleContainer;
using test::kSampleId;
using test::RuntimeFixture;

TEST_CASE("connect tells what the node has and why disk workspaces are not there") {
  RuntimeFixture fixture;
  const Capabilities capabilities = fixture.connect();
  CHECK(capabilities.backend == "docker");
  CHECK(capabilities.engine_version == "20.10.24+dfsg1");
  CHECK(capabilities.adoptable);
  CHECK(capabilities.workspace == WorkspaceStorage::tmpfs);
  CHECK(capabilities.workspace_max == 8_GiB);
  CHECK(capabilities.node_millicpus == 2000);
  CHECK(capabilities.node_memory == 8_GiB);
  REQUIRE(capabilities.notes.size() == 3);
  CHECK(capabilities.notes.back().find("overlay2 on extfs holds no size limit") != std::string::npos);
}

TEST_CASE("connect passes on that nobody answers") {
  RuntimeFixture fixture;
  fixture.engine.fail_once("negotiate", ErrorCode::engine_unreachable);
  const auto connected = fixture.loop.await(fixture.runtime->connect(RuntimeFixture::soon()));
  CHECK(connected.error().code == ErrorCode::engine_unreachable);
  CHECK(fixture.engine.containers.empty());
}

TEST_CASE("C14 connect refuses an unconfined engine before it makes anything there") {
  RuntimeFixture fixture;
  fixture.engine.system.security_options = {"name=seccomp,profile=unconfined"};
  const auto connected = fixture.loop.await(fixture.runtime->connect(RuntimeFixture::soon()));
  CHECK(connected.error().code == ErrorCode::forbidden);
  CHECK(fixture.engine.calls == std::vector<std::string>{"negotiate", "info"});
  CHECK(fixture.create().error().code == ErrorCode::unavailable);
}

TEST_CASE("F37 an image that is not there is named exactly") {
  RuntimeFixture fixture;
  fixture.connect();
  const auto image = fixture.loop.await(fixture.runtime->prepare("python", RuntimeFixture::soon()));
  REQUIRE_FALSE(image);
  CHECK(image.error().code == ErrorCode::not_found);
  CHECK(image.error().message.find("\"python\"") != std::string::npos);
}

TEST_CASE("F37 an empty image name never reaches the engine") {
  RuntimeFixture fixture;
  fixture.connect();
  const auto image = fixture.loop.await(fixture.runtime->prepare("", RuntimeFixture::soon()));
  CHECK(image.error().code == ErrorCode::invalid_argument);
  CHECK(fixture.engine.calls.empty());
}

TEST_CASE("prepare resolves a reference to the image's id") {
  RuntimeFixture fixture;
  fixture.connect();
  const auto image = fixture.loop.await(fixture.runtime->prepare("python:3.12", RuntimeFixture::soon()));
  REQUIRE(image);
  CHECK(image->id == test::kSampleImageId);
  CHECK(image->reference == "python:3.12");
}

TEST_CASE("F13 inspect has no exit code before there is one") {
  RuntimeFixture fixture;
  fixture.connect();
  REQUIRE(fixture.create());
  REQUIRE(fixture.loop.await(fixture.runtime->start(kSampleId, RuntimeFixture::soon())));
  auto status = fixture.loop.await(fixture.runtime->inspect(kSampleId, RuntimeFixture::soon()));
  REQUIRE(status);
  CHECK(status->state == SandboxState::running);
  CHECK_FALSE(status->exit_code);

  fixture.engine.end_container(kSampleContainer, 42, true);
  status = fixture.loop.await(fixture.runtime->wait(kSampleId, RuntimeFixture::soon()));
  REQUIRE(status);
  CHECK(status->state == SandboxState::exited);
  CHECK(status->exit_code == 42);
  CHECK(status->oom_killed);
}

TEST_CASE("inspect of a sandbox that is gone is not found") {
  RuntimeFixture fixture;
  const auto status = fixture.loop.await(fixture.runtime->inspect(kSampleId, RuntimeFixture::soon()));
  CHECK(status.error().code == ErrorCode::not_found);
}

TEST_CASE("a signal to a sandbox that is gone is done and otherwise names the signal") {
  RuntimeFixture fixture;
  fixture.connect();
  CHECK(fixture.loop.await(fixture.runtime->signal(kSampleId, Signal::kill, RuntimeFixture::soon())));
  REQUIRE(fixture.create());
  CHECK(fixture.loop.await(fixture.runtime->signal(kSampleId, Signal::term, RuntimeFixture::soon())));
  CHECK(fixture.engine.called("kill_container " + kSampleContainer + " SIGTERM"));
}

TEST_CASE("more processor is never more than the node has") {
  RuntimeFixture fixture;
  fixture.connect();
  REQUIRE(fixture.create());
  const auto raised_to = [&](std::int64_t millicpus) {
    REQUIRE(fixture.loop.await(fixture.runtime->raise_cpu(kSampleId, millicpus, RuntimeFixture::soon())));
    return fixture.engine.containers.at(kSampleContainer).config.nano_cpus;
  };
  CHECK(raised_to(1500) == 1'500'000'000);
  CHECK(raised_to(64'000) == 2'000'000'000);
}
