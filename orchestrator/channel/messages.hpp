// The messages of the channel as typed values, with their JSON members. docs/channel.md says who sends which,
// when. Pure; any thread. `members()` gives the text for Link::send_*; `parse_…` reads Incoming::body and
// refuses anything missing or of a wrong type (protocol).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "task/task_record.hpp"

namespace mayfly::channel {

// Method names. Orchestrator to runner:
inline constexpr std::string_view kAttach = "attach";         // plain:    Attach; answered by kHello
inline constexpr std::string_view kPut = "put";               // numbered: Put + payload
inline constexpr std::string_view kBind = "bind";             // numbered: Bind
inline constexpr std::string_view kStop = "stop";             // numbered: Stop
inline constexpr std::string_view kRelease = "release";       // numbered: no members
inline constexpr std::string_view kFilesList = "files.list";  // request:  FilesList → FilesPage
inline constexpr std::string_view kFilesRead = "files.read";  // request:  FilesRead → FileChunk + payload
inline constexpr std::string_view kPing = "ping";             // plain:    no members; renews the lease
// Runner to orchestrator:
inline constexpr std::string_view kHello = "hello";          // plain:    Hello
inline constexpr std::string_view kOut = "out";              // numbered: Out + payload
inline constexpr std::string_view kTruncated = "truncated";  // numbered: Truncated
inline constexpr std::string_view kStarted = "started";      // numbered: Started (the bind was taken)
inline constexpr std::string_view kLimitHit = "limit_hit";   // numbered: LimitHitMessage
inline constexpr std::string_view kEnded = "ended";          // numbered: Ended
inline constexpr std::string_view kUsage =
    "usage";  // plain:    UsageMessage, about once a second while bound
// Both: kAck and kNack {"got": number} are the Link's own.
inline constexpr std::string_view kAck = "ack";
inline constexpr std::string_view kNack = "nack";

struct Attach {
  std::string nonce;
  std::uint64_t got = 0;  // the runner's number that stands last in the log segment
  std::string members() const;
};
Result<Attach> parse_attach(const Json& body);

enum class RunnerState { parked, bound, running, stopping, ended };
std::string_view name_of(RunnerState state);

// What the runner sees of its own confinement; compared with the profile by the orchestrator and by tests.
struct SelfReport {
  std::uint32_t uid = 0, gid = 0;
  std::string cap_effective, cap_bounding;  // hex as in /proc/self/status
  bool no_new_privileges = false;
  int seccomp_mode = 0;
  std::vector<std::string> interfaces;  // names in /proc/net/dev
  bool dumpable = true;
  int pid = 0;
  int cgroup_version = 0;  // 1, 2, or 0 when none can be read
};

struct Hello {
  std::string nonce;
  int protocol = 0;
  std::string build;     // the runner's version
  std::string instance;  // random per start of the runner
  RunnerState state = RunnerState::parked;
  std::string attempt;      // empty while unbound
  std::uint64_t got = 0;    // the orchestrator's number taken last
  std::uint64_t sent = 0;   // the runner's own last number
  std::uint64_t acked = 0;  // up to here its messages were acknowledged, and it has them no more
  SelfReport self;
  std::string members() const;
};
Result<Hello> parse_hello(const Json& body);

// Where a piece of input goes: a file of the workspace, the bind spec, the process's stdin, or the script.
enum class PutTarget { workspace, spec, standard_input, script };

struct Put {
  PutTarget target = PutTarget::workspace;
  std::string path;           // only for workspace
  std::uint32_t mode = 0644;  // only for workspace; permission bits, set-id bits refused
  std::uint64_t offset = 0;   // pieces of one target come in order
  std::string members() const;
};
Result<Put> parse_put(const Json& body);

// The task as the runner needs it: JSON, sent by `put` pieces with target spec, before bind.
struct BindSpec {
  std::vector<std::string> argv;           // empty when `script`
  bool script = false;                     // run `/bin/sh` on the script that was put
  std::map<std::string, std::string> env;  // complete: the runner adds nothing
  std::string working_dir;
  bool has_stdin = false;  // else /dev/null
  std::uint64_t open_files = 1024;
  std::uint64_t file_size = 0;  // RLIMIT_FSIZE in bytes; 0: none
  std::int64_t run_ms = 0;      // 0: no limit, as for all that follow
  std::int64_t idle_ms = 0;
  std::int64_t cpu_ms = 0;
  std::int64_t stop_ms = 10'000;  // grace between SIGTERM and SIGKILL
  std::uint64_t log_bytes = 0;
  bool truncate_log = false;
  std::int64_t lease_ms = 3'600'000;
  std::uint64_t spool_bytes = 4U << 20U;
  friend bool operator==(const BindSpec&, const BindSpec&) = default;
};
std::string dump_bind_spec(const BindSpec& spec);
Result<BindSpec> parse_bind_spec(std::string_view text);

struct Bind {
  std::string attempt;
  std::uint64_t spec_bytes = 0;  // of the text that was put
  std::uint32_t spec_crc = 0;    // CRC-32C of it
  std::string members() const;
};
Result<Bind> parse_bind(const Json& body);

struct Stop {
  Reason reason = Reason::cancelled_by_user;  // becomes the cause of the end when nothing came before
  bool kill = false;                          // at once, without SIGTERM
  std::int64_t grace_ms = 10'000;
  std::string members() const;
};
Result<Stop> parse_stop(const Json& body);

struct Started {
  std::string attempt;
  std::string members() const;
};
Result<Started> parse_started(const Json& body);

enum class OutStream { out = 1, err = 2 };

struct Out {
  OutStream stream = OutStream::out;
  std::uint64_t offset = 0;  // within its stream
  std::string members() const;
};
Result<Out> parse_out(const Json& body);

struct Truncated {
  std::uint64_t kept_bytes = 0;  // both streams together; what came after was read and thrown away
  std::string members() const;
};
Result<Truncated> parse_truncated(const Json& body);

struct LimitHitMessage {
  LimitHit limit = LimitHit::memory;
  std::string members() const;
};
Result<LimitHitMessage> parse_limit_hit(const Json& body);

struct Ended {
  ProcessEnd end;
  Usage usage;
  std::uint64_t out_bytes = 0, err_bytes = 0, dropped_bytes = 0;
  std::string message;  // for people: "exec /no/such: No such file or directory"
  std::string members() const;
};
Result<Ended> parse_ended(const Json& body);

struct UsageMessage {
  Usage usage;
  std::string members() const;
};
Result<UsageMessage> parse_usage(const Json& body);

// Lists regular files below the workspace that match a pattern, in path order, after `after`.
struct FilesList {
  std::vector<std::string> patterns;
  std::string after;
  std::uint32_t limit = 128;
  std::string members() const;
};
Result<FilesList> parse_files_list(const Json& body);

struct FileEntry {
  std::string path;
  std::uint64_t size = 0;
  std::uint32_t mode = 0644;
};

struct FilesPage {
  std::vector<FileEntry> files;
  bool more = false;                 // ask again with after = the last path
  std::vector<std::string> skipped;  // matched, and no regular file (link, fifo, socket, device), or a
                                     // directory that cannot be read
  std::string members() const;       // paths that are not UTF-8 travel as {"b64": …}
};
Result<FilesPage> parse_files_page(const Json& body);

struct FilesRead {
  std::string path;
  std::uint64_t offset = 0;
  std::uint32_t length = 0;  // at most kMaxPayloadBytes
  std::string members() const;
};
Result<FilesRead> parse_files_read(const Json& body);

struct FileChunk {
  std::uint64_t size = 0;  // of the file now
  bool end = false;        // nothing behind this piece
  std::string members() const;
};
Result<FileChunk> parse_file_chunk(const Json& body);

}  // namespace mayfly::channel
