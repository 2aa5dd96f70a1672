#include "support/greet_runner.hpp"

#include <array>

#include "async/with_deadline.hpp"
#include "channel/link.hpp"

namespace mayfly::test {
namespace {

Async<channel::Hello> greet(Carrier& carrier, std::string nonce) {
  channel::Link link(channel::Outbox(0, 0, channel::Outbox::Memory::lazy));
  link.begin_epoch(1);
  link.send_newline();
  link.send_plain(channel::kAttach, channel::Attach{nonce, 0}.members());
  const std::string opening(link.output());
  const std::span<const char> text(opening);
  if (auto sent = co_await carrier.write(std::as_bytes(text)); !sent) co_return fail_with(std::move(sent));
  std::array<std::byte, 16384> buffer;
  for (;;) {
    const auto size = co_await carrier.read_some(buffer);
    if (!size) co_return fail_with(size);
    if (*size == 0) co_return fail(ErrorCode::protocol, "the carrier ended before a hello");
    link.feed({reinterpret_cast<const char*>(buffer.data()), *size});
    while (const auto incoming = link.next()) {
      if (incoming->method != channel::kHello) continue;
      auto hello = channel::parse_hello(incoming->body);
      if (hello && hello->nonce == nonce) co_return hello;
    }
  }
}

}  // namespace

Async<channel::Hello> greet_runner(Carrier& carrier, std::string nonce, Deadline deadline) {
  return with_deadline(greet(carrier, std::move(nonce)), deadline, "hello");
}

}  // namespace mayfly::test
