// What every phase of a task's life works with, as references; built by app/ and by test fixtures only.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "async/blocking_pool.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "log_store/log_store.hpp"
#include "runtime/runtime.hpp"
#include "store/task_store.hpp"
#include "workspace/artifact_store.hpp"

namespace mayfly {

struct Services {
  asio::any_io_executor io;  // the one I/O thread
  Runtime& runtime;
  TaskStore& store;
  LogStore& logs;
  ArtifactStore& artifacts;
  BlockingPool& pool;
  Metrics& metrics;
  Logger& log;
  const Clock& clock;
};

}  // namespace mayfly
