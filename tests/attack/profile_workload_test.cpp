// The profile must hold back what leads out and nothing of ordinary work: shell programs under exactly the
// container that a sandbox gets, with a shell where the runner would be.
#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <sstream>

#include "runtime/docker/hardened_profile.hpp"
#include "support/docker_node.hpp"
#include "support/tar_builder.hpp"

using namespace mayfly;
using test::DockerNode;

namespace {

// With a /tmp that only root may look into, as images from scratch may have.
std::string closed_tmp_rootfs() {
  std::ifstream file("/bin/busybox", std::ios::binary);
  const std::string busybox{std::istreambuf_iterator<char>(file), {}};
  test::TarBuilder tar;
  tar.directory("bin").directory("tmp", 0700).file("bin/busybox", busybox, 0755).symlink("bin/sh", "busybox");
  return tar.finish();
}

struct Ended {
  int exit_code = -1;
  std::string output;  // both streams
};

docker::ContainerConfig hardened_shell(DockerNode& node, const std::string& script) {
  const docker::VersionInfo version = node.engine.must(node.engine.engine->negotiate(DockerNode::soon()));
  const docker::SystemInfo info = node.engine.must(node.engine.engine->info(DockerNode::soon()));
  const auto engine = docker::assess_engine(version, info);
  REQUIRE(engine);
  docker::ContainerConfig config = docker::make_sandbox_container(
      node.sandbox_spec(), *engine, node.engine.name("runner"), node.engine.labels());
  config.mounts.clear();
  config.working_dir = "/tmp";
  config.entrypoint = {"/bin/sh", "-c"};
  config.cmd = {script};
  config.env = {"PATH=/bin"};
  return config;
}

Ended run(DockerNode& node, const std::string& script, const std::string& image = {}) {
  docker::EngineClient& client = *node.engine.engine;
  const std::string name = node.engine.name("workload");
  docker::ContainerConfig config = hardened_shell(node, script);
  if (!image.empty()) config.image = image;
  node.engine.must(client.create_container(name, config, DockerNode::soon()));
  auto stream = node.engine.must(client.attach(name, DockerNode::soon()));
  node.engine.must(client.start_container(name, DockerNode::soon()));
  Ended ended;
  std::array<std::byte, 4096> buffer;
  for (;;) {
    const auto piece = node.engine.must(stream->read(buffer));
    if (piece.size == 0) break;
    ended.output.append(reinterpret_cast<const char*>(buffer.data()), piece.size);
  }
  ended.exit_code = node.engine.must(client.wait_container(name, DockerNode::soon()));
  node.engine.must(client.remove_container(name, DockerNode::soon()));
  return ended;
}

}  // namespace

TEST_CASE("profile: ordinary shell work runs under it") {
  DockerNode node;
  const Ended ended = run(node, R"(set -e
printf '#!/bin/sh\necho script ran\n' > run.sh; chmod +x run.sh; ./run.sh
mktemp >/dev/null; mkdir -p a/b/c; ln -s a link; ln run.sh hard; mkfifo pipe
(echo through the fifo > pipe &) ; cat pipe
seq 1000 | sort -rn | awk '{s+=$1} END {print s}'
tar cf - a run.sh | gzip | gunzip | tar tf - | wc -l
find . -type l -exec readlink {} \;
sleep 0.01 & wait; ionice -c 3 true; timeout 5 true; echo sub | xargs echo | tee copy >/dev/null; trap 'echo trapped' USR1; kill -USR1 $$
dd if=/dev/urandom bs=1024 count=4 2>/dev/null | sha256sum | wc -c
date >/dev/null; uname -s; id -u; stat -c %a run.sh; touch -d '2020-01-01' a; echo hello > /dev/shm/x; cat /dev/shm/x
(echo pong | nc -l -p 4000 &); until nc -w 5 127.0.0.1 4000 </dev/null 2>/dev/null; do usleep 10000; done
ulimit -n)");
  CHECK(ended.output ==
        "script ran\nthrough the fifo\n500500\n4\na\ntrapped\n68\nLinux\n65532\n755\nhello\npong\n1024\n");
  CHECK(ended.exit_code == 0);
}

TEST_CASE("C09 profile: what leads out fails under it") {
  const std::vector<std::string> commands = {"mount -t tmpfs x /tmp",
                                             "mount -t proc x /tmp",
                                             "mount -o remount,rw /",
                                             "umount /tmp",
                                             "unshare -U true",
                                             "unshare -m true",
                                             "unshare -n true",
                                             "chroot / true",
                                             "mknod dev c 1 1",
                                             "mknod dev b 8 0",
                                             "swapon /tmp/x",
                                             "hostname evil",
                                             "adjtimex -t 10000",
                                             "insmod x.ko",
                                             "rmmod x",
                                             "losetup /dev/loop0 /tmp/x",
                                             "nsenter -t 1 -m true",
                                             "pivot_root / /",
                                             "switch_root / /bin/true",
                                             "echo x > /proc/sys/kernel/core_pattern",
                                             "echo b > /proc/sysrq-trigger",
                                             "sysctl -w kernel.core_pattern=x",
                                             "echo x > /etc/x",
                                             "cat /dev/mem",
                                             "cat /dev/kmsg",
                                             "cat /dev/kvm",
                                             "cat /proc/kallsyms | grep .",
                                             "cat /proc/cmdline | grep .",
                                             "dmesg",
                                             "ip link add d type dummy",
                                             "ip link set lo down",
                                             "ifconfig lo down",
                                             "route add default gw 127.0.0.2",
                                             "renice -n -5 -p 1",
                                             "linux32 true",
                                             "chown 0 /tmp/file",
                                             "nc -w 1 1.1.1.1 80",
                                             "nslookup example.com",
                                             "arping -c 1 -w 1 127.0.0.1",
                                             "chvt 1",
                                             "reboot -f"};
  std::string script = "touch /tmp/file\n";
  for (const std::string& command : commands) {
    script += "(" + command + ") </dev/null >/dev/null 2>&1; echo \"$? " + command + "\"\n";
  }
  DockerNode node;
  const Ended ended = run(node, script);
  std::istringstream lines(ended.output);
  std::size_t seen = 0;
  for (std::string line; std::getline(lines, line); ++seen) {
    INFO(line);
    CHECK_FALSE(line.starts_with("0 "));    // it worked
    CHECK_FALSE(line.starts_with("127 "));  // this busybox does not have it, so it proves nothing
  }
  INFO(ended.output);
  CHECK(seen == commands.size());
}

TEST_CASE("F28 F32 profile: tmp and shm end with no space and the shell lives on") {
  DockerNode node;
  const Ended ended =
      run(node, R"(dd if=/dev/zero of=/tmp/big bs=64k count=1000 2>&1 | grep -o 'No space left on device'
dd if=/dev/zero of=/dev/shm/big bs=64k count=1000 2>&1 | grep -o 'No space left on device'
echo alive)");
  CHECK(ended.output == "No space left on device\nNo space left on device\nalive\n");
}

TEST_CASE("F40 profile: an image whose own tmp is closed gives the task a tmp that it can use") {
  DockerNode node;
  docker::EngineClient& client = *node.engine.engine;
  const std::string image = node.engine.must(client.import_image("mayfly-test/closed-tmp", make_random_hex(6),
                                                                 closed_tmp_rootfs(), DockerNode::soon()));
  const Ended ended = run(node, "echo kept > /tmp/file; /bin/busybox cat /tmp/file", image);
  node.engine.remove_image(image);
  CHECK(ended.output == "kept\n");
}
