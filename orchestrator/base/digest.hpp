// SHA-256, HMAC-SHA-256 and constant-time comparison, over OpenSSL's EVP. Each object belongs to one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace mayfly {

// Incremental SHA-256; `hex` ends it.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void update(std::span<const std::byte> data);
  void update(std::string_view text);
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_hex(std::string_view text);
std::string hmac_sha256_hex(std::string_view key, std::string_view text);
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace mayfly
