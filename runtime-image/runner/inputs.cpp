#include "inputs.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "beneath.hpp"
#include "task/workspace_path.hpp"

namespace mayfly::runner {
namespace {

using channel::PutTarget;

constexpr std::uint32_t kPermissions = 0777;
constexpr std::uint32_t kScriptMode = 0500;

}  // namespace

void Inputs::spoil(Reason cause, std::string message) {
  if (!fault_) fault_ = Fault{cause, "input: " + shorten(std::move(message), 1024)};
  file_.reset();
}

void Inputs::spoil_errno(const std::string& what, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  spoil(full ? Reason::no_space : Reason::internal, what + ": " + std::generic_category().message(error));
}

bool Inputs::in_order(const char* what, std::uint64_t have, std::uint64_t offset) {
  if (have == offset) return true;
  spoil(Reason::runner_protocol_error, std::string(what) + " at " + std::to_string(offset) + " while " +
                                           std::to_string(have) + " bytes are there");
  return false;
}

void Inputs::put(const channel::Put& put, std::string_view piece) {
  if (fault_) return;
  if (put.target == PutTarget::spec) {
    if (spec_.size() + piece.size() > kMostSpec)
      return spoil(Reason::runner_protocol_error, "the bind spec is too big");
    if (in_order("bind spec", spec_.size(), put.offset)) spec_.append(piece);
    return;
  }
  taken_ += piece.size();
  if (taken_ > kMostInput) {
    return spoil(Reason::runner_protocol_error, "more than " + std::to_string(kMostInput) + " bytes in all");
  }
  if (put.target == PutTarget::workspace) return put_file(put, piece);
  if (put.target == PutTarget::script) return put_script(put.offset, piece);
  if (in_order("stdin", stdin_.size(), put.offset)) stdin_.append(piece);
}

void Inputs::put_file(const channel::Put& put, std::string_view piece) {
  const bool goes_on = file_ && target_ == PutTarget::workspace && path_ == put.path && put.offset > 0;
  if (!goes_on && !(in_order("file", 0, put.offset) && open_file(put))) return;
  if (in_order("file", written_, put.offset)) write(piece);
}

bool Inputs::open_file(const channel::Put& put) {
  finish();
  if (fault_) return false;
  if (auto safe = check_workspace_path(put.path); !safe || (put.mode & ~kPermissions) != 0) {
    spoil(Reason::runner_protocol_error,
          safe ? "a mode with more than permission bits" : safe.error().message);
    return false;
  }
  auto parent = make_parents_beneath(workspace_, put.path);
  if (!parent) {
    spoil(parent.error().code == ErrorCode::disk_full ? Reason::no_space : Reason::internal,
          parent.error().message);
    return false;
  }
  file_ = open_beneath(workspace_, put.path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  struct stat found {};
  if (!file_ || ::fstat(file_.get(), &found) != 0) {
    spoil_errno("open " + put.path, errno);
  } else if (!S_ISREG(found.st_mode)) {
    spoil(Reason::internal, put.path + " is there already and no regular file");
  }
  target_ = PutTarget::workspace;
  path_ = put.path;
  mode_ = put.mode;
  written_ = 0;
  return !fault_;
}

void Inputs::put_script(std::uint64_t offset, std::string_view piece) {
  if (offset == 0) open_script();
  if (fault_ || !in_order("script", file_ && target_ == PutTarget::script ? written_ : 0, offset)) return;
  write(piece);
}

void Inputs::open_script() {
  finish();
  if (fault_) return;
  ::unlink(script_path().c_str());  // of the image perhaps; O_EXCL then makes it ours
  file_ = UniqueFd(::open(script_path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file_) return spoil_errno("open " + script_path(), errno);
  target_ = PutTarget::script;
  mode_ = kScriptMode;
  written_ = 0;
}

void Inputs::write(std::string_view piece) {
  while (!piece.empty()) {
    const ssize_t written = ::write(file_.get(), piece.data(), piece.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      return spoil_errno("write " + (target_ == PutTarget::script ? script_path() : path_), errno);
    piece.remove_prefix(static_cast<std::size_t>(written));
    written_ += static_cast<std::uint64_t>(written);
  }
}

void Inputs::finish() {
  if (!file_) return;
  if (::fchmod(file_.get(), mode_) != 0) spoil_errno("chmod", errno);
  file_.reset();
}

void Inputs::forget() {
  spec_ = std::string();
  stdin_ = std::string();
}

}  // namespace mayfly::runner
