#include <unistd.h>

#include "cli/command_parts.hpp"
#include "cli/console.hpp"
#include "cli/exit_codes.hpp"
#include "cli/places.hpp"
#include "cli/run_command.hpp"
#include "cli/serve_command.hpp"
#include "cli/task_file.hpp"

namespace mayfly::cli {
namespace {

// What a command needs to know; filled by the parser, read by the command's callback.
struct NodeWords {
  std::string data_dir;
  std::string policy;
  std::string engine;
  std::string runner;
};

void add_node_options(CLI::App& command, NodeWords& words) {
  command.add_option("--policy", words.policy, "Policy file (YAML); the built-in default policy otherwise")
      ->check(CLI::ExistingFile)
      ->envname("MAYFLY_POLICY");
  command.add_option("--engine", words.engine, "Engine address: unix:///path or tcp://127.0.0.1:port")
      ->envname("DOCKER_HOST");
  command.add_option("--runner", words.runner, "The static mayfly-runner; beside this program otherwise")
      ->envname("MAYFLY_RUNNER");
}

NodeConfig node_config(const NodeWords& words) {
  NodeConfig config;
  config.data_dir =
      words.data_dir.empty() ? default_state_dir() / "server" : std::filesystem::path(words.data_dir);
  if (!words.policy.empty()) config.policy_file = words.policy;
  config.engine = words.engine;
  config.runner_binary = words.runner.empty() ? default_runner_binary() : std::filesystem::path(words.runner);
  return config;
}

struct ServeWords {
  NodeWords node;
  std::string socket, listen, token_file, log_format, log_level = "info";
  bool drain = false;
};

LogLevel level_of(const std::string& name) {
  if (name == "debug") return LogLevel::debug;
  if (name == "warn") return LogLevel::warn;
  if (name == "error") return LogLevel::error;
  return LogLevel::info;
}

int do_serve(const ServeWords& words) {
  ServeOptions options;
  options.node = node_config(words.node);
  if (!words.socket.empty()) options.socket = std::filesystem::absolute(words.socket);
  if (!words.listen.empty()) options.listen = words.listen;
  if (!words.token_file.empty()) options.token_file = words.token_file;
  options.drain = words.drain;
  const bool text = words.log_format.empty() ? isatty(STDERR_FILENO) == 1 : words.log_format == "text";
  options.log_format = text ? LogFormat::text : LogFormat::json;
  options.log_level = level_of(words.log_level);
  return serve(std::move(options));
}

void add_serve(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<ServeWords>();
  ServeWords& words = *kept;
  CLI::App* command = app.add_subcommand("serve", "Run the control plane");
  command->add_option("--data-dir", words.node.data_dir, "Where tasks, logs and results are kept")
      ->envname("MAYFLY_DATA_DIR");
  add_node_options(*command, words.node);
  command->add_option("--socket", words.socket,
                      "Unix socket to listen on (mode 0600); DATA_DIR/mayfly.sock otherwise");
  command->add_option("--listen", words.listen,
                      "Also listen on loopback TCP, as 127.0.0.1:8080; clients show a bearer token");
  command->add_option("--token-file", words.token_file,
                      "The bearer token (mode 0600, made at first start); DATA_DIR/token otherwise");
  command->add_flag("--drain", words.drain,
                    "At SIGTERM wait for running tasks instead of leaving them to a successor");
  command->add_option("--log-format", words.log_format, "json or text")
      ->check(CLI::IsMember({"json", "text"}));
  command->add_option("--log-level", words.log_level, "debug, info, warn or error")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}))
      ->capture_default_str();
  command->callback([kept, &chosen] { chosen = [kept] { return do_serve(*kept); }; });
}

struct RunWords {
  NodeWords node;
  std::string state_dir, outputs;
  std::vector<std::string> words;
  std::string log_level = "error";
  bool quiet = false;
};

int do_run(const RunWords& words) {
  auto spec = task_of(words.words);
  if (!spec) {
    print_error(spec.error());
    return kUsage;
  }
  const NodeConfig node = node_config(words.node);
  RunOptions options;
  options.state_dir =
      words.state_dir.empty() ? default_state_dir() / "run" : std::filesystem::path(words.state_dir);
  options.policy_file = node.policy_file;
  options.engine = node.engine;
  options.runner_binary = node.runner_binary;
  options.spec = std::move(*spec);
  if (!words.outputs.empty()) options.outputs_dir = words.outputs;
  options.quiet = words.quiet;
  options.log_level = level_of(words.log_level);
  return run(std::move(options));
}

void add_run(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<RunWords>();
  RunWords& words = *kept;
  CLI::App* command = app.add_subcommand("run", "Run one task here, without a server: local simulation");
  command->add_option("task", words.words, "FILE.yaml, FILE.json or - (standard input), or IMAGE [--] CMD…")
      ->required();
  add_node_options(*command, words.node);
  command->add_option("--state-dir", words.state_dir, "Where the run keeps its state");
  command->add_option("-o,--outputs", words.outputs, "Directory that result files are copied to");
  command->add_flag("-q,--quiet", words.quiet, "Only the task's own output");
  command->add_option("--log-level", words.log_level, "debug, info, warn or error")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}))
      ->capture_default_str();
  command->positionals_at_end();
  command->footer(kExitCodesHelp);
  command->callback([kept, &chosen] { chosen = [kept] { return do_run(*kept); }; });
}

}  // namespace

void add_node_commands(CLI::App& app, Action& chosen) {
  add_serve(app, chosen);
  add_run(app, chosen);
}

}  // namespace mayfly::cli
