#include "runtime/docker/image_facts.hpp"

#include <catch2/catch.hpp>

#include "profile_samples.hpp"

using namespace mayfly;
using namespace mayfly::docker;

namespace {

ImageInspect sample_image() {
  ImageInspect image;
  image.id = test::kSampleImageId;
  image.os = "linux";
  image.architecture = "amd64";
  return image;
}

Result<Image> make(const ImageInspect& found) {
  return make_image("python:3.12", found, test::sample_engine());
}

ErrorCode code_with_volumes(std::vector<std::string> volumes) {
  ImageInspect found = sample_image();
  found.volumes = std::move(volumes);
  const auto image = make(found);
  return image ? ErrorCode::internal : image.error().code;
}

}  // namespace

TEST_CASE("V06 image references of every common form are taken") {
  for (const std::string reference :
       {"busybox", "python:3.12", "library/python:3.12-slim", "docker.io/library/python:3.12", "localhost/x",
        "localhost:5000/team/app:v1.2_3", "127.0.0.1:5000/x", "ghcr.io/a/b__c/d.e-f",
        "REGISTRY.example.com/x", "mayfly-test/busybox:1", "a--b/c"}) {
    INFO(reference);
    CHECK(check_image_name(reference));
  }
  const std::string digest = "sha256:" + std::string(64, '0');
  CHECK(check_image_name(digest));
  CHECK(check_image_name("python@" + digest));
  CHECK(check_image_name("python:3.12@" + digest));
}

TEST_CASE("V06 what can be no image reference is refused by us") {
  for (const std::string reference :
       {"",         " ",   "Python:3.12", "../x",  "a/../b", "/abs",   "a//b",        "a/", "http://x/y",
        "-x",       "x-",  "a..b",        "a___b", "x:",     "x:-tag", "x:a/b",       "x@", "x@sha256:abc",
        "x@md5:00", "x y", "x\n",         "x?y",   "x%2e",   "a@b@c",  "h:1234567/x", "é",  ":tag"}) {
    INFO(reference);
    const auto checked = check_image_name(reference);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == ErrorCode::invalid_argument);
  }
  CHECK_FALSE(check_image_name(std::string(256, 'a')));
  CHECK_FALSE(check_image_name(std::string("x\0y", 3)));
  CHECK_FALSE(check_image_name("x:" + std::string(129, 't')));
}

TEST_CASE("I02 an image of another platform is refused with both names") {
  ImageInspect found = sample_image();
  found.architecture = "arm64";
  const auto image = make(found);
  REQUIRE_FALSE(image);
  CHECK(image.error().code == ErrorCode::invalid_argument);
  CHECK(image.error().message.find("linux/arm64") != std::string::npos);
  CHECK(image.error().message.find("linux/amd64") != std::string::npos);
}

TEST_CASE("variables of the image are known by name once and PATH also by value") {
  ImageInspect found = sample_image();
  found.env = {"PATH=/go/bin:/bin", "B=1=2", "A", "B=3", "=odd", ""};
  const auto image = make(found);
  REQUIRE(image);
  CHECK(image->env_names == std::vector<std::string>{"A", "B", "PATH"});
  CHECK(image->path == "/go/bin:/bin");
}

TEST_CASE("a PATH with control characters is not taken") {
  ImageInspect found = sample_image();
  found.env = {"PATH=/bin\n/x"};
  CHECK(make(found)->path.empty());
  found.env = {"PATH"};
  CHECK(make(found)->path.empty());
}

TEST_CASE("volumes of the image are covered but for those where our own mounts stand") {
  ImageInspect found = sample_image();
  found.volumes = {"/var/lib/data/", "/workspace", "/tmp", "/tmp/cache", "/data"};
  const auto image = make(found);
  REQUIRE(image);
  CHECK(image->volumes == std::vector<std::string>{"/data", "/tmp/cache", "/var/lib/data"});
}

TEST_CASE("volumes that cannot be covered refuse the image") {
  for (const char* path : {"/", "", "data", "/a/../b", "/a//b", "/./a", "/proc", "/proc/x", "/sys/fs",
                           "/dev/shm", "/.mayfly", "/.mayfly/runner"}) {
    INFO(path);
    CHECK(code_with_volumes({path}) == ErrorCode::unprocessable);
  }
  std::vector<std::string> many;
  for (int i = 0; i < 17; ++i) many.push_back("/v" + std::to_string(i));
  CHECK(code_with_volumes(many) == ErrorCode::unprocessable);
  many.pop_back();
  CHECK(code_with_volumes(many) == ErrorCode::internal);
}
