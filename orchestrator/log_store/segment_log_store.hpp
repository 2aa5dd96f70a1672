// The log store on segments (docs/log-format.md): data_dir/logs/.
#pragma once

#include <filesystem>
#include <memory>

#include "async/blocking_pool.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "log_store/log_store.hpp"

namespace mayfly {

// Makes the directory and counts what lies in it. Blocking; at start-up. Followers are woken on `executor`,
// the I/O thread's, from where all calls come. The data directory belongs to this process alone (the task
// store's lock).
Result<std::unique_ptr<LogStore>> open_segment_log_store(const std::filesystem::path& data_dir,
                                                         asio::any_io_executor executor, BlockingPool& pool,
                                                         const Clock& clock, Logger& log);

}  // namespace mayfly
