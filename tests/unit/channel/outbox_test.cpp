#include "channel/outbox.hpp"

#include <catch2/catch.hpp>
#include <deque>
#include <random>

using namespace mayfly::channel;

TEST_CASE("the outbox gives messages in order with rising numbers and frees them by acknowledgement") {
  Outbox outbox(1024, 16, Outbox::Memory::touched);
  REQUIRE(outbox.push("out", "\"s\":1", "abc") == 1);
  REQUIRE(outbox.push("out", "", "def") == 2);
  auto first = outbox.next_unsent();
  REQUIRE(first);
  REQUIRE(first->number == 1);
  REQUIRE(first->method == "out");
  REQUIRE(first->members == "\"s\":1");
  REQUIRE(first->payload == "abc");
  REQUIRE(outbox.next_unsent()->payload == "def");
  REQUIRE_FALSE(outbox.next_unsent());
  outbox.rewind();
  REQUIRE(outbox.next_unsent()->number == 1);
  REQUIRE(outbox.ack(1));
  REQUIRE(outbox.next_unsent()->number == 2);
  REQUIRE_FALSE(outbox.ack(7));
  REQUIRE(outbox.ack(2));
  REQUIRE(outbox.size() == 0);
  REQUIRE(outbox.bytes_held() == 0);
}

TEST_CASE("a successor continues the numbering only while nothing is held") {
  Outbox outbox(1024, 4, Outbox::Memory::lazy);
  outbox.continue_after(41);
  REQUIRE(outbox.push("a", "", "") == 42);
  REQUIRE_THROWS_AS(outbox.continue_after(50), std::logic_error);
}

TEST_CASE("the outbox keeps room for the messages that must always fit") {
  Outbox outbox(4096, 8, Outbox::Memory::touched);
  while (outbox.has_room(200, 512, 1)) outbox.push("out", "", std::string(200, 'x'));
  REQUIRE(outbox.size() > 2);
  REQUIRE_NOTHROW(outbox.push("ended", "", std::string(512, 'e')));
}

TEST_CASE("the outbox as a ring loses nothing over a long random run") {
  std::mt19937 random(11);
  Outbox outbox(5000, 64, Outbox::Memory::lazy);
  std::deque<std::pair<std::uint64_t, std::string>> held;
  std::uint64_t sent = 0;
  for (int step = 0; step < 200'000; ++step) {
    const std::size_t size = random() % 700;
    if (random() % 2 == 0 && outbox.has_room(size)) {
      const std::string payload(size, static_cast<char>(random()));
      held.emplace_back(outbox.push("m", "", payload), payload);
    } else if (random() % 3 == 0 && !held.empty()) {
      const std::uint64_t up_to = held.front().first + random() % held.size();
      REQUIRE(outbox.ack(up_to));
      while (!held.empty() && held.front().first <= up_to) held.pop_front();
      sent = std::max(sent, up_to);
    } else if (random() % 50 == 0) {
      outbox.rewind();
      sent = outbox.acknowledged();
    } else if (const auto message = outbox.next_unsent()) {
      REQUIRE(message->number == ++sent);
      const auto& expected = held.at(message->number - held.front().first);
      REQUIRE(message->payload == expected.second);
    }
    REQUIRE(outbox.size() == held.size());
  }
}
