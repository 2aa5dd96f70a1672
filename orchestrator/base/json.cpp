#include "base/json.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "base/utf8.hpp"

namespace mayfly {
namespace {

// Walks the text for nlohmann's lexer and records how far it came, which the SAX events do not tell.
class TrackedIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TrackedIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  TrackedIterator& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  TrackedIterator operator++(int) {
    const TrackedIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const TrackedIterator& a, const TrackedIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  const char** reached_;
};

// The first pass: hears the parser's events, keeps one set of keys an open object, and builds nothing.
class Checker {
 public:
  Checker(std::string_view text, const JsonLimits& limits)
      : text_(text), limits_(limits), reached_(text.data()) {}

  std::optional<Error> check() {
    const TrackedIterator first(text_.data(), &reached_);
    const TrackedIterator last(text_.data() + text_.size(), &reached_);
    Json::sax_parse(first, last, this);
    return std::move(error_);
  }

  bool null() { return count_value(); }
  bool boolean(bool) { return count_value(); }
  bool number_integer(Json::number_integer_t) { return count_value(); }
  bool number_unsigned(Json::number_unsigned_t) { return count_value(); }
  bool number_float(Json::number_float_t, const std::string& token) {
    // An integer beyond 64 bits arrives here too: as a double it would silently be another number.
    if (token.find_first_of(".eE") == std::string::npos) return refuse("an integer does not fit in 64 bits");
    return count_value();
  }
  bool string(std::string&) { return count_value(); }
  bool binary(Json::binary_t&) { return refuse("binary values have no text form"); }

  bool start_object(std::size_t) { return open(); }
  bool start_array(std::size_t) { return open(); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    if (open_.back().contains(name))
      return refuse("the key " + quote_for_message(name) + " stands twice in an object");
    open_.back().insert(std::move(name));
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception& error) {
    constexpr int kNumberOverflow = 406;  // documented ids of nlohmann's exceptions
    if (error.id == kNumberOverflow) return refuse("a number is too large for a 64-bit float");
    reached_ = text_.data() + std::min(position, text_.size());
    return refuse(reason_in(error.what()));
  }

 private:
  // "[…] parse error at line 1, column 3: syntax error while parsing value - REASON; last read: '…'": only
  // the reason is passed on; what was last read may be long, and a secret.
  static std::string reason_in(std::string_view what) {
    constexpr std::string_view kBefore = " - ";
    constexpr std::string_view kAfter = "; last read:";
    const std::size_t before = what.find(kBefore);
    if (before != std::string_view::npos) what.remove_prefix(before + kBefore.size());
    return std::string(what.substr(0, what.find(kAfter)));
  }

  bool refuse(const std::string& reason) {
    const auto offset = static_cast<std::size_t>(reached_ - text_.data());
    const auto line = 1 + std::count(text_.data(), reached_, '\n');
    error_ = Error{.code = ErrorCode::invalid_argument,
                   .message = "invalid JSON at byte " + std::to_string(offset) + " (line " +
                              std::to_string(line) + "): " + reason};
    return false;
  }

  bool count_value() {
    if (open_.empty() || ++values_ <= limits_.values) return true;
    return refuse("more than " + std::to_string(limits_.values) + " members and elements");
  }

  bool open() {
    if (!count_value()) return false;
    if (open_.size() == limits_.depth) {
      return refuse("objects and arrays are nested deeper than " + std::to_string(limits_.depth));
    }
    open_.emplace_back();
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const JsonLimits& limits_;
  const char* reached_;
  std::size_t values_ = 0;
  // Keys seen so far, one set an open container (empty for arrays). Ordered: no hash to find collisions for.
  std::vector<std::set<std::string>> open_;
  std::optional<Error> error_;
};

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return fail(ErrorCode::payload_too_large, "a JSON document of " + std::to_string(text.size()) +
                                                  " bytes is longer than the limit of " +
                                                  std::to_string(limits.bytes) + " bytes");
  }
  // nlohmann's lexer takes a zero byte for the end of input and would ignore all that follows it.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    return fail(ErrorCode::invalid_argument,
                "invalid JSON at byte " + std::to_string(zero) + ": a zero byte");
  }
  if (auto error = Checker(text, limits).check()) return tl::unexpected<Error>(*std::move(error));
  Json value = Json::parse(text.begin(), text.end(), nullptr, false);
  if (value.is_discarded()) return fail(ErrorCode::internal, "JSON passed the check and failed to parse");
  return value;
}

std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mayfly
