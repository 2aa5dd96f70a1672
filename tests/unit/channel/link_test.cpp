#include "channel/link.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "channel/messages.hpp"

using namespace mayfly;
using namespace mayfly::channel;

namespace {

Link make_link() {
  return Link(Outbox(64 * 1024, 128, Outbox::Memory::lazy));
}

std::string drain(Link& link) {
  std::string all;
  while (link.has_output()) {
    const std::string_view part = link.output();
    if (part.empty()) break;
    all.append(part);
    link.wrote(part.size());
  }
  return all;
}

std::vector<std::string> payloads(Link& link) {
  std::vector<std::string> got;
  while (auto incoming = link.next()) got.push_back(incoming->payload);
  return got;
}

struct Pair {
  Link a = make_link();
  Link b = make_link();
  Pair() { open(1); }
  // A new carrier: both ends agree on where the other stands.
  void open(std::uint64_t epoch) {
    a.begin_epoch(epoch);
    b.begin_epoch(epoch);
    const std::uint64_t a_taken = a.taken();
    const std::uint64_t b_taken = b.taken();
    a.resume(b_taken, a_taken);
    b.resume(a_taken, b_taken);
  }
};

}  // namespace

TEST_CASE("numbered messages arrive once and in order") {
  Pair pair;
  for (const char* text : {"one", "two", "three"}) pair.a.send_numbered("out", "", text);
  const std::string wire = drain(pair.a);
  pair.b.feed(wire);
  REQUIRE(payloads(pair.b) == std::vector<std::string>{"one", "two", "three"});
  pair.b.feed(wire);  // the same bytes again
  REQUIRE(payloads(pair.b).empty());
  pair.b.acknowledge(pair.b.taken());
  pair.a.feed(drain(pair.b));
  REQUIRE_FALSE(pair.a.next());
  REQUIRE(pair.a.outbox().size() == 0);
}

TEST_CASE("a lost line is asked for and sent again") {
  Pair pair;
  pair.a.send_numbered("out", "", "one");
  drain(pair.a);  // lost on the way
  pair.a.send_numbered("out", "", "two");
  pair.b.feed(drain(pair.a));
  REQUIRE(payloads(pair.b).empty());
  pair.a.feed(drain(pair.b));  // nack
  REQUIRE_FALSE(pair.a.next());
  pair.b.feed(drain(pair.a));
  REQUIRE(payloads(pair.b) == std::vector<std::string>{"one", "two"});
}

TEST_CASE("a nack acknowledges nothing that its sender has not made safe") {
  Pair pair;
  pair.a.send_numbered("out", "", "one");
  pair.a.send_numbered("out", "", "two");
  pair.b.feed(drain(pair.a));
  REQUIRE(payloads(pair.b) == std::vector<std::string>{"one", "two"});  // taken, and not on disk
  pair.a.send_numbered("out", "", "three");
  drain(pair.a);  // lost on the way
  pair.a.send_numbered("out", "", "four");
  pair.b.feed(drain(pair.a));
  REQUIRE(payloads(pair.b).empty());
  pair.a.feed(drain(pair.b));  // nack
  REQUIRE_FALSE(pair.a.next());
  REQUIRE(pair.a.outbox().size() == 4);
  pair.b.feed(drain(pair.a));
  REQUIRE(payloads(pair.b) == std::vector<std::string>{"three", "four"});
}

TEST_CASE("the last line lost is sent again when no acknowledgement comes for a second") {
  Pair pair;
  pair.a.send_numbered("out", "", "last");
  drain(pair.a);
  pair.a.on_tick(0);
  pair.a.on_tick(500);
  REQUIRE(drain(pair.a).empty());
  pair.a.on_tick(1001);
  pair.b.feed(drain(pair.a));
  REQUIRE(payloads(pair.b) == std::vector<std::string>{"last"});
}

