// From pipes into the spool, with pipes of the test's own.
#include "runtime-image/runner/output_pump.hpp"

#include <fcntl.h>

#include <catch2/catch.hpp>

using namespace mayfly;
using namespace mayfly::runner;

namespace {

struct Pipes {
  UniqueFd out_read, out_write, err_read, err_write;
  Pipes() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    out_read = UniqueFd(ends[0]);
    out_write = UniqueFd(ends[1]);
    REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    err_read = UniqueFd(ends[0]);
    err_write = UniqueFd(ends[1]);
  }
};

std::size_t fill(const UniqueFd& pipe) {
  const std::string bytes(4096, 'x');
  std::size_t filled = 0;
  while (::write(pipe.get(), bytes.data(), bytes.size()) > 0) filled += bytes.size();
  return filled;
}

channel::Link make_link(std::size_t spool) {
  return channel::Link(channel::Outbox(spool, 64, channel::Outbox::Memory::lazy));
}

}  // namespace

TEST_CASE("both streams are read in turn into numbered messages with their offsets") {
  Pipes pipes;
  REQUIRE(::write(pipes.out_write.get(), "one", 3) == 3);
  REQUIRE(::write(pipes.err_write.get(), "two", 3) == 3);
  OutputPump pump(std::move(pipes.out_read), std::move(pipes.err_read), 0);
  auto link = make_link(1U << 20U);
  const auto progress = pump.pump(link, 4);
  CHECK(progress.moved);
  CHECK(progress.empty);
  REQUIRE(::write(pipes.out_write.get(), "!", 1) == 1);
  pump.pump(link, 4);
  CHECK(link.outbox().next_unsent()->members == "\"s\":1,\"off\":0");
  CHECK(link.outbox().next_unsent()->members == "\"s\":2,\"off\":0");
  CHECK(link.outbox().next_unsent()->members == "\"s\":1,\"off\":3");
  CHECK_FALSE(pump.at_end());
  pipes.out_write.reset();
  pipes.err_write.reset();
  pump.pump(link, 1);
  CHECK(pump.at_end());
  CHECK(pump.bytes_of(channel::OutStream::out) == 4);
}

TEST_CASE("a spool without room leaves the bytes in the pipe and says so") {
  Pipes pipes;
  const std::size_t filled = fill(pipes.out_write);
  OutputPump pump(std::move(pipes.out_read), std::move(pipes.err_read), 0);
  auto link = make_link(64 * 1024);
  auto progress = pump.pump(link, 10);
  CHECK(progress.starved);
  CHECK_FALSE(progress.empty);
  CHECK(link.outbox().has_room(kSpoolReserve));  // the end still fits
  const std::uint64_t before = pump.bytes_of(channel::OutStream::out);
  CHECK(before < filled);
  CHECK_FALSE(pump.pump(link, 1).moved);
  while (pump.bytes_of(channel::OutStream::out) < filled) {
    link.outbox().ack(link.outbox().last_number());
    REQUIRE(pump.pump(link, 1).moved);
  }
  CHECK(pump.pump(link, 1).empty);
}

TEST_CASE("a full spool and an empty pipe is not starving") {
  Pipes pipes;
  OutputPump pump(std::move(pipes.out_read), std::move(pipes.err_read), 0);
  auto link = make_link(16 * 1024);  // never room for a whole piece
  const auto progress = pump.pump(link, 4);
  CHECK_FALSE(progress.starved);
  CHECK(progress.empty);
}

TEST_CASE("what passes the quota is read without needing room") {
  Pipes pipes;
  fill(pipes.out_write);
  OutputPump pump(std::move(pipes.out_read), std::move(pipes.err_read), 10);
  auto link = make_link(64 * 1024);
  pump.pump(link, 1);
  const std::size_t messages = link.outbox().size();
  CHECK(pump.quota().passed());
  while (pump.pump(link, 1).moved) {
  }
  CHECK(link.outbox().size() == messages);
  CHECK(pump.bytes_of(channel::OutStream::out) == 10);
}
