#include "task/spec_fields.hpp"

#include <algorithm>
#include <cmath>

#include "base/utf8.hpp"
#include "task/base64.hpp"

namespace mayfly {
namespace {

constexpr std::size_t kMostShownValue = 40;

// Names the kind of a value, and a number by its digits; never text, which may be a secret.
std::string describe(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null; leave the field out instead";
    case Json::value_t::boolean:
      return value.get<bool>() ? "true" : "false";
    case Json::value_t::string:
      return "text";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float:
      return "the number " + shorten_text(value.dump(), kMostShownValue);
    case Json::value_t::binary:
    case Json::value_t::discarded:
      break;
  }
  return "something that is no JSON";
}

// Thousandths, when the number has no more than three decimals: then the quotient is the very same double.
std::optional<std::int64_t> exact_thousandths(double number) {
  constexpr double kMost = 1e12;
  if (!(std::abs(number) <= kMost)) return std::nullopt;  // also not a number
  const double thousandths = std::round(number * 1000);
  if (thousandths / 1000 != number) return std::nullopt;
  return static_cast<std::int64_t>(thousandths);
}

std::string in_decimal(std::int64_t value) {
  return std::to_string(value);
}
std::string count_in_decimal(std::uint64_t value) {
  return std::to_string(value);
}

}  // namespace

void FaultList::add(std::string pointer, std::string code, std::string detail) {
  ++count_;
  if (faults_.size() < kMostKept) faults_.push_back({std::move(pointer), std::move(code), std::move(detail)});
}

Error FaultList::to_error(ErrorCode code, std::string_view what) const {
  Error error{.code = code, .message = std::string(what) + " has ", .fields = faults_};
  error.message += count_ == 1 ? "1 fault" : std::to_string(count_) + " faults, the first";
  if (!faults_.empty()) {
    const auto& first = faults_.front();
    error.message += " at " + (first.pointer.empty() ? "the top" : first.pointer) + ": " + first.detail;
  }
  return error;
}

void Field::add_fault(std::string code, std::string detail) const {
  faults_->add(pointer_, std::move(code), std::move(detail));
}

void Field::add_wrong_type(std::string_view wanted) const {
  add_fault("wrong_type", "expected " + std::string(wanted) + ", got " + describe(*value_));
}

template <class T, class Format>
std::optional<T> Field::in_range(T value, Range<T> range, Format format) const {
  if (value >= range.least && value <= range.most) return value;
  add_fault("out_of_range",
            format(value) + " is not between " + format(range.least) + " and " + format(range.most));
  return std::nullopt;
}

std::optional<std::string> Field::as_utf8(TextBounds bounds, std::string_view wanted) const {
  if (value_ == nullptr) return std::nullopt;
  if (!value_->is_string()) {
    add_wrong_type(value_->is_primitive() && !value_->is_null()
                       ? std::string(wanted) + " (in YAML: in quotes)"
                       : std::string(wanted));
    return std::nullopt;
  }
  const auto& text = value_->get_ref<const std::string&>();
  if (text.size() < bounds.least) {
    add_fault("out_of_range", bounds.least == 1 ? "must not be empty"
                                                : "shorter than " + std::to_string(bounds.least) + " bytes");
    return std::nullopt;
  }
  if (text.size() > bounds.most) {
    add_fault("out_of_range",
              std::to_string(text.size()) + " bytes long; the most is " + std::to_string(bounds.most));
    return std::nullopt;
  }
  if (!is_utf8(text)) {
    add_fault("bad_format",
              "not valid UTF-8; bytes that are no text go in base64, where the field has such a form");
    return std::nullopt;
  }
  return text;
}

std::optional<std::string> Field::as_text(TextBounds bounds) const {
  auto text = as_utf8(bounds, "text");
  if (!text) return std::nullopt;
  if (const auto at = text->find('\0'); at != std::string::npos) {
    add_fault("bad_format",
              "holds a NUL character at byte " + std::to_string(at) + "; none can be passed on here");
    return std::nullopt;
  }
  return text;
}

std::optional<std::string> Field::as_content(TextBounds bounds) const {
  return as_utf8(bounds, "text");
}

std::optional<std::string> Field::as_base64(TextBounds bounds) const {
  const auto text = as_utf8({}, "text in base64");
  if (!text) return std::nullopt;
  auto bytes = decode_base64(*text);
  if (!bytes) {
    add_fault("bad_format", bytes.error().message);
    return std::nullopt;
  }
  if (bytes->size() < bounds.least || bytes->size() > bounds.most) {
    add_fault("out_of_range", std::to_string(bytes->size()) + " bytes long; between " +
                                  std::to_string(bounds.least) + " and " + std::to_string(bounds.most) +
                                  " are accepted");
    return std::nullopt;
  }
  return std::move(*bytes);
}

