#include "base/clock.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/bytes.hpp"
#include "base/utf8.hpp"

namespace mayfly {
namespace {

using namespace std::chrono_literals;

struct Unit {
  std::string_view suffix;
  std::int64_t millis;
};

constexpr std::array<Unit, 5> kUnits{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
// A hundred years: in nanoseconds still far from the end of 64 bits, also when added to the time of day.
constexpr std::int64_t kMostMillis = 36'500 * kUnits.front().millis;

tl::unexpected<Error> refuse_duration(std::string_view text) {
  return fail(ErrorCode::invalid_argument,
              quote_for_message(text) +
                  " is not a duration: write whole numbers with their units d, h, m, s or ms from "
                  "the largest to the smallest, as in \"30s\" or \"1h30m\", at most 36500d");
}

tl::unexpected<Error> refuse_time(std::string_view text) {
  return fail(
      ErrorCode::invalid_argument,
      quote_for_message(text) +
          " is not a time: write it as RFC 3339 does, as in \"2026-11-30T18:40:06.123Z\" or with an offset "
          "such as +02:00 at its end");
}

// Takes from the front; what is not there makes `ok` false for good.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  // Exactly `count` digits.
  int digits(std::size_t count) {
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const bool digit = i < rest_.size() && rest_[i] >= '0' && rest_[i] <= '9';
      ok_ = ok_ && digit;
      if (digit) value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(std::min(count, rest_.size()));
    return value;
  }

  // The same, refused outside of the bounds.
  int digits(std::size_t count, int most) {
    const int value = digits(count);
    ok_ = ok_ && value <= most;
    return value;
  }

  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) { ok_ = take(c) && ok_; }

  // ".123456789" as 123 ms: what is finer is cut off.
  int fraction_millis() {
    if (!take('.')) return 0;
    const std::size_t count = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    ok_ = ok_ && count >= 1 && count <= 9;
    std::string padded(rest_.substr(0, std::min<std::size_t>(count, 3)));
    padded.resize(3, '0');
    rest_.remove_prefix(count);
    return Reader(padded).digits(3);
  }

  // "Z" or "+02:00"; minutes east of Greenwich.
  int offset_minutes() {
    if (take('Z')) return 0;
    const bool west = take('-');
    if (!west) expect('+');
    const int hours = digits(2, 23);
    expect(':');
    const int minutes = hours * 60 + digits(2, 59);
    return west ? -minutes : minutes;
  }

  bool ok_at_end() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

std::string format_in(std::int64_t rest, unsigned chosen) {
  std::string text;
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    if ((chosen >> i & 1U) == 0) continue;
    const std::int64_t count = rest / kUnits[i].millis;
    rest %= kUnits[i].millis;
    if (count != 0) text.append(std::to_string(count)).append(kUnits[i].suffix);
  }
  return rest == 0 ? text : std::string();
}

}  // namespace

WallTime SystemClock::wall() const {
  return std::chrono::floor<Millis>(std::chrono::system_clock::now());
}
MonoTime SystemClock::mono() const {
  return std::chrono::steady_clock::now();
}

void ManualClock::advance(Millis by) {
  wall_ms_ += by.count();
  mono_ns_ += std::chrono::nanoseconds(by).count();
}

std::string format_time(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
                static_cast<int>(clock.subseconds().count()));
  return text.data();
}

Result<WallTime> parse_time(std::string_view text) {
  Reader reader(text);
  const std::chrono::year year(reader.digits(4));
  reader.expect('-');
  const std::chrono::month month(static_cast<unsigned>(reader.digits(2)));
  reader.expect('-');
  const std::chrono::year_month_day date(year, month,
                                         std::chrono::day(static_cast<unsigned>(reader.digits(2))));
  reader.expect('T');
  auto time_of_day = Millis(std::chrono::hours(reader.digits(2, 23)));
  reader.expect(':');
  time_of_day += std::chrono::minutes(reader.digits(2, 59));
  reader.expect(':');
  time_of_day += std::chrono::seconds(reader.digits(2, 59));
  time_of_day += Millis(reader.fraction_millis());
  const std::chrono::minutes offset(reader.offset_minutes());
  if (!reader.ok_at_end() || !date.ok()) return refuse_time(text);
  return WallTime(std::chrono::sys_days(date)) + time_of_day - offset;
}

Result<Millis> parse_duration(std::string_view text) {
  if (text.empty()) return refuse_duration(text);
  std::int64_t total = 0;
  const auto* next_unit = kUnits.begin();
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const std::size_t end = std::min(rest.find_first_of("0123456789", digits), rest.size());
    const auto count = parse_decimal(rest.substr(0, digits));
    const std::string_view suffix = rest.substr(digits, end - digits);
    const auto* unit =
        std::find_if(next_unit, kUnits.end(), [&](const Unit& u) { return u.suffix == suffix; });
    if (!count || unit == kUnits.end()) return refuse_duration(text);
    if (*count > static_cast<std::uint64_t>((kMostMillis - total) / unit->millis))
      return refuse_duration(text);
    total += static_cast<std::int64_t>(*count) * unit->millis;
    next_unit = unit + 1;
    rest.remove_prefix(end);
  }
  return Millis(total);
}

// Few enough sets of units to try them all; one that leaves a rest yields nothing.
std::string format_duration(Millis duration) {
  if (duration == 0ms) return "0s";
  if (duration < 0ms) return "-" + format_duration(-duration);
  std::string shortest = std::to_string(duration.count()) + "ms";
  for (unsigned chosen = 1; chosen < 1U << kUnits.size(); ++chosen) {
    std::string text = format_in(duration.count(), chosen);
    if (!text.empty() && text.size() < shortest.size()) shortest = std::move(text);
  }
  return shortest;
}

}  // namespace mayfly
