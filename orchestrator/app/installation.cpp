#include "app/installation.hpp"

#include "base/file.hpp"

namespace mayfly {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kKeyDigits = 2 * kKeyBytes;

Result<docker::Installation> make_installation(const std::filesystem::path& file) {
  docker::Installation installation{.id = make_id<InstallationId>(), .key = make_random_hex(kKeyBytes)};
  auto written = write_file_durably(file, installation.id.str() + "\n" + installation.key + "\n");
  if (!written) return fail_with(std::move(written));
  return installation;
}

}  // namespace

Result<docker::Installation> load_installation(const std::filesystem::path& data_dir) {
  const std::filesystem::path file = data_dir / "installation";
  auto text = read_private_file(file, 4_KiB);
  if (!text && text.error().code == ErrorCode::not_found) return make_installation(file);
  if (!text) return fail_with(std::move(text));
  const std::size_t border = text->find('\n');
  auto id = parse_id<InstallationId>(std::string_view(*text).substr(0, border));
  const std::string_view rest = border == std::string::npos ? "" : std::string_view(*text).substr(border + 1);
  if (!id || rest.size() != kKeyDigits + 1 || rest.back() != '\n') {
    return fail(ErrorCode::corrupt, file.string() +
                                        " is not what Mayfly wrote: restore it from a backup, or remove it "
                                        "when no sandbox of this server is left on the engine");
  }
  return docker::Installation{.id = std::move(*id), .key = std::string(rest.substr(0, kKeyDigits))};
}

}  // namespace mayfly
