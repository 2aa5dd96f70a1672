// A runner that lies in its hello (K10), in the place of mayfly-runner. Which lie is told by the size of its
// workspace, the only thing that a task says before the bind. Exits with 77 when it is bound all the same.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
  kHonest = 16,
  kWrongNonce,
  kWrongEpoch,
  kOtherProtocol,
  kNotParked,
  kNoHello,
  kNoise,
  kLineWithoutEnd,
  kBadCrc,
  kRoot,
  kCapable,
  kUnfiltered,
  kDumpable,
  kNetworked
};

static uint32_t crc32c(const char* data, size_t size) {
  uint32_t crc = 0xFFFFFFFF;
  for (size_t i = 0; i < size; ++i) {
    crc ^= (unsigned char)data[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78 : 0);
  }
  return crc ^ 0xFFFFFFFF;
}

static void say_hello(int lie, unsigned long epoch, const char* nonce) {
  char self[1024], line[2048];
  snprintf(self, sizeof self,
           "{\"uid\":%d,\"gid\":65532,\"cap_effective\":\"%s\",\"cap_bounding\":\"0000000000000000\","
           "\"no_new_privileges\":true,\"seccomp_mode\":%d,\"interfaces\":[\"%s\"],\"dumpable\":%s,\"pid\":1,"
           "\"cgroup_version\":1}",
           lie == kRoot ? 0 : 65532, lie == kCapable ? "0000000000002000" : "0000000000000000",
           lie == kUnfiltered ? 0 : 2, lie == kNetworked ? "eth0" : "lo",
           lie == kDumpable ? "true" : "false");
  int size = snprintf(line, sizeof line,
                      "{\"jsonrpc\":\"2.0\",\"method\":\"hello\",\"params\":{\"e\":%lu,\"nonce\":\"%s\","
                      "\"protocol\":%d,\"build\":\"fake\",\"instance\":\"0123456789abcdef0123456789abcdef\","
                      "\"state\":\"%s\",\"attempt\":\"\",\"got\":0,\"sent\":0,\"acked\":0,\"self\":%s}}",
                      lie == kWrongEpoch ? epoch + 1 : epoch, lie == kWrongNonce ? "0000" : nonce,
                      lie == kOtherProtocol ? 2 : 1, lie == kNotParked ? "running" : "parked", self);
  const uint32_t crc = crc32c(line, (size_t)size) ^ (lie == kBadCrc ? 1 : 0);
  size += snprintf(line + size, sizeof line - (size_t)size, "%08x\n", crc);
  if (write(1, line, (size_t)size) != size) exit(1);
}

static void make_noise(int lie) {
  static char noise[32768];
  memset(noise, lie == kNoise ? '\n' : 'x', sizeof noise);
  for (size_t i = 0; lie == kNoise && i < sizeof noise; i += 3) noise[i] = "{\"}0\xff"[i / 3 % 5];
  for (;;) {
    if (write(1, noise, sizeof noise) < 0) exit(1);
  }
}

int main(void) {
  static char line[65536];
  struct statvfs workspace;
  if (statvfs("/workspace", &workspace) != 0) return 2;
  const int lie = (int)(workspace.f_blocks * workspace.f_frsize >> 20);
  if (lie == kNoise || lie == kLineWithoutEnd) make_noise(lie);
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (strstr(line, "\"method\":\"bind\"") != NULL) return 77;
    const char* epoch = strstr(line, "\"e\":");
    const char* nonce = strstr(line, "\"nonce\":\"");
    if (strstr(line, "\"method\":\"attach\"") == NULL || epoch == NULL || nonce == NULL || lie == kNoHello)
      continue;
    char text[64] = "";
    sscanf(nonce + 9, "%63[0-9a-f]", text);
    say_hello(lie, strtoul(epoch + 4, NULL, 10), text);
  }
  return 3;
}
