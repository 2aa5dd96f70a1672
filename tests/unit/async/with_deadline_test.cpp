#include "async/with_deadline.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/system/system_error.hpp>
#include <catch2/catch.hpp>
#include <memory>
#include <stdexcept>

#include "support/io_loop.hpp"

namespace mayfly {
namespace {

using test::IoLoop;

const auto kFar = std::chrono::hours(1);

Async<std::unique_ptr<int>> answer_at_once() {
  co_return std::make_unique<int>(42);
}

Async<int> refuse() {
  co_return fail(ErrorCode::not_found, "no such thing");
}

Async<int> throw_a_bug() {
  throw std::logic_error("a bug");
  co_return 1;
}

Async<int> hang(bool& cleaned_up) {
  struct CleanUp {
    bool& done;
    ~CleanUp() { done = true; }
  } clean_up{cleaned_up};
  co_await sleep_until(Deadline::never());
  co_return 1;
}

TEST_CASE("with_deadline returns what the operation returns") {
  IoLoop loop;
  auto value = loop.await(with_deadline(answer_at_once(), Deadline::in(kFar), "answer"));
  REQUIRE(value.has_value());
  CHECK(**value == 42);
  CHECK(loop.await(with_deadline(answer_at_once(), Deadline::never(), "answer")).has_value());
  const auto refused = loop.await(with_deadline(refuse(), Deadline::in(kFar), "refuse"));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::not_found);
}

TEST_CASE("with_deadline cancels a slow operation and awaits its end") {
  IoLoop loop;
  bool cleaned_up = false;
  const auto result = loop.await(with_deadline(hang(cleaned_up), Deadline::in(Millis(1)), "inspect of x"));
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().code == ErrorCode::deadline_exceeded);
  CHECK(result.error().message.find("inspect of x") != std::string::npos);
  CHECK(cleaned_up);
}

TEST_CASE("with_deadline that has passed already still ends the operation") {
  IoLoop loop;
  bool cleaned_up = false;
  const auto result = loop.await(with_deadline(hang(cleaned_up), Deadline::at(MonoTime{}), "late"));
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().code == ErrorCode::deadline_exceeded);
  CHECK(cleaned_up);
}

// The far deadline would hang the test (and time it out) if the exception were held back until then.
TEST_CASE("with_deadline passes an exception of the operation on at once") {
  IoLoop loop;
  CHECK_THROWS_AS(loop.await(with_deadline(throw_a_bug(), Deadline::in(kFar), "bug")), std::logic_error);
}

TEST_CASE("with_deadline throws operation_aborted when its caller is cancelled") {
  IoLoop loop;
  bool cleaned_up = false;
  std::exception_ptr thrown;
  asio::cancellation_signal cancel;
  auto on_end = [&thrown](std::exception_ptr failure, const Result<int>&) { thrown = failure; };
  asio::co_spawn(loop.context(), with_deadline(hang(cleaned_up), Deadline::in(kFar), "cancelled"),
                 asio::bind_cancellation_slot(cancel.slot(), on_end));
  loop.poll();
  CHECK_FALSE(cleaned_up);
  cancel.emit(asio::cancellation_type::terminal);
  loop.poll();
  CHECK(cleaned_up);
  REQUIRE(thrown);
  try {
    std::rethrow_exception(thrown);
  } catch (const boost::system::system_error& error) {
    CHECK(error.code() == asio::error::operation_aborted);
  }
}

TEST_CASE("deadline within takes the earlier end") {
  const auto now = std::chrono::steady_clock::now();
  const auto soon = Deadline::at(now + std::chrono::seconds(1));
  CHECK(soon.within(kFar).when() == soon.when());
  CHECK(Deadline::never().within(kFar).when() < MonoTime::max());
  CHECK(Deadline::never().is_never());
  CHECK(Deadline::at(now).passed());
  CHECK_FALSE(Deadline::never().passed());
}

}  // namespace
}  // namespace mayfly
