#include "task/spec_fields.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace mayfly;

namespace {

// One field named "x" of the given value, and what reading it left behind.
struct OneField {
  explicit OneField(Json value) : json{{"x", std::move(value)}} {}
  Field field() { return reader.optional("x"); }
  std::string code() const { return faults.empty() ? "" : faults.kept().front().code; }

  Json json;
  FaultList faults;
  ObjectReader reader{json, "", faults};
};

constexpr Range<std::int64_t> kAny{std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max()};
constexpr Range<Bytes> kAnySize{{0}, {std::numeric_limits<std::uint64_t>::max()}};

}  // namespace

TEST_CASE("an absent field reads as nothing and is no fault unless required") {
  const Json json = Json::object();
  FaultList faults;
  ObjectReader reader(json, "/top", faults);
  CHECK_FALSE(reader.optional("a").as_text());
  CHECK_FALSE(reader.optional("b").as_size(kAnySize));
  CHECK(reader.optional("c").as_list(1).empty());
  CHECK(faults.empty());
  CHECK_FALSE(reader.required("d").as_text());
  REQUIRE(faults.count() == 1);
  CHECK(faults.kept().front().pointer == "/top/d");
  CHECK(faults.kept().front().code == "required");
}

TEST_CASE("every key that was not asked for is reported with the name it probably means") {
  const Json json = {{"memroy", 1}, {"known", 2}, {"zzz", 3}};
  FaultList faults;
  ObjectReader reader(json, "/limits", faults);
  reader.optional("memory");
  reader.optional("known");
  reader.finish();
  REQUIRE(faults.count() == 2);
  CHECK(faults.kept()[0] ==
        FieldFault{"/limits/memroy", "unknown_field", "no such field; did you mean \"memory\"?"});
  CHECK(faults.kept()[1] == FieldFault{"/limits/zzz", "unknown_field", "no such field"});
}

TEST_CASE("a value of a wrong type is named by its kind and text is never shown") {
  const std::pair<Json, std::string> cases[] = {{Json(5), "got the number 5"},
                                                {Json(true), "got true"},
                                                {Json(), "got null"},
                                                {Json::array(), "got a list"},
                                                {Json::object(), "got an object"}};
  for (const auto& [value, wanted] : cases) {
    OneField one(value);
    CHECK_FALSE(one.field().as_text());
    REQUIRE(one.code() == "wrong_type");
    CHECK_THAT(one.faults.kept().front().detail, Catch::Contains(wanted));
  }
  OneField secret("hunter2");
  CHECK_FALSE(secret.field().as_integer(kAny));
  CHECK(secret.faults.kept().front().detail == "expected a whole number, got text");
}

TEST_CASE("V02 whole numbers refuse fractions and booleans and what does not fit") {
  const std::pair<Json, std::string> cases[] = {{1.5, "wrong_type"},
                                                {1.0, "wrong_type"},
                                                {true, "wrong_type"},
                                                {"1", "wrong_type"},
                                                {nullptr, "wrong_type"},
                                                {std::nan(""), "wrong_type"},
                                                {-1, "out_of_range"},
                                                {11, "out_of_range"},
                                                {std::numeric_limits<std::uint64_t>::max(), "out_of_range"}};
  for (const auto& [value, code] : cases) {
    INFO(value.dump());
    OneField integer(value);
    CHECK_FALSE(integer.field().as_integer({0, 10}));
    CHECK(integer.code() == code);
    OneField count(value);
    CHECK_FALSE(count.field().as_count({0, 10}));
    CHECK(count.code() == code);
  }
  CHECK(OneField(10).field().as_integer({0, 10}) == 10);
  CHECK(OneField(0).field().as_count({0, 10}) == 0U);
}

TEST_CASE("a size is a whole number of bytes or a quantity") {
  CHECK(OneField("512Mi").field().as_size(kAnySize) == 512_MiB);
  CHECK(OneField(1024).field().as_size(kAnySize) == 1_KiB);
  for (const Json& value : {Json("512MB"), Json("1.5Gi"), Json("-1"), Json(""), Json(" 1")}) {
    OneField one(value);
    CHECK_FALSE(one.field().as_size(kAnySize));
    CHECK(one.code() == "bad_format");
  }
  OneField negative(-5);
  CHECK_FALSE(negative.field().as_size(kAnySize));
  CHECK(negative.code() == "out_of_range");
  OneField fraction(0.5);
  CHECK_FALSE(fraction.field().as_size(kAnySize));
  CHECK(fraction.code() == "wrong_type");
  OneField small("1Ki");
  CHECK_FALSE(small.field().as_size({4_MiB, 1_GiB}));
  CHECK(small.faults.kept().front().detail == "1Ki is not between 4Mi and 1Gi");
}

