#include "channel/messages.hpp"

#include <catch2/catch.hpp>

using namespace mayfly;
using namespace mayfly::channel;

namespace {

Json body(const std::string& members) {
  return Json::parse("{\"e\":1," + members + "}");
}

}  // namespace

TEST_CASE("a hello round trips") {
  Hello hello;
  hello.nonce = "abc";
  hello.protocol = 1;
  hello.build = "0.1.0";
  hello.instance = "0011";
  hello.state = RunnerState::running;
  hello.attempt = "att_x";
  hello.got = 4;
  hello.sent = 9;
  hello.acked = 7;
  hello.self.uid = 65532;
  hello.self.interfaces = {"lo"};
  hello.self.cap_effective = "0000000000000000";
  const auto parsed = parse_hello(body(hello.members()));
  REQUIRE(parsed);
  REQUIRE(parsed->state == RunnerState::running);
  REQUIRE(parsed->self.interfaces == std::vector<std::string>{"lo"});
  REQUIRE(parsed->sent == 9);
  REQUIRE(parsed->acked == 7);
}

TEST_CASE("every message with a member missing or of a wrong type is refused by name") {
  REQUIRE(parse_attach(body(R"("nonce":"x","got":1)")));
  REQUIRE_FALSE(parse_attach(body(R"("nonce":"x")")));
  REQUIRE_FALSE(parse_attach(body(R"("nonce":"x","got":-1)")));
  REQUIRE_FALSE(parse_attach(body(R"("nonce":7,"got":1)")));
  REQUIRE_FALSE(parse_out(body(R"("s":3,"off":0)")));
  REQUIRE_FALSE(parse_stop(body(R"("reason":"because","kill":false,"grace_ms":1)")));
  const auto ended = parse_ended(body(R"("exit":1,"signal":9,"cause":"none")"));
  REQUIRE_FALSE(ended);
  REQUIRE(ended.error().code == ErrorCode::protocol);
  REQUIRE_FALSE(parse_hello(Json::array()));
}

TEST_CASE("F35 a bind spec carries bytes that are no text") {
  BindSpec spec;
  spec.argv = {"/bin/echo", std::string("\xff\xfe", 2), "line\nline", ""};
  spec.env = {
      {"PEM", "-----BEGIN-----\nabc\n"}, {"EMPTY", ""}, {"EQ", "a=b=c"}, {"RAW", std::string("\x80", 1)}};
  spec.working_dir = "/workspace/sub";
  spec.run_ms = 600'000;
  spec.truncate_log = true;
  const auto parsed = parse_bind_spec(dump_bind_spec(spec));
  REQUIRE(parsed);
  REQUIRE(*parsed == spec);
}

TEST_CASE("a bind spec with both or neither of argv and script is refused") {
  BindSpec spec;
  REQUIRE_FALSE(parse_bind_spec(dump_bind_spec(spec)));
  spec.script = true;
  REQUIRE(parse_bind_spec(dump_bind_spec(spec)));
  spec.argv = {"x"};
  REQUIRE_FALSE(parse_bind_spec(dump_bind_spec(spec)));
}

TEST_CASE("an end round trips with its cause and its counters") {
  Ended ended;
  ended.end = {.exit_code = std::nullopt, .signal = 9, .cause = Reason::run_timeout, .oom_killed_main = true};
  ended.usage.memory_peak_bytes = 123;
  ended.out_bytes = 1U << 30U;
  ended.message = "over its time";
  const auto parsed = parse_ended(body(ended.members()));
  REQUIRE(parsed);
  REQUIRE(parsed->end == ended.end);
  REQUIRE(parsed->usage == ended.usage);
  REQUIRE(parsed->out_bytes == ended.out_bytes);
}

TEST_CASE("file names that are no text travel too") {
  FilesPage page;
  page.files = {{.path = std::string("out/\xff.bin"), .size = 3, .mode = 0600},
                {.path = "a b\nc", .size = 0, .mode = 0644}};
  page.skipped = {"link"};
  page.more = true;
  const auto parsed = parse_files_page(body(page.members()));
  REQUIRE(parsed);
  REQUIRE(parsed->files.at(0).path == page.files.at(0).path);
  REQUIRE(parsed->files.at(1).path == page.files.at(1).path);
  REQUIRE(parsed->skipped == page.skipped);
}
