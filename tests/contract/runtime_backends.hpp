// The backends that the Runtime contract is held against. A new backend adds one entry to runtime_backends().
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/runtime.hpp"
#include "support/io_loop.hpp"

namespace mayfly::test {

// One backend, connected, with an installation of its own. When it goes it takes away whatever a failed test
// left.
class BackendUnderTest {
 public:
  virtual ~BackendUnderTest() = default;
  virtual IoLoop& loop() = 0;
  virtual Runtime& runtime() = 0;
  virtual const Capabilities& capabilities() const = 0;
  // A reference that `prepare` resolves.
  virtual std::string image() = 0;
  // Something foreign that carries a copy of all the labels of this sandbox. It goes with the backend.
  virtual void plant_copy_of(const SandboxId& id) = 0;
  // How many such copies are still there.
  virtual std::size_t count_copies() = 0;
};

struct Backend {
  std::string name;
  std::function<std::unique_ptr<BackendUnderTest>()> make;
};

const std::vector<Backend>& runtime_backends();

std::unique_ptr<BackendUnderTest> make_docker_backend();

}  // namespace mayfly::test
