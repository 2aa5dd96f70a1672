#include "runtime/docker/image_facts.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/utf8.hpp"

namespace mayfly::docker {
namespace {

constexpr std::size_t kMaxReference = 255;
constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view kHex = "0123456789abcdef";

bool consists_of(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Lower-case letters and digits, with single ".", one or two "_", or any number of "-" between them.
bool is_path_part(std::string_view part) {
  if (part.empty() || kLower.find(part.front()) == std::string_view::npos ||
      kLower.find(part.back()) == std::string_view::npos) {
    return false;
  }
  while (!part.empty()) {
    const std::size_t word = std::min(part.find_first_not_of(kLower), part.size());
    part.remove_prefix(word);
    const std::size_t separator = std::min(part.find_first_of(kLower), part.size());
    const std::string_view between = part.substr(0, separator);
    const bool fine =
        between.empty() || between == "." || between == "_" || between == "__" || consists_of(between, "-");
    if (!fine) return false;
    part.remove_prefix(separator);
  }
  return true;
}

// Docker reads the first part as a host when it has a dot or a colon, or is "localhost".
bool is_host(std::string_view part) {
  const std::size_t colon = part.find(':');
  const std::string_view name = part.substr(0, colon);
  if (name.empty() || !is_alphanumeric(name.front()) || !is_alphanumeric(name.back())) return false;
  const bool plain = std::all_of(name.begin(), name.end(),
                                 [](char c) { return is_alphanumeric(c) || c == '.' || c == '-'; });
  if (!plain || name.find("..") != std::string_view::npos) return false;
  if (colon == std::string_view::npos) return true;
  const std::string_view port = part.substr(colon + 1);
  return !port.empty() && port.size() <= 5 && consists_of(port, "0123456789");
}

bool is_name(std::string_view name) {
  for (bool first = true;; first = false) {
    const std::size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    const bool may_be_host = first && slash != std::string_view::npos;
    if (!is_path_part(part) && !(may_be_host && is_host(part))) return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

bool is_tag(std::string_view tag) {
  const auto is_word = [](char c) { return is_alphanumeric(c) || c == '_'; };
  return !tag.empty() && tag.size() <= 128 && is_word(tag.front()) &&
         std::all_of(tag.begin(), tag.end(), [&](char c) { return is_word(c) || c == '.' || c == '-'; });
}

bool is_digest(std::string_view digest) {
  constexpr std::string_view kAlgorithm = "sha256:";
  return digest.starts_with(kAlgorithm) && digest.size() == kAlgorithm.size() + 64 &&
         consists_of(digest.substr(kAlgorithm.size()), kHex);
}

tl::unexpected<Error> bad_reference(std::string_view reference, std::string_view why) {
  return fail(ErrorCode::invalid_argument,
              "image \"" + std::string(reference.substr(0, kMaxReference)) + "\" " + std::string(why));
}

// Absolute, without empty, "." and ".." parts; a final slash is dropped.
std::optional<std::string> normalise_path(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (path.size() < 2 || path.front() != '/' || path.size() > 1024) return std::nullopt;
  for (std::size_t begin = 1; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = std::string_view(path).substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return std::nullopt;
    begin = end + 1;
  }
  return path;
}

bool is_at_or_under(std::string_view path, std::string_view dir) {
  return path.starts_with(dir) && (path.size() == dir.size() || path[dir.size()] == '/');
}

// A tmpfs there would hide or break what the sandbox itself needs.
bool is_reserved(std::string_view path) {
  constexpr std::array<std::string_view, 4> kReserved = {"/proc", "/sys", "/dev", "/.mayfly"};
  return std::any_of(kReserved.begin(), kReserved.end(),
                     [&](std::string_view dir) { return is_at_or_under(path, dir); });
}

tl::unexpected<Error> cannot_cover(const std::string& reference, const std::string& declared) {
  return fail(ErrorCode::unprocessable, "image \"" + reference + "\" declares a volume at \"" + declared +
                                            "\", which cannot be covered: build the image without it");
}

Result<std::vector<std::string>> cover_volumes(const std::string& reference, const ImageInspect& found) {
  std::set<std::string> paths;
  for (const std::string& declared : found.volumes) {
    const auto path = normalise_path(declared);
    if (!path || is_reserved(*path)) {
      return cannot_cover(reference, declared);
    }
    // Our own mounts already stand there.
    if (*path != "/workspace" && *path != "/tmp") paths.insert(*path);
  }
  if (paths.size() > kMaxImageVolumes) {
    return fail(ErrorCode::unprocessable, "image \"" + reference + "\" declares " +
                                              std::to_string(paths.size()) + " volumes; at most " +
                                              std::to_string(kMaxImageVolumes) + " are covered");
  }
  return std::vector<std::string>(paths.begin(), paths.end());
}

// golang and rust images have their tools where no default would look. It names programs of the image only,
// and the image could replace those anyhow.
std::string usable_path(std::string path) {
  return path.size() <= 4096 && is_plain_text(path) ? std::move(path) : std::string();
}

}  // namespace

Result<> check_image_name(std::string_view reference) {
  if (reference.empty()) return bad_reference(reference, "is empty");
  if (reference.size() > kMaxReference) return bad_reference(reference, "has more than 255 characters");
  if (is_digest(reference)) return {};
  std::string_view name = reference;
  if (const std::size_t at = name.find('@'); at != std::string_view::npos) {
    if (!is_digest(name.substr(at + 1))) return bad_reference(reference, "has no sha256 digest after \"@\"");
    name = name.substr(0, at);
  }
  const std::size_t colon = name.rfind(':');
  if (colon != std::string_view::npos && name.find('/', colon) == std::string_view::npos) {
    if (!is_tag(name.substr(colon + 1))) return bad_reference(reference, "has a tag that cannot be one");
    name = name.substr(0, colon);
  }
  if (!is_name(name)) {
    return bad_reference(reference,
                         "is no image reference: expected [host[:port]/]name[:tag][@sha256:digest] in "
                         "lower case, or an image id");
  }
  return {};
}

Result<Image> make_image(const std::string& reference, const ImageInspect& found, const EngineFacts& engine) {
  if (found.os != "linux" || found.architecture != engine.architecture) {
    return fail(ErrorCode::invalid_argument, "image \"" + reference + "\" is for " + found.os + "/" +
                                                 found.architecture + "; the engine runs linux/" +
                                                 engine.architecture);
  }
  auto volumes = cover_volumes(reference, found);
  if (!volumes) return fail_with(std::move(volumes));
  Image image;
  std::set<std::string> names;
  for (const std::string& entry : found.env) {
    std::string name = entry.substr(0, entry.find('='));
    if (name == "PATH") image.path = usable_path(entry.substr(std::min(entry.size(), name.size() + 1)));
    if (!name.empty()) names.insert(std::move(name));
  }
  image.reference = reference;
  image.id = found.id;
  image.volumes = *std::move(volumes);
  image.env_names.assign(names.begin(), names.end());
  return image;
}

}  // namespace mayfly::docker