std::optional<bool> Field::as_flag() const {
  if (value_ == nullptr) return std::nullopt;
  if (value_->is_boolean()) return value_->get<bool>();
  add_wrong_type("true or false");
  return std::nullopt;
}

std::optional<std::int64_t> Field::as_integer(Range<std::int64_t> range) const {
  if (value_ == nullptr) return std::nullopt;
  if (!value_->is_number_integer()) {
    add_wrong_type("a whole number");
    return std::nullopt;
  }
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value_->is_number_unsigned() && value_->get<std::uint64_t>() > kMost) {
    add_fault("out_of_range", value_->dump() + " is more than " + in_decimal(range.most));
    return std::nullopt;
  }
  return in_range(value_->get<std::int64_t>(), range, in_decimal);
}

std::optional<std::uint64_t> Field::as_count(Range<std::uint64_t> range) const {
  if (value_ == nullptr) return std::nullopt;
  if (!value_->is_number_integer()) {
    add_wrong_type("a whole number");
    return std::nullopt;
  }
  if (!value_->is_number_unsigned() && value_->get<std::int64_t>() < 0) {
    add_fault("out_of_range", value_->dump() + " is negative; the least is " + count_in_decimal(range.least));
    return std::nullopt;
  }
  return in_range(value_->get<std::uint64_t>(), range, count_in_decimal);
}

std::optional<Bytes> Field::as_size(Range<Bytes> range) const {
  if (value_ == nullptr) return std::nullopt;
  if (value_->is_number_integer()) {
    const auto count = as_count({0, std::numeric_limits<std::uint64_t>::max()});
    return count ? in_range(Bytes{*count}, range, format_bytes) : std::nullopt;
  }
  if (!value_->is_string()) {
    add_wrong_type("a size such as \"512Mi\", or a whole number of bytes");
    return std::nullopt;
  }
  const auto size = parse_bytes(value_->get_ref<const std::string&>());
  if (!size) {
    add_fault("bad_format", size.error().message);
    return std::nullopt;
  }
  return in_range(*size, range, format_bytes);
}

std::optional<std::int64_t> Field::as_millicpus(Range<std::int64_t> range) const {
  if (value_ == nullptr) return std::nullopt;
  if (value_->is_number()) {
    const auto millicpus = exact_thousandths(value_->get<double>());
    if (millicpus) return in_range(*millicpus, range, format_millicpus);
    add_fault("bad_format", value_->dump() + " is no number of processors with at most three decimals");
    return std::nullopt;
  }
  if (!value_->is_string()) {
    add_wrong_type("processors such as 0.5 or \"500m\"");
    return std::nullopt;
  }
  const auto millicpus = parse_millicpus(value_->get_ref<const std::string&>());
  if (!millicpus) {
    add_fault("bad_format", millicpus.error().message);
    return std::nullopt;
  }
  return in_range(*millicpus, range, format_millicpus);
}

std::optional<Millis> Field::as_duration(Range<Millis> range) const {
  if (value_ == nullptr) return std::nullopt;
  if (!value_->is_string()) {
    add_wrong_type("a duration with its unit, such as \"30s\" or \"1h30m\"");
    return std::nullopt;
  }
  const auto duration = parse_duration(value_->get_ref<const std::string&>());
  if (!duration) {
    add_fault("bad_format", duration.error().message);
    return std::nullopt;
  }
  return in_range(*duration, range, format_duration);
}

std::vector<Field> Field::as_list(std::size_t most) const {
  std::vector<Field> fields;
  if (value_ == nullptr) return fields;
  if (!value_->is_array()) {
    add_wrong_type("a list");
    return fields;
  }
  if (value_->size() > most) {
    add_fault("out_of_range",
              std::to_string(value_->size()) + " elements; the most is " + std::to_string(most));
    return fields;
  }
  fields.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) {
    fields.emplace_back(&(*value_)[i], pointer_to(pointer_, std::to_string(i)), *faults_);
  }
  return fields;
}

std::vector<std::pair<std::string, Field>> Field::as_map(std::size_t most) const {
  std::vector<std::pair<std::string, Field>> fields;
  if (value_ == nullptr) return fields;
  if (!value_->is_object()) {
    add_wrong_type("an object");
    return fields;
  }
  if (value_->size() > most) {
    add_fault("out_of_range",
              std::to_string(value_->size()) + " entries; the most is " + std::to_string(most));
    return fields;
  }
  fields.reserve(value_->size());
  for (const auto& [key, value] : value_->items()) {
    fields.emplace_back(key, Field(&value, pointer_to(pointer_, key), *faults_));
  }
  return fields;
}

ObjectReader Field::as_object() const {
  if (value_ == nullptr) return ObjectReader(nullptr, pointer_, *faults_);
  return ObjectReader(*value_, pointer_, *faults_);
}

}  // namespace mayfly
