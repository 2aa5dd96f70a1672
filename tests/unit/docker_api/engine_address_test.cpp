#include "docker_api/engine_address.hpp"

#include <catch2/catch.hpp>

namespace mayfly::docker {
namespace {

TEST_CASE("an engine's address reads back as it is written") {
  CHECK(format_engine_address(parse_engine_address("").value()) == "unix:///var/run/docker.sock");
  for (const char* text : {"unix:///run/x.sock", "tcp://127.0.0.1:2375", "tcp://[::1]:2375"})
    CHECK(format_engine_address(parse_engine_address(text).value()) == text);
  CHECK(format_engine_address(parse_engine_address("tcp://localhost:1/").value()) == "tcp://127.0.0.1:1");
}

TEST_CASE("an engine's address of another form or off this machine is refused with the accepted forms") {
  for (const char* text :
       {"/var/run/docker.sock", "unix://", "unix://relative", "tcp://127.0.0.1", "tcp://:2375",
        "tcp://127.0.0.1:0", "tcp://127.0.0.1:65536", "tcp://127.0.0.1:x", "tcp://10.0.0.1:2375",
        "tcp://example.com:2375", "tcp://::1:2375", "ssh://host", "http://127.0.0.1:2375",
        "tcp://127.0.0.1:2375/v1.41", "npipe:////./pipe/docker_engine"}) {
    CAPTURE(text);
    const auto refused = parse_engine_address(text);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_argument);
    CHECK_THAT(refused.error().message, Catch::Contains("unix:///"));
  }
  CHECK(parse_engine_address("unix:///" + std::string(106, 'a')));
  CHECK_FALSE(parse_engine_address("unix:///" + std::string(107, 'a')));
}

}  // namespace
}  // namespace mayfly::docker
