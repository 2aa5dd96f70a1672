// The client: `mayfly submit | ls | show | logs | cancel | artifacts` over the HTTP API. Each returns the
// process's exit code (exit_codes.hpp). Blocking.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/api_client.hpp"
#include "cli/console.hpp"
#include "task/task_spec.hpp"

namespace mayfly::cli {

struct SubmitOptions {
  TaskSpec spec;
  std::string idempotency_key;  // empty: a fresh one, so that a retry of ours is safe
  bool dry_run = false;
  bool wait = false;    // until it has ended: the task's exit code
  bool follow = false;  // as wait, with its output
};
int submit(ApiClient& api, const SubmitOptions& options, Output output);

struct ListOptions {
  std::vector<std::string> states;
  std::vector<std::string> labels;
  std::size_t limit = 50;
  bool all = false;  // every page
};
int list_tasks(ApiClient& api, const ListOptions& options, Output output);

int show_task(ApiClient& api, const std::string& id, bool wait, Output output);

struct LogOptions {
  std::string stream = "both";
  bool follow = false;
  bool raw = false;  // as written, also to a terminal
};
int show_logs(ApiClient& api, const std::string& id, const LogOptions& options);

int cancel_task(ApiClient& api, const std::vector<std::string>& ids, Output output);

struct ArtifactOptions {
  std::string path;                                // one file, to stdout or into the directory
  std::optional<std::filesystem::path> directory;  // all files go there
};
int show_artifacts(ApiClient& api, const std::string& id, const ArtifactOptions& options, Output output);

// Waits for the task's end over its event stream and gives its exit code. 125 when the server is lost for
// good.
int wait_for_end(ApiClient& api, const std::string& id);
// The exit code for a task as the API shows it.
int exit_code_of(const Json& task);

}  // namespace mayfly::cli
