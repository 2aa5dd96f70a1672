#include "memory.hpp"

#include <malloc.h>

#include <cstdlib>
#include <cstring>

namespace mayfly::runner {
namespace {

constexpr std::size_t kStackBytes = 128U << 10U;
constexpr int kNeverBelow = 64 << 20;

void touch(char* bytes, std::size_t count) {
  constexpr std::size_t kPage = 4096;
  volatile char* at = bytes;
  for (std::size_t i = 0; i < count; i += kPage) at[i] = 1;
}

[[gnu::noinline]] void touch_stack() {
  char room[kStackBytes];
  touch(room, sizeof room);
}

}  // namespace

void warm_memory(std::size_t bytes) {
  ::mallopt(M_TRIM_THRESHOLD, kNeverBelow);
  ::mallopt(M_MMAP_THRESHOLD, kNeverBelow);
  if (char* room = static_cast<char*>(std::malloc(bytes))) {
    touch(room, bytes);
    std::free(room);
  }
  touch_stack();
}

}  // namespace mayfly::runner
