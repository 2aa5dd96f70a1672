// Docker behind the contract: a real engine, the real runner.
#include "contract/runtime_backends.hpp"
#include "runtime/docker/hardened_profile.hpp"
#include "support/docker_node.hpp"

namespace mayfly::test {
namespace {

class DockerBackend final : public BackendUnderTest {
 public:
  IoLoop& loop() override { return node_.engine.loop; }
  Runtime& runtime() override { return node_.runtime; }
  const Capabilities& capabilities() const override { return node_.capabilities; }
  std::string image() override {
    node_.engine.busybox_image();
    return "mayfly-test/busybox:1";
  }

  void plant_copy_of(const SandboxId& id) override {
    const auto original =
        node_.engine.must(client().inspect_container(docker::container_name(id), DockerNode::soon()));
    docker::ContainerConfig copy = node_.engine.shell_container("true");
    copy.labels.insert(original.labels.begin(), original.labels.end());
    node_.engine.must(client().create_container(node_.engine.name("copy"), copy, DockerNode::soon()));
  }

  std::size_t count_copies() override {
    return node_.engine.must(client().list_containers(node_.engine.label_filter(), DockerNode::soon()))
        .size();
  }

 private:
  docker::EngineClient& client() { return *node_.engine.engine; }

  DockerNode node_;
};

}  // namespace

std::unique_ptr<BackendUnderTest> make_docker_backend() {
  return std::make_unique<DockerBackend>();
}

}  // namespace mayfly::test
