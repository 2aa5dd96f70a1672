#include "runtime/docker/engine_facts.hpp"

#include <catch2/catch.hpp>

#include "fake_engine_client.hpp"

using namespace mayfly;
using namespace mayfly::docker;

namespace {

Result<EngineFacts> assess_with(std::vector<std::string> security_options) {
  test::FakeEngineClient engine;
  engine.system.security_options = std::move(security_options);
  return assess_engine(engine.version, engine.system);
}

}  // namespace

TEST_CASE("an ordinary engine is assessed with its processors and its cgroups") {
  test::FakeEngineClient engine;
  engine.system.cgroup_version = "2";
  engine.system.processors = 12;
  const auto facts = assess_engine(engine.version, engine.system);
  REQUIRE(facts);
  CHECK(facts->cgroup_version == 2);
  CHECK(facts->processors == 12);
  CHECK(facts->memory == 8_GiB);
  CHECK_FALSE(facts->apparmor);
  CHECK(facts->seccomp_profile.starts_with("{"));
}

TEST_CASE("C14 an engine without seccomp is refused") {
  for (const auto& options : {std::vector<std::string>{}, {"name=apparmor"}, {"name=seccompx"}}) {
    const auto facts = assess_with(options);
    REQUIRE_FALSE(facts);
    CHECK(facts.error().code == ErrorCode::forbidden);
  }
}

TEST_CASE("C14 an engine that runs everything unconfined is refused") {
  const auto facts = assess_with({"name=seccomp,profile=unconfined"});
  REQUIRE_FALSE(facts);
  CHECK(facts.error().code == ErrorCode::forbidden);
  CHECK(facts.error().message.find("seccomp-profile=unconfined") != std::string::npos);
}

TEST_CASE("C14 seccomp profiles of old and new engines are taken") {
  CHECK(assess_with({"name=seccomp,profile=default"}));
  CHECK(assess_with({"name=seccomp,profile=builtin"}));
  CHECK(assess_with({"name=seccomp"}));
  const auto with_apparmor = assess_with({"name=apparmor", "name=seccomp,profile=builtin", "name=cgroupns"});
  REQUIRE(with_apparmor);
  CHECK(with_apparmor->apparmor);
}

TEST_CASE("C14 an old engine gets the advisory's id as a note and is not refused") {
  const auto notes = list_advisories("20.10.24+dfsg1");
  REQUIRE(notes.size() == 2);
  CHECK(notes[0].find("CVE-2024-21626") != std::string::npos);
  CHECK(notes[1].find("CVE-2025-31133") != std::string::npos);
  CHECK(list_advisories("24.0.8").size() == 2);
  CHECK(list_advisories("24.0.9").size() == 1);
  CHECK(list_advisories("25.0.1").size() == 2);
  CHECK(list_advisories("25.0.2").size() == 1);
  CHECK(list_advisories("28.5.2").empty());
  CHECK(list_advisories("29.0.0-rc.1").empty());
}

TEST_CASE("an engine of another system or processor is refused") {
  test::FakeEngineClient engine;
  engine.version.arch = "s390x";
  CHECK(assess_engine(engine.version, engine.system).error().code == ErrorCode::forbidden);
  engine.version.arch = "amd64";
  engine.version.os = "windows";
  CHECK(assess_engine(engine.version, engine.system).error().code == ErrorCode::forbidden);
}
