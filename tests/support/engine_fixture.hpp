// A real container engine for a test: the one at DOCKER_HOST, or at /var/run/docker.sock. It may be shared
// with others, so everything a test makes carries the fixture's label, and only that is removed when the test
// ends.
#pragma once

#include <memory>
#include <string>

#include "docker_api/engine_client.hpp"
#include "support/io_loop.hpp"

namespace mayfly::test {

class EngineFixture {
 public:
  // Fails the test, saying how to start an engine, when none answers.
  EngineFixture();
  ~EngineFixture();
  EngineFixture(const EngineFixture&) = delete;
  EngineFixture& operator=(const EngineFixture&) = delete;

  // Runs a call to its end; fails the test with the error's message when the call fails.
  template <class T>
  T must(Async<T> call) {
    auto result = loop.await(std::move(call));
    if (!result) fail_test(result.error());
    if constexpr (!std::is_void_v<T>) return std::move(*result);
  }

  // The id of mayfly-test/busybox:1, which is made from this machine's /bin/busybox when it is not there.
  std::string busybox_image();
  // "mayfly-test-<this fixture>-<what>".
  std::string name(const std::string& what) const { return "mayfly-test-" + run_ + "-" + what; }
  // What everything made in a test must carry: "mayfly-test.run=<this fixture>".
  docker::Labels labels() const { return {{"mayfly-test.run", run_}}; }
  std::string label_filter() const { return "mayfly-test.run=" + run_; }
  // Images have no labels to find them by: a test that makes one takes it away itself.
  void remove_image(const std::string& id);
  // A small hardened container of busybox_image() that runs a shell script, with the labels.
  docker::ContainerConfig shell_container(const std::string& script);
  // For calls that should take less than a second on an idle machine.
  static Deadline soon() { return Deadline::in(std::chrono::seconds(60)); }

  IoLoop loop;
  std::unique_ptr<docker::EngineClient> engine;

 private:
  [[noreturn]] static void fail_test(const Error& error);
  void remove_all();

  std::string run_;
};

// The address that tests use, for those that need a client of their own.
docker::EngineAddress test_engine_address();

// A root file system with busybox, its applets, and empty /proc, /sys, /dev, /tmp, /etc.
std::string busybox_rootfs_tar();

}  // namespace mayfly::test