TEST_CASE("processors are a number or a quantity with at most three decimals") {
  CHECK(OneField(2).field().as_millicpus(kAny) == 2000);
  CHECK(OneField(0.5).field().as_millicpus(kAny) == 500);
  CHECK(OneField(0.1).field().as_millicpus(kAny) == 100);
  CHECK(OneField(1.001).field().as_millicpus(kAny) == 1001);
  CHECK(OneField("250m").field().as_millicpus(kAny) == 250);
  CHECK(OneField("0.25").field().as_millicpus(kAny) == 250);
  for (const Json& value :
       {Json(0.0001), Json(1e300), Json(std::nan("")), Json(INFINITY), Json("1e3"), Json("two")}) {
    OneField one(value);
    CHECK_FALSE(one.field().as_millicpus(kAny));
    CHECK(one.code() == "bad_format");
  }
  OneField negative(-1);
  CHECK_FALSE(negative.field().as_millicpus({10, 1000}));
  CHECK(negative.code() == "out_of_range");
}

TEST_CASE("a duration needs its unit") {
  CHECK(OneField("1h30m").field().as_duration({Millis(0), Millis::max()}) == Millis(5'400'000));
  OneField bare(30);
  CHECK_FALSE(bare.field().as_duration({Millis(0), Millis::max()}));
  CHECK_THAT(bare.faults.kept().front().detail, Catch::Contains("with its unit"));
  OneField text("30");
  CHECK_FALSE(text.field().as_duration({Millis(0), Millis::max()}));
  CHECK(text.code() == "bad_format");
}

TEST_CASE("text is bounded and valid UTF-8 without NUL") {
  CHECK(OneField("").field().as_text() == "");
  CHECK(OneField("日本").field().as_text() == "日本");
  const auto refuses = [](Json value, TextBounds bounds) {
    OneField one(std::move(value));
    CHECK_FALSE(one.field().as_text(bounds));
    return one.code();
  };
  CHECK(refuses("", {.least = 1}) == "out_of_range");
  CHECK(refuses("abc", {.most = 2}) == "out_of_range");
  CHECK(refuses(std::string("a\0b", 3), {}) == "bad_format");
  CHECK(refuses("\xff", {}) == "bad_format");
  CHECK(OneField(std::string("a\0b", 3)).field().as_content() == std::string("a\0b", 3));
}

TEST_CASE("bytes stand as text or in base64 and not in both") {
  const auto read = [](const Json& json, FaultList& faults) {
    ObjectReader reader(json, "", faults);
    auto bytes = read_bytes(reader, "content", "content_base64", {.most = 4});
    reader.finish();
    return bytes;
  };
  FaultList faults;
  CHECK(read({{"content", "hi"}}, faults) == "hi");
  CHECK(read({{"content_base64", "//8="}}, faults) == "\xff\xff");
  CHECK_FALSE(read(Json::object(), faults));
  CHECK(faults.empty());
  CHECK_FALSE(read({{"content", "hi"}, {"content_base64", ""}}, faults));
  CHECK(faults.kept().back().code == "conflict");
  CHECK_FALSE(read({{"content_base64", "AAAAAAAA"}}, faults));
  CHECK(faults.kept().back().code == "out_of_range");
  CHECK_FALSE(read({{"content_base64", "AAA"}}, faults));
  CHECK(faults.kept().back().code == "bad_format");

  Json json = Json::object();
  put_bytes(json, "content", "\xff\xff");
  CHECK(json == Json{{"content_base64", "//8="}});
}

TEST_CASE("lists and maps have a bound and pointers of their own") {
  OneField list(Json{1, "two"});
  const auto elements = list.field().as_list(2);
  REQUIRE(elements.size() == 2);
  CHECK(elements[1].pointer() == "/x/1");
  CHECK(elements[1].as_text() == "two");
  CHECK(list.field().as_list(1).empty());
  CHECK(list.code() == "out_of_range");

  OneField map(Json{{"a/b", 1}});
  const auto members = map.field().as_map(1);
  REQUIRE(members.size() == 1);
  CHECK(members[0].first == "a/b");
  CHECK(members[0].second.pointer() == "/x/a~1b");
  CHECK(map.field().as_map(0).empty());
  CHECK(map.code() == "out_of_range");
}

TEST_CASE("a flag is true or false and no word that looks like it") {
  CHECK(OneField(false).field().as_flag() == false);
  for (const Json& value : {Json("true"), Json(1), Json("yes"), Json()}) {
    OneField one(value);
    CHECK_FALSE(one.field().as_flag());
    CHECK(one.code() == "wrong_type");
  }
}

TEST_CASE("a part that is no object is one fault and its missing fields are none") {
  OneField one(5);
  auto part = one.field().as_object();
  CHECK_FALSE(part.required("a").as_text());
  part.finish();
  CHECK(one.faults.count() == 1);
  CHECK(one.code() == "wrong_type");
}

TEST_CASE("a document full of faults makes an answer of bounded size") {
  Json json = Json::object();
  for (int i = 0; i < 5000; ++i) json["k" + std::to_string(i)] = i;
  FaultList faults;
  ObjectReader reader(json, "", faults);
  reader.finish();
  CHECK(faults.count() == 5000);
  const auto error = faults.to_error(ErrorCode::invalid_argument, "the thing");
  CHECK(error.fields.size() == FaultList::kMostKept);
  CHECK_THAT(error.message, Catch::StartsWith("the thing has 5000 faults, the first at /k"));
}
