// A file descriptor with an owner. The runner has its own, since base/file.hpp belongs to the orchestrator's
// side.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace mayfly::runner {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

// Everything the runner keeps stands at or above this number, so that a child's 0 to 9 can be laid out by
// dup2 without looking at what is there.
inline constexpr int kLowestOwnFd = 100;

// The same open file at a high number, closed on exec. Invalid with errno set when that fails.
inline UniqueFd raise_fd(int fd) {
  return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, kLowestOwnFd));
}
inline UniqueFd raise_fd(UniqueFd fd) {
  return fd ? raise_fd(fd.get()) : UniqueFd();
}

}  // namespace mayfly::runner
