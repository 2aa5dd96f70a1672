#include "workspace/artifact_store.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <stdexcept>

#include "base/digest.hpp"
#include "support/io_loop.hpp"
#include "support/small_disk.hpp"
#include "support/temp_dir.hpp"

namespace mayfly {
namespace {

using namespace test;

template <class T>
ErrorCode code_of(const Result<T>& result) {
  if (result) throw std::logic_error("an error was expected");
  return result.error().code;
}

class Fixture {
 public:
  explicit Fixture(std::filesystem::path where = {}) : data(where.empty() ? dir.path() : std::move(where)) {
    open();
  }
  void open() {
    auto opened = open_artifact_store(data, pool);
    if (!opened) throw std::runtime_error(opened.error().message);
    store = std::move(*opened);
  }
  template <class T>
  Result<T> await(Async<T> call) {
    return loop.await(std::move(call));
  }
  std::unique_ptr<ArtifactWriter> begin(std::uint32_t attempt = 1, ArtifactBounds bounds = {}) {
    auto writer = await(store->begin(task, attempt, bounds));
    if (!writer) throw std::runtime_error(writer.error().message);
    return std::move(*writer);
  }
  Result<Artifact> add(ArtifactWriter& writer, const std::string& path, const std::string& content,
                       std::uint32_t mode = 0644) {
    if (auto begun = await(writer.begin_file(path, mode)); !begun) return fail_with(begun);
    if (auto added = await(writer.append(content)); !added) return fail_with(added);
    return await(writer.finish_file());
  }
  std::string read(const std::string& path) {
    const auto stored = await(store->open(task, path));
    if (!stored) throw std::runtime_error(stored.error().message);
    return *await((*stored)->read(0, 1U << 20U));
  }
  std::filesystem::path committed() const { return data / "artifacts" / task.str(); }