TEST_CASE("lines of another epoch are dropped and only an attach of a higher epoch passes") {
  Pair pair;
  pair.a.send_numbered("out", "", "old");
  const std::string old = drain(pair.a);
  pair.open(2);
  pair.b.feed(old);
  REQUIRE(payloads(pair.b).empty());
  pair.b.feed(drain(pair.a));
  REQUIRE(payloads(pair.b) == std::vector<std::string>{"old"});

  Link newer = make_link();
  newer.begin_epoch(9);
  newer.send_plain(kAttach, Attach{.nonce = "x", .got = 0}.members());
  pair.b.feed(drain(newer));
  const auto attach = pair.b.next();
  REQUIRE(attach);
  REQUIRE(attach->method == kAttach);
  REQUIRE(attach->body["e"] == 9);
}

TEST_CASE("two clients spliced in the middle of a line cost only the broken lines") {
  Pair pair;
  pair.a.send_numbered("out", "", std::string(2000, 'a'));
  pair.a.send_numbered("out", "", std::string(2000, 'b'));
  const std::string wire = drain(pair.a);
  Link stranger = make_link();
  stranger.begin_epoch(1);
  stranger.send_plain("out", "", std::string(500, 's'));
  const std::string foreign = drain(stranger);
  pair.b.feed(wire.substr(0, 1000) + foreign.substr(0, 300) + wire.substr(1000) + foreign.substr(300));
  (void)payloads(pair.b);
  for (std::int64_t now = 0; now < 10'000 && pair.a.outbox().size() > 0; now += 600) {
    pair.a.on_tick(now);
    pair.b.feed(drain(pair.a));
    (void)payloads(pair.b);
    pair.b.acknowledge(pair.b.taken());
    pair.b.on_tick(now);
    pair.a.feed(drain(pair.b));
    (void)payloads(pair.a);
  }
  REQUIRE(pair.b.taken() == 2);
}

TEST_CASE("a stream over a carrier that loses and repeats and breaks lines arrives exactly once") {
  std::mt19937 random(23);
  Pair pair;
  std::uint64_t epoch = 1;
  std::string sent;
  std::string got;
  int pieces = 0;
  const auto carry = [&](Link& from, Link& to) {
    std::string wire = drain(from);
    const auto luck = random() % 10;
    if (luck == 0 && !wire.empty()) wire.resize(random() % wire.size());
    if (luck == 1) wire += wire;
    if (luck == 2 && !wire.empty()) wire[random() % wire.size()] ^= 0x15;
    if (luck == 3) wire = "half a line of a dead client" + wire;
    to.feed(wire);
  };
  for (std::int64_t now = 0; pieces < 2000 || pair.a.outbox().size() > 0; now += 300) {
    REQUIRE(now < 100'000'000);
    if (pieces < 2000 && pair.a.outbox().has_room(300)) {
      const std::string piece(1 + random() % 299, static_cast<char>(random()));
      pair.a.send_numbered("out", "", piece);
      sent += piece;
      ++pieces;
    }
    if (random() % 40 == 0) pair.open(++epoch);
    carry(pair.a, pair.b);
    for (const std::string& piece : payloads(pair.b)) got += piece;
    pair.b.acknowledge(pair.b.taken());
    carry(pair.b, pair.a);
    (void)payloads(pair.a);
    pair.a.on_tick(now);
    pair.b.on_tick(now);
  }
  REQUIRE(got == sent);
}

TEST_CASE("a new orchestrator continues the numbers where the runner stands") {
  Link link = make_link();
  link.begin_epoch(5);
  link.resume(17, 3);
  REQUIRE(link.send_numbered("stop", "") == 18);
  REQUIRE(link.taken() == 3);
}

TEST_CASE("a writer that never catches up does not make the wire grow") {
  Pair pair;
  std::size_t longest = 0;
  for (int i = 0; i < 5000; ++i) {
    pair.a.send_plain("ping", "", std::string(100, 'x'));
    const std::string_view wire = pair.a.output();
    longest = std::max(longest, wire.size());
    pair.a.wrote(wire.size() > 150 ? wire.size() - 20 : 0);
  }
  REQUIRE(longest < 4096);
}
