#include "runtime/docker/runner_volume.hpp"

#include <boost/asio/this_coro.hpp>

#include "base/digest.hpp"
#include "base/file.hpp"
#include "runtime/docker/hardened_profile.hpp"
#include "runtime/docker/profile_check.hpp"
#include "runtime/docker/runner_archive.hpp"

namespace mayfly::docker {
namespace {

constexpr std::string_view kHelperRepository = "mayfly/helper";
constexpr std::string_view kHelperTag = "1";
constexpr Bytes kLargestRunner = 64_MiB;
constexpr Bytes kArchiveOverhead = 1_MiB;
constexpr Millis kHelperLifetime{std::chrono::minutes(10)};
constexpr Millis kCleanUp{std::chrono::seconds(5)};
constexpr int kNames = 3;

std::string helper_image() {
  return std::string(kHelperRepository) + ":" + std::string(kHelperTag);
}

// "mayfly-runner-<32 hex>", then "…-2", "…-3".
std::string volume_name(const std::string& sha256, int attempt) {
  const std::string name = "mayfly-runner-" + sha256.substr(0, 32);
  return attempt == 1 ? name : name + "-" + std::to_string(attempt);
}

}  // namespace

RunnerVolumeKeeper::RunnerVolumeKeeper(EngineClient& engine, BlockingPool& pool, const Clock& clock,
                                       Logger& log, const Installation& installation, std::string binary)
    : engine_(engine),
      pool_(pool),
      clock_(clock),
      log_(log),
      installation_(installation),
      binary_path_(std::move(binary)) {}

Async<RunnerVolume> RunnerVolumeKeeper::ensure(Deadline deadline) {
  const auto executor = co_await asio::this_coro::executor;
  if (!ensuring_) ensuring_.emplace(executor);
  const auto hold = co_await ensuring_->acquire();
  co_return co_await find_or_make(deadline);
}

Async<bool> RunnerVolumeKeeper::is_in_place(RunnerVolume volume, Deadline deadline) {
  const auto found = co_await engine_.inspect_volume(volume.name, deadline);
  if (!found && found.error().code == ErrorCode::not_found) co_return false;
  if (!found) co_return fail_with(found);
  co_return find_label(found->labels, kLabelRunner) == volume.sha256;
}

Async<RunnerVolume> RunnerVolumeKeeper::find_or_make(Deadline deadline) {
  auto read = [path = binary_path_] { return read_file(path, kLargestRunner); };
  const auto binary = co_await pool_.run(std::move(read));
  if (!binary) co_return fail_with(binary);
  const std::string sha256 = sha256_hex(*binary);
  if (auto image = co_await ensure_helper_image(deadline); !image) co_return fail_with(std::move(image));
  for (int attempt = 1; attempt <= kNames; ++attempt) {
    const std::string name = volume_name(sha256, attempt);
    const auto right = co_await try_name(name, sha256, *binary, deadline);
    if (!right) co_return fail_with(right);
    if (*right) {
      if (auto removed = co_await remove_leftovers(name, deadline); !removed)
        co_return fail_with(std::move(removed));
      co_return RunnerVolume{name, sha256};
    }
    log_.warn("runtime", "a volume with the runner's name holds something else", {{"volume", name}});
  }
  co_return fail(ErrorCode::forbidden, "the volumes " + volume_name(sha256, 1) + " to -" +
                                           std::to_string(kNames) + " hold something other than " +
                                           binary_path_ + ": find out who made them, then remove them");
}

// The image is never run, so it does not matter who made one of that name.
Async<> RunnerVolumeKeeper::ensure_helper_image(Deadline deadline) {
  const auto found = co_await engine_.inspect_image(helper_image(), deadline);
  if (found) co_return Result<>{};
  if (found.error().code != ErrorCode::not_found) co_return fail_with(found);
  std::string tar = make_helper_image_archive();
  const auto made = co_await engine_.import_image(std::string(kHelperRepository), std::string(kHelperTag),
                                                  std::move(tar), deadline);
  if (!made) co_return fail_with(made);
  co_return Result<>{};
}

// False: the name is taken by something that is not this runner.
Async<bool> RunnerVolumeKeeper::try_name(std::string name, std::string sha256, const std::string& binary,
                                         Deadline deadline) {
  VolumeConfig wanted;
  wanted.name = name;
  wanted.labels = make_labels(installation_, {ObjectKind::runner_volume, name, "", sha256, std::nullopt});
  const auto volume = co_await engine_.create_volume(wanted, deadline);
  if (!volume) co_return fail_with(volume);
  // Another installation's volume is fine: what counts is the content. Options are not: they may mount a host
  // path. Without a label it is what the engine itself makes when a container names a volume that is not
  // there.
  const bool is_plain = compare_volume(wanted, *volume, CompareLabels::ignored).empty();
  if (!is_plain || find_label(volume->labels, kLabelRunner) != sha256) co_return false;

  const std::string helper = "mayfly-helper-" + make_random_hex(8);
  if (auto made = co_await create_helper(helper, name, sha256, deadline); !made)
    co_return fail_with(std::move(made));
  auto right = co_await check_through_helper(helper, binary, deadline);
  const auto removed = co_await engine_.remove_container(helper, Deadline::in(kCleanUp));
  if (!removed)
    log_.warn("runtime", "a helper container is left",
              {{"name", helper}, {"error", removed.error().message}});
  co_return right;
}

Async<> RunnerVolumeKeeper::create_helper(std::string helper, std::string volume, std::string sha256,
                                          Deadline deadline) {
  ContainerConfig config;
  config.image = helper_image();
  config.entrypoint = {std::string(kRunnerPath)};
  config.mounts = {Mount{std::move(volume), std::string(kRunnerDirectory), false}};
  const LabelContent content{ObjectKind::helper_container, helper, helper, std::move(sha256),
                             clock_.wall() + kHelperLifetime};
  config.labels = make_labels(installation_, content);
  const auto created = co_await engine_.create_container(std::move(helper), std::move(config), deadline);
  if (!created) co_return fail_with(created);
  co_return Result<>{};
}

// Only an empty volume is filled. One that holds something else is left as it is: sandboxes may be using it.
Async<bool> RunnerVolumeKeeper::check_through_helper(std::string helper, const std::string& binary,
                                                     Deadline deadline) {
  const std::string directory(kRunnerDirectory);
  const std::size_t limit = binary.size() + kArchiveOverhead.count;
  for (bool filled = false;; filled = true) {
    const auto archive = co_await engine_.get_archive(helper, directory, limit, deadline);
    if (!archive && archive.error().code == ErrorCode::protocol)
      co_return false;  // longer than the runner could be
    if (!archive) co_return fail_with(archive);
    const auto content = check_runner_archive(*archive, binary);
    if (!content) co_return fail_with(content);
    if (*content != RunnerVolumeContent::empty || filled) co_return *content == RunnerVolumeContent::right;
    std::string tar = make_runner_archive(binary);
    auto put = co_await engine_.put_archive(helper, directory, std::move(tar), deadline);
    if (!put) co_return fail_with(std::move(put));
  }
}

// Best effort: what is in use or not ours stays, and an error is the next start's business.
Async<> RunnerVolumeKeeper::remove_leftovers(std::string current_volume, Deadline deadline) {
  const auto helpers = co_await engine_.list_containers(std::string(kLabelHelper), deadline);
  if (!helpers) co_return fail_with(helpers);
  for (const ContainerSummary& helper : *helpers) {
    const auto expires = parse_time(find_label(helper.labels, kLabelExpiresAt));
    const bool ours = labels_verify(installation_, ObjectKind::helper_container, helper.name, helper.labels);
    if (ours && expires && *expires <= clock_.wall())
      (void)co_await engine_.remove_container(helper.name, deadline);
  }
  const auto volumes = co_await engine_.list_volumes(std::string(kLabelRunner), deadline);
  if (!volumes) co_return fail_with(volumes);
  for (const VolumeInfo& volume : *volumes) {
    const bool ours = labels_verify(installation_, ObjectKind::runner_volume, volume.name, volume.labels);
    if (ours && volume.name != current_volume) (void)co_await engine_.remove_volume(volume.name, deadline);
  }
  co_return Result<>{};
}

}  // namespace mayfly::docker
