#include "base/ids.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <thread>
#include <vector>

namespace mayfly {
namespace {

TEST_CASE("ids rise in the order in which they were made") {
  std::string before = make_uuid7_base32();
  for (int i = 0; i < 10'000; ++i) {
    std::string next = make_uuid7_base32();
    REQUIRE(before < next);
    before = std::move(next);
  }
}

TEST_CASE("ids made by several threads never repeat") {
  std::vector<std::vector<std::string>> made(4);
  {
    std::vector<std::jthread> threads;
    threads.reserve(made.size());
    for (auto& ids : made) {
      threads.emplace_back([&ids] {
        for (int i = 0; i < 2000; ++i) ids.push_back(make_uuid7_base32());
      });
    }
  }
  std::set<std::string> all;
  for (const auto& ids : made) all.insert(ids.begin(), ids.end());
  CHECK(all.size() == 8000);
}

TEST_CASE("an id is its prefix and 26 base32 characters") {
  const auto id = make_id<TaskId>();
  CHECK(id.str().size() == 30);
  CHECK(id.str().starts_with("tsk_0"));
  CHECK(parse_id<TaskId>(id.str()) == id);
  CHECK_FALSE(parse_id<AttemptId>(id.str()));
  CHECK(TaskId().empty());
}

TEST_CASE("an id bears the version and variant of a UUIDv7") {
  constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  const std::string text = make_uuid7_base32();
  std::string bits;  // two zero bits stand in front of the 128
  for (const char c : text) {
    const std::size_t value = kAlphabet.find(c);
    for (int shift = 4; shift >= 0; --shift)
      bits += (value >> static_cast<unsigned>(shift) & 1U) != 0 ? '1' : '0';
  }
  REQUIRE(bits.size() == 130);
  CHECK(bits.substr(0, 2) == "00");
  CHECK(bits.substr(2 + 48, 4) == "0111");
  CHECK(bits.substr(2 + 64, 2) == "10");
}

TEST_CASE("parse_id refuses whatever could leave a directory") {
  const std::string good = make_id<SandboxId>().str();
  const std::vector<std::string> refused = {"",
                                            "sbx_",
                                            "sbx_../../../../../etc/passwd/",
                                            good + "a",
                                            good.substr(0, 29),
                                            "SBX_" + good.substr(4),
                                            good.substr(0, 29) + "A",
                                            good.substr(0, 29) + "/",
                                            good.substr(0, 29) + "u",
                                            good.substr(0, 29) + "\n",
                                            good.substr(0, 29) + std::string(1, '\0')};
  for (const auto& text : refused) {
    CAPTURE(text);
    const auto parsed = parse_id<SandboxId>(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == ErrorCode::not_found);
  }
}

TEST_CASE("random hex has the length asked for and never repeats") {
  CHECK(make_random_hex(0).empty());
  const std::string text = make_random_hex(32);
  CHECK(text.size() == 64);
  CHECK(text.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(make_random_hex(16) != make_random_hex(16));
}

}  // namespace
}  // namespace mayfly
