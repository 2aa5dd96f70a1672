#include "base/digest.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <limits>
#include <stdexcept>

namespace mayfly {
namespace {

constexpr std::size_t kSha256Bytes = 32;
using Digest = std::array<unsigned char, kSha256Bytes>;

std::string to_hex(const Digest& digest) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    text += kHex[byte >> 4U];
    text += kHex[byte & 15U];
  }
  return text;
}

// OpenSSL fails here only without memory or without its default provider.
void require(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string("OpenSSL failed: ") + what);
}

}  // namespace

struct Sha256::State {
  struct Free {
    void operator()(EVP_MD_CTX* unused) const { EVP_MD_CTX_free(unused); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context{EVP_MD_CTX_new()};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  require(state_->context && EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) == 1,
          "EVP_DigestInit_ex");
}

Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::byte> data) {
  if (!state_) throw std::logic_error("Sha256::update after hex or move");
  require(EVP_DigestUpdate(state_->context.get(), data.data(), data.size()) == 1, "EVP_DigestUpdate");
}

void Sha256::update(std::string_view text) {
  update(std::as_bytes(std::span(text)));
}

std::string Sha256::hex() {
  if (!state_) throw std::logic_error("Sha256::hex after hex or move");
  Digest digest{};
  require(EVP_DigestFinal_ex(state_->context.get(), digest.data(), nullptr) == 1, "EVP_DigestFinal_ex");
  state_.reset();
  return to_hex(digest);
}

std::string sha256_hex(std::string_view text) {
  Sha256 sum;
  sum.update(text);
  return sum.hex();
}

std::string hmac_sha256_hex(std::string_view key, std::string_view text) {
  if (key.size() > std::numeric_limits<int>::max()) throw std::length_error("hmac_sha256_hex: key");
  Digest digest{};
  const auto* data = reinterpret_cast<const unsigned char*>(text.data());
  require(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), data, text.size(), digest.data(),
               nullptr) != nullptr,
          "HMAC");
  return to_hex(digest);
}

// The lengths may show: they are those of digests and tokens, which everybody knows.
bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace mayfly
