#include "contract/runtime_backends.hpp"

namespace mayfly::test {

const std::vector<Backend>& runtime_backends() {
  static const std::vector<Backend> kBackends = {{"docker", make_docker_backend}};
  return kBackends;
}

}  // namespace mayfly::test
