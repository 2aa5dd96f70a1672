#include "cli/client_commands.hpp"
#include "cli/command_parts.hpp"
#include "cli/exit_codes.hpp"
#include "cli/places.hpp"
#include "cli/task_file.hpp"

namespace mayfly::cli {
namespace {

// Where the server is, and how to answer; the same for every client command.
struct ClientWords {
  std::string server, token_file;
  bool json = false, table = false;
};

void add_client_options(CLI::App& command, ClientWords& words) {
  command.add_option("--server", words.server, "Socket path, unix:///path or http://127.0.0.1:port")
      ->envname("MAYFLY_SERVER");
  command.add_option("--token-file", words.token_file, "Bearer token for TCP (mode 0600)")
      ->envname("MAYFLY_TOKEN_FILE");
  auto* json = command.add_flag("--json", words.json,
                                "JSON on standard output (the default when that is no terminal)");
  command.add_flag("--table", words.table, "A table for people")->excludes(json);
}

int with_api(const ClientWords& words, const std::function<int(ApiClient&, Output)>& act) {
  const std::filesystem::path data_dir = default_state_dir() / "server";
  const std::string where = words.server.empty() ? (data_dir / "mayfly.sock").string() : words.server;
  const std::filesystem::path token =
      words.token_file.empty() ? data_dir / "token" : std::filesystem::path(words.token_file);
  auto address = parse_server_address(where, token);
  if (!address) {
    print_error(address.error());
    return kUsage;
  }
  ApiClient api(std::move(*address));
  return act(api, choose_output(words.json, words.table));
}

void add_submit(CLI::App& app, Action& chosen) {
  struct Words : ClientWords {
    std::vector<std::string> task;
    SubmitOptions options;
  };
  const auto words = std::make_shared<Words>();
  CLI::App* command = app.add_subcommand("submit", "Submit a task to the server");
  command->add_option("task", words->task, "FILE.yaml, FILE.json or - (standard input), or IMAGE [--] CMD…")
      ->required();
  command->add_option("--idempotency-key", words->options.idempotency_key,
                      "The same key and task: submitted once");
  command->add_flag("--dry-run", words->options.dry_run, "Only say what would be granted");
  command->add_flag("-w,--wait", words->options.wait, "Wait for the end; the task's exit code");
  command->add_flag("-f,--follow", words->options.follow, "As --wait, and show its output");
  add_client_options(*command, *words);
  command->positionals_at_end();
  command->footer(kExitCodesHelp);
  const auto act = [words] {
    auto spec = task_of(words->task);
    if (!spec) {
      print_error(spec.error());
      return kUsage;
    }
    words->options.spec = std::move(*spec);
    return with_api(*words,
                    [&](ApiClient& api, Output output) { return submit(api, words->options, output); });
  };
  command->callback([act, &chosen] { chosen = act; });
}

void add_list(CLI::App& app, Action& chosen) {
  struct Words : ClientWords {
    ListOptions options;
  };
  const auto words = std::make_shared<Words>();
  CLI::App* command = app.add_subcommand("ls", "List tasks, newest first");
  command->add_option("--state", words->options.states, "Only these states")->delimiter(',');
  command->add_option("-l,--label", words->options.labels, "Only tasks with this label, as key=value");
  command->add_option("--limit", words->options.limit, "Tasks a page")
      ->check(CLI::Range(1, 200))
      ->capture_default_str();
  command->add_flag("--all", words->options.all, "Every page");
  add_client_options(*command, *words);
  const auto act = [words] {
    return with_api(*words,
                    [&](ApiClient& api, Output output) { return list_tasks(api, words->options, output); });
  };
  command->callback([act, &chosen] { chosen = act; });
}

void add_show(CLI::App& app, Action& chosen) {
  struct Words : ClientWords {
    std::string id;
    bool wait = false;
  };
  const auto words = std::make_shared<Words>();
  CLI::App* command = app.add_subcommand("show", "Show one task");
  command->add_option("id", words->id, "Task id")->required();
  command->add_flag("-w,--wait", words->wait, "Wait for its end first; the task's exit code");
  add_client_options(*command, *words);
  const auto act = [words] {
    return with_api(*words, [&](ApiClient& api, Output output) {
      return show_task(api, words->id, words->wait, output);
    });
  };
  command->callback([act, &chosen] { chosen = act; });
}

void add_logs(CLI::App& app, Action& chosen) {
  struct Words : ClientWords {
    std::string id;
    LogOptions options;
  };
  const auto words = std::make_shared<Words>();
  CLI::App* command = app.add_subcommand("logs", "Print a task's output: stdout to stdout, stderr to stderr");
  command->add_option("id", words->id, "Task id")->required();
  command->add_flag("-f,--follow", words->options.follow,
                    "Go on until the task has ended; resumes over a server restart");
  command->add_option("--stream", words->options.stream, "stdout, stderr or both")
      ->check(CLI::IsMember({"stdout", "stderr", "both"}))
      ->capture_default_str();
  command->add_flag("--raw", words->options.raw, "Do not escape control characters on a terminal");
  add_client_options(*command, *words);
  const auto act = [words] {
    return with_api(*words,
                    [&](ApiClient& api, Output) { return show_logs(api, words->id, words->options); });
  };
  command->callback([act, &chosen] { chosen = act; });
}

void add_cancel(CLI::App& app, Action& chosen) {
  struct Words : ClientWords {
    std::vector<std::string> ids;
  };
  const auto words = std::make_shared<Words>();
  CLI::App* command = app.add_subcommand("cancel", "Cancel tasks; one that has ended stays as it is");
  command->add_option("ids", words->ids, "Task ids")->required();
  add_client_options(*command, *words);
  const auto act = [words] {
    return with_api(*words,
                    [&](ApiClient& api, Output output) { return cancel_task(api, words->ids, output); });
  };
  command->callback([act, &chosen] { chosen = act; });
}

void add_artifacts(CLI::App& app, Action& chosen) {
  struct Words : ClientWords {
    std::string id, directory;
    ArtifactOptions options;
  };
  const auto words = std::make_shared<Words>();
  CLI::App* command = app.add_subcommand("artifacts", "List a task's result files, or fetch them");
  command->add_option("id", words->id, "Task id")->required();
  command->add_option("path", words->options.path,
                      "Only this file; to standard output unless --output is given");
  command->add_option("-o,--output", words->directory, "Directory that the files are written to");
  add_client_options(*command, *words);
  const auto act = [words] {
    if (!words->directory.empty()) words->options.directory = words->directory;
    return with_api(*words, [&](ApiClient& api, Output output) {
      return show_artifacts(api, words->id, words->options, output);
    });
  };
  command->callback([act, &chosen] { chosen = act; });
}

}  // namespace

void add_client_commands(CLI::App& app, Action& chosen) {
  add_submit(app, chosen);
  add_list(app, chosen);
  add_show(app, chosen);
  add_logs(app, chosen);
  add_cancel(app, chosen);
  add_artifacts(app, chosen);
}

}  // namespace mayfly::cli
