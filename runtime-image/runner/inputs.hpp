// What the orchestrator puts before it binds: files of the workspace, the bind spec, stdin and the script. A
// put that fails spoils the task, not the runner: the first fault is kept and becomes the end at bind.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "launch_failure.hpp"
#include "unique_fd.hpp"

namespace mayfly::runner {

class Inputs {
 public:
  static constexpr std::size_t kMostSpec = 2U << 20U;
  static constexpr std::size_t kMostInput = 4U << 20U;  // files, stdin and script together

  // `workspace`: an O_PATH descriptor, or -1 where the sandbox has none; not owned. `scratch`: where the
  // script goes.
  Inputs(int workspace, std::string scratch) : workspace_(workspace), scratch_(std::move(scratch)) {}

  void put(const channel::Put& put, std::string_view piece);
  // Ends the last file: gives it its mode. Before `fault` is judged.
  void finish();

  const std::optional<Fault>& fault() const { return fault_; }
  const std::string& spec() const { return spec_; }
  std::string take_standard_input() { return std::move(stdin_); }
  std::string script_path() const { return scratch_ + "/mayfly-script"; }
  // The texts are no longer needed.
  void forget();

 private:
  void put_file(const channel::Put& put, std::string_view piece);
  void put_script(std::uint64_t offset, std::string_view piece);
  bool in_order(const char* what, std::uint64_t have, std::uint64_t offset);
  bool open_file(const channel::Put& put);
  void open_script();
  void write(std::string_view piece);
  void spoil(Reason cause, std::string message);
  void spoil_errno(const std::string& what, int error);

  int workspace_;
  std::string scratch_;
  std::optional<Fault> fault_;
  std::string spec_, stdin_;
  std::size_t taken_ = 0;
  // The file or script being written.
  UniqueFd file_;
  channel::PutTarget target_ = channel::PutTarget::spec;
  std::string path_;
  std::uint32_t mode_ = 0;
  std::uint64_t written_ = 0;
};

}  // namespace mayfly::runner
