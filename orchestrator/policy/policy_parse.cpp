// From a policy file to a Policy: the form `kind: Policy` (the bare block is in policy_block.cpp), and the
// way from faults at JSON pointers to faults at file:line:column.
#include "base/file.hpp"
#include "policy/policy_draft.hpp"
#include "policy/policy_version.hpp"

namespace mayfly {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kApiVersion = "mayfly.dev/v1";
constexpr std::string_view kPolicyKind = "Policy";
constexpr std::size_t kMostNameBytes = 63;
constexpr std::size_t kMostWarnings = 64;
constexpr std::size_t kMostWarningBytes = 1024;

constexpr Range<Bytes> kSizes{1_MiB, Bytes{16ULL << 40U}};
constexpr Range<Bytes> kReserve{0_MiB, Bytes{16ULL << 40U}};
constexpr Range<Millis> kAges{1s, 24h * 3650};
constexpr Range<Millis> kLeases{10s, 24h * 365};
constexpr Range<std::uint64_t> kFiles{1, 1'000'000};
constexpr Range<std::uint64_t> kSandboxes{1, 100'000};
constexpr Range<std::uint64_t> kQueuedTasks{1, 10'000'000};
constexpr Range<std::int64_t> kNodeCpus{10, 100'000'000};

// One map of single values below `spec`; each is recorded as "<layer>.<key>".
class Section {
 public:
  Section(const Field& field, std::string layer, PolicyDraft& draft)
      : fields_(field.as_object()), layer_(std::move(layer)), draft_(draft) {}

  void size(std::string_view key, Range<Bytes> range, Bytes& into) {
    const Field field = fields_.optional(key);
    take(key, field, field.as_size(range), into);
  }
  void count(std::string_view key, Range<std::uint64_t> range, std::uint64_t& into) {
    const Field field = fields_.optional(key);
    take(key, field, field.as_count(range), into);
  }
  void millicpus(std::string_view key, Range<std::int64_t> range, std::int64_t& into) {
    const Field field = fields_.optional(key);
    take(key, field, field.as_millicpus(range), into);
  }
  void duration(std::string_view key, Range<Millis> range, Millis& into) {
    const Field field = fields_.optional(key);
    take(key, field, field.as_duration(range), into);
  }
  void finish() { fields_.finish(); }

 private:
  template <class T>
  void take(std::string_view key, const Field& field, const std::optional<T>& value, T& into) {
    if (!value) return;
    into = *value;
    draft_.record(layer_ + "." + std::string(key), field);
  }

  ObjectReader fields_;
  std::string layer_;
  PolicyDraft& draft_;
};

void read_exact(const Field& field, std::string_view wanted) {
  const auto text = field.as_text();
  if (text && *text != wanted)
    field.add_fault("bad_format", "this version reads \"" + std::string(wanted) + "\" only");
}

bool is_policy_name(std::string_view name) {
  const bool good_ends = !name.empty() && name.front() != '-' && name.front() != '.' && name.back() != '-';
  return good_ends &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string_view::npos;
}

void read_metadata(ObjectReader fields, PolicyDraft& draft) {
  const Field field = fields.required("name");
  const auto name = field.as_text({.least = 1, .most = kMostNameBytes});
  if (name && !is_policy_name(*name)) {
    field.add_fault("bad_format",
                    "a name is lower-case letters, digits, '-' and '.', and begins with one of the former");
  } else if (name) {
    draft.policy.name = *name;
  }
  fields.finish();
}

void read_layer(ObjectReader fields, const std::string& layer, Limits& limits, Timeouts& timeouts,
                PolicyDraft& draft) {
  read_quantities(fields.optional("limits").as_object(), limit_quantities(), layer + ".limits", limits,
                  draft);
  read_quantities(fields.optional("timeouts").as_object(), timeout_quantities(), layer + ".timeouts",
                  timeouts, draft);
  fields.finish();
}

void read_warnings(const Field& field, PolicyDraft& draft) {
  for (const Field& item : field.as_list(kMostWarnings)) {
    if (auto text = item.as_text({.least = 1, .most = kMostWarningBytes}))
      draft.policy.accept_warnings.push_back(*std::move(text));
  }
  if (field) draft.record("accept_warnings", field);
}

void read_artifacts_and_workspace(ObjectReader& spec, PolicyDraft& draft) {
  Policy& policy = draft.policy;
  Section artifacts(spec.optional("artifacts"), "artifacts", draft);
  artifacts.size("bytes", kSizes, policy.artifact_bytes);
  artifacts.count("files", kFiles, policy.artifact_files);
  artifacts.finish();
  Section workspace(spec.optional("workspace"), "workspace", draft);
  workspace.size("tmpfs_max", kSizes, policy.workspace_tmpfs_max);
  workspace.finish();
  Section runner(spec.optional("runner"), "runner", draft);
  runner.duration("lease", kLeases, policy.runner_lease);
  runner.finish();
}

void read_house_keeping(ObjectReader& spec, PolicyDraft& draft) {
  Policy& policy = draft.policy;
  Section retention(spec.optional("retention"), "retention", draft);
  retention.duration("tasks", kAges, policy.retention.task_age);
  retention.size("log_bytes", kSizes, policy.retention.log_bytes);
  retention.duration("idempotency_keys", kAges, policy.retention.idempotency_age);
  retention.finish();
  Section capacity(spec.optional("capacity"), "capacity", draft);
  capacity.count("sandboxes", kSandboxes, policy.capacity.sandboxes);
  capacity.millicpus("cpus", kNodeCpus, policy.capacity.millicpus);
  capacity.size("memory", kSizes, policy.capacity.memory);
  capacity.count("queued_tasks", kQueuedTasks, policy.capacity.queued_tasks);
  capacity.finish();
  Section disk(spec.optional("disk"), "disk", draft);
  disk.size("reserve", kReserve, policy.disk_reserve);
  disk.finish();
}

// The file's own words for the places, and the key path first: what people look for in their editor.
Error to_file_error(const PolicyDraft& draft) {
  FaultList placed;
  for (const FieldFault& fault : draft.faults.kept()) {
    const std::string path = key_path(fault.pointer);
    placed.add(to_string(place_of(draft.document, fault.pointer)), fault.code,
               (path.empty() ? "the document" : path) + ": " + fault.detail);
  }
  return placed.to_error(ErrorCode::invalid_argument, "the policy file " + draft.file_name);
}

// Lists of names: `no`, `1.10` and `null` in them are text, as written.
void keep_name_lists(YamlDocument& document) {
  for (const char* pointer :
       {"/spec/accept_warnings", "/execution_policy/container_required_for",
        "/execution_policy/network/allowed_hosts", "/execution_policy/filesystem/writable_paths"})
    keep_as_written(document, pointer);
}

void read_root(PolicyDraft& draft) {
  const Json& value = draft.document.value;
  if (value.is_null()) {
    draft.faults.add("", "required", "the file is empty; without a file the built-in policy acts");
    return;
  }
  ObjectReader root(value, "", draft.faults);
  if (root.has("execution_policy")) return read_execution_policy(std::move(root), draft);
  read_policy_document(std::move(root), draft);
}

}  // namespace

void read_policy_document(ObjectReader root, PolicyDraft& draft) {
  read_exact(root.required("apiVersion"), kApiVersion);
  read_exact(root.required("kind"), kPolicyKind);
  if (const Field metadata = root.optional("metadata")) read_metadata(metadata.as_object(), draft);
  ObjectReader spec = root.required("spec").as_object();
  Policy& policy = draft.policy;
  read_layer(spec.optional("defaults").as_object(), "defaults", policy.default_limits,
             policy.default_timeouts, draft);
  read_layer(spec.optional("ceilings").as_object(), "ceilings", policy.max_limits, policy.max_timeouts,
             draft);
  read_warnings(spec.optional("accept_warnings"), draft);
  read_artifacts_and_workspace(spec, draft);
  read_house_keeping(spec, draft);
  spec.finish();
  root.optional("execution_policy");  // not there; known, so that a misspelled one is recognized
  root.finish();
}

Result<Policy> parse_policy(std::string_view yaml, const std::string& file_name) {
  auto document = parse_yaml(yaml, file_name);
  if (!document) return fail_with(std::move(document));
  keep_name_lists(*document);
  PolicyDraft draft;
  draft.document = *std::move(document);
  draft.file_name = file_name;
  draft.policy = builtin_policy();
  read_root(draft);
  if (draft.faults.empty()) settle(draft);
  if (!draft.faults.empty()) return tl::unexpected<Error>(to_file_error(draft));
  draft.policy.version = policy_version(draft.policy);
  return std::move(draft.policy);
}

Result<Policy> load_policy(const std::filesystem::path& file) {
  const auto text = read_file(file, Bytes{yaml_limits::kBytes});
  if (!text) return fail_with(text);
  return parse_policy(*text, file.string());
}

}  // namespace mayfly