  TempDir dir;
  std::filesystem::path data;
  IoLoop loop;
  BlockingPool pool{2};
  std::unique_ptr<ArtifactStore> store;
  TaskId task = make_id<TaskId>();
};

TEST_CASE_METHOD(
    Fixture, "artifacts are listed by path with size and digest and read back in pieces after a restart") {
  const std::string binary("\0\n\xff tail", 8);
  const auto writer = begin();
  REQUIRE(add(*writer, "out/b.bin", binary, 0755).has_value());
  REQUIRE(await(writer->begin_file("out/a.txt", 04777)).has_value());
  REQUIRE(await(writer->append("one ")).has_value());
  REQUIRE(await(writer->append("two")).has_value());
  REQUIRE(await(writer->finish_file()).has_value());
  REQUIRE(add(*writer, "empty", "").has_value());
  const auto done = await(writer->commit());
  REQUIRE(done.has_value());
  open();
  const auto listed = await(store->list(task));
  REQUIRE(listed->size() == 3);
  CHECK((*listed)[0].path == "empty");
  CHECK((*listed)[0].sha256 == sha256_hex(""));
  CHECK((*listed)[1].path == "out/a.txt");
  CHECK((*listed)[1].mode == 0777);  // the set-id bit is gone
  CHECK((*listed)[1].sha256 == sha256_hex("one two"));
  CHECK((*listed)[2].size.count == binary.size());
  CHECK(read("out/b.bin") == binary);
  CHECK(read("empty").empty());
  const auto stored = await(store->open(task, "out/a.txt"));
  CHECK(*await((*stored)->read(0, 3)) == "one");
  CHECK(*await((*stored)->read(3, 100)) == " two");
  CHECK(await((*stored)->read(7, 100))->empty());
  CHECK(await((*stored)->read(~0ULL, 100))->empty());
}

TEST_CASE_METHOD(Fixture,
                 "P06 F46 artifact names of any bytes stay names and never become paths on our disk") {
  const std::vector<std::string> names{"a\nb",
                                       "q\"uote%2f..%2f",
                                       "\xff\xfe",
                                       "<svg onload=x>.html",
                                       "manifest.json",
                                       "0",
                                       "..a",
                                       "-rf",
                                       std::string(255, 'n'),
                                       "C:\\x",
                                       "deep/er/file",
                                       " "};
  const auto writer = begin();
  for (const auto& name : names) REQUIRE(add(*writer, name, "content of " + name).has_value());
  REQUIRE(await(writer->commit())->size() == names.size());
  open();
  for (const auto& name : names) CHECK(read(name) == "content of " + name);
  for (const auto& entry : std::filesystem::directory_iterator(committed())) {
    const std::string file = entry.path().filename().string();
    INFO(file);
    CHECK((file == "manifest.json" || file.find_first_not_of("0123456789") == std::string::npos));
  }
}

TEST_CASE_METHOD(Fixture, "F46 artifacts refuse paths that reach outside and names that come twice") {
  const auto writer = begin();
  for (const auto& path : {std::string("../x"), std::string("/etc/shadow"), std::string("a/../../b"),
                           std::string(""), std::string("a\0b", 3), std::string("a//b"), std::string("./a"),
                           std::string("a/"), std::string(1025, 'x')}) {
    CAPTURE(path);
    CHECK_FALSE(await(writer->begin_file(path, 0644)).has_value());
  }
  REQUIRE(add(*writer, "a", "1").has_value());
  CHECK(code_of(add(*writer, "a", "2")) == ErrorCode::invalid_argument);
  REQUIRE(await(writer->commit())->size() == 1);
  CHECK(read("a") == "1");
  CHECK(code_of(await(store->open(task, "../" + task.str() + "/0"))) == ErrorCode::not_found);
  CHECK(code_of(await(store->begin(TaskId("../x"), 1, {}))) == ErrorCode::invalid_argument);
  CHECK(code_of(await(store->remove(TaskId("..")))) == ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(Fixture,
                 "P05 artifacts over a bound are refused with the counts and the earlier ones stay") {
  const auto writer = begin(1, {.files = 2, .bytes = Bytes{10}});
  REQUIRE(add(*writer, "a", "12345").has_value());
  const auto refused = add(*writer, "b", "123456");
  REQUIRE(code_of(refused) == ErrorCode::payload_too_large);
  CHECK(refused.error().message.find("10 bytes") != std::string::npos);
  REQUIRE(add(*writer, "b", "12345").has_value());
  CHECK(code_of(add(*writer, "c", "")) == ErrorCode::payload_too_large);
  REQUIRE(await(writer->commit())->size() == 2);
  CHECK(read("a") + read("b") == "1234512345");
}

TEST_CASE_METHOD(Fixture, "artifacts show nothing before commit and nothing of an abandoned file") {
  const auto writer = begin();
  REQUIRE(add(*writer, "kept", "x").has_value());
  REQUIRE(await(writer->begin_file("dropped", 0644)).has_value());
  REQUIRE(await(writer->append("y")).has_value());
  REQUIRE(await(writer->abandon_file()).has_value());
  REQUIRE(await(writer->begin_file("unfinished", 0644)).has_value());
  CHECK(code_of(await(store->list(task))) == ErrorCode::not_found);
  const auto listed = await(writer->commit());
  REQUIRE(listed->size() == 1);
  CHECK(listed->front().path == "kept");
  CHECK(code_of(await(writer->commit())) == ErrorCode::internal);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(committed())) ++files;
  CHECK(files == 2);  // the blob and the manifest
}

TEST_CASE_METHOD(Fixture, "artifacts of a later attempt take the place of the earlier ones at once") {
  {
    const auto writer = begin(1);
    REQUIRE(add(*writer, "a", "old").has_value());
    REQUIRE(add(*writer, "only-old", "x").has_value());
    REQUIRE(await(writer->commit()).has_value());
  }
  CHECK(read("a") == "old");
  const auto still_open = await(store->open(task, "a"));
  const auto writer = begin(2);
  REQUIRE(add(*writer, "a", "newer").has_value());
  CHECK(read("a") == "old");
  REQUIRE(await(writer->commit()).has_value());
  CHECK(read("a") == "newer");
  CHECK(*await((*still_open)->read(0, 10)) == "old");
  CHECK(code_of(await(store->open(task, "only-old"))) == ErrorCode::not_found);
  std::size_t directories = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(data / "artifacts"))
    ++directories;
  CHECK(directories == 1);
}

TEST_CASE_METHOD(Fixture, "artifacts half collected by a killed process are cleared at the next start") {
  const auto writer = begin();
  REQUIRE(add(*writer, "a", "x").has_value());
  CHECK(await(store->total_size())->count == 1);
  open();
  CHECK(await(store->total_size())->count == 0);
  CHECK(std::filesystem::is_empty(data / "artifacts"));
}

TEST_CASE_METHOD(Fixture, "artifacts are removed whole and again without complaint") {
  const auto writer = begin();
  REQUIRE(add(*writer, "a", std::string(1000, 'x')).has_value());
  REQUIRE(await(writer->commit()).has_value());
  CHECK(await(store->total_size())->count > 1000);
  CHECK(read("a").size() == 1000);
  REQUIRE(await(store->remove(task)).has_value());
  REQUIRE(await(store->remove(task)).has_value());
  CHECK(code_of(await(store->open(task, "a"))) == ErrorCode::not_found);
  CHECK(code_of(await(store->list(task))) == ErrorCode::not_found);
  CHECK(await(store->total_size())->count == 0);
}

TEST_CASE_METHOD(Fixture, "F46 artifacts whose blob was exchanged on disk are corrupt and never followed") {
  const auto writer = begin();
  REQUIRE(add(*writer, "a", "secret").has_value());
  REQUIRE(await(writer->commit()).has_value());
  const auto blob = committed() / "0";
  SECTION("for a link to another file of the same size") {
    std::ofstream(dir.path() / "other") << "public";
    std::filesystem::remove(blob);
    std::filesystem::create_symlink(dir.path() / "other", blob);
  }
  SECTION("for a fifo") {
    std::filesystem::remove(blob);
    REQUIRE(mkfifo(blob.c_str(), 0600) == 0);
  }
  SECTION("for a directory") {
    std::filesystem::remove(blob);
    std::filesystem::create_directory(blob);
  }
  SECTION("for a shorter file") {
    std::filesystem::resize_file(blob, 3);
  }
  SECTION("for nothing") {
    std::filesystem::remove(blob);
  }
  CHECK(code_of(await(store->open(task, "a"))) == ErrorCode::corrupt);
}

TEST_CASE_METHOD(Fixture, "artifacts with a manifest that is not ours are corrupt") {
  const auto writer = begin();
  REQUIRE(add(*writer, "a", "x").has_value());
  REQUIRE(await(writer->commit()).has_value());
  const auto manifest = [](const std::string& file) {
    return R"({"version":1,"attempt":1,"files":[)" + file + "]}";
  };
  const std::string good = R"({"blob":0,"path_hex":"61","size":1,"sha256":"x","mode":420})";
  const std::vector<std::string> bad{
      "",
      "[]",
      "{}",
      R"({"version":2,"attempt":1,"files":[]})",
      manifest("1"),
      manifest(good + "," + good),
      manifest(R"({"blob":-1,"path_hex":"61","size":1,"sha256":"x","mode":420})"),
      manifest(R"({"blob":0,"path_hex":"2e2e2f61","size":1,"sha256":"x","mode":420})"),
      manifest(R"({"blob":0,"path_hex":"6","size":1,"sha256":"x","mode":420})"),
      manifest(R"({"blob":0,"path_hex":"61","size":1,"sha256":1,"mode":420})"),
      manifest(R"({"blob":0,"path_hex":"61","size":1,"sha256":"x","mode":2541})"),
  };
  for (const std::string& text : bad) {
    CAPTURE(text);
    std::ofstream(committed() / "manifest.json", std::ios::trunc) << text;
    open();
    CHECK(code_of(await(store->list(task))) == ErrorCode::corrupt);
  }
  std::ofstream(committed() / "manifest.json", std::ios::trunc) << manifest(good);
  open();
  CHECK(read("a") == "x");
}

TEST_CASE("F31 artifacts on a full disk give up the file in hand and keep the earlier ones") {
  const bool ran = on_small_disk(2_MiB, [](const std::filesystem::path& disk) {
    Fixture fixture(disk);
    const auto writer = fixture.begin();
    REQUIRE(fixture.add(*writer, "small", "kept").has_value());
    const auto filler = fill_disk(disk, 200_KiB);
    CHECK(code_of(fixture.add(*writer, "big", std::string(500'000, 'x'))) == ErrorCode::disk_full);
    REQUIRE(fixture.await(writer->commit())->size() == 1);
    CHECK(fixture.read("small") == "kept");
    CHECK(fixture.await(fixture.store->remove(fixture.task)).has_value());
  });
  if (!ran) WARN("not run: mounting a tmpfs takes root");
}

}  // namespace
}  // namespace mayfly
