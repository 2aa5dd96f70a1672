#include "limit_watch.hpp"

namespace mayfly::runner {

void LimitWatch::begin(const CgroupSample& before) {
  oom_kills_ = before.oom_kills.value_or(0);
  pids_refused_ = before.pids_refused.value_or(0);
}

void LimitWatch::note(LimitHit hit, std::vector<LimitHit>& hits) {
  if (told_.insert(hit).second) hits.push_back(hit);
}

void LimitWatch::look_at_pids(const CgroupSample& now, std::vector<LimitHit>& hits) {
  if (now.pids_refused.value_or(0) > pids_refused_) note(LimitHit::pids, hits);
}

std::vector<LimitHit> LimitWatch::look(const CgroupSample& now, DiskSpace disk) {
  std::vector<LimitHit> hits;
  const std::uint64_t kills = now.oom_kills.value_or(0);
  if (kills > oom_kills_ && oom_pending_) {
    note(LimitHit::memory, hits);
    oom_kills_ = kills;
    oom_pending_ = false;
  } else {
    oom_pending_ = kills > oom_kills_;
  }
  look_at_pids(now, hits);
  if (disk == DiskSpace::none_left) note(LimitHit::disk, hits);
  return hits;
}

LimitWatch::End LimitWatch::look_at_end(const CgroupSample& now, MainEnd how, DiskSpace disk) {
  End end;
  const bool risen = now.oom_kills.value_or(0) > oom_kills_;
  end.oom_killed_main = risen && how == MainEnd::killed_by_kernel_or_task;
  if (risen && !end.oom_killed_main) note(LimitHit::memory, end.hits);
  look_at_pids(now, end.hits);
  if (disk == DiskSpace::none_left) note(LimitHit::disk, end.hits);
  return end;
}

}  // namespace mayfly::runner
