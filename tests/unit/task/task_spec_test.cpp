#include "task/task_spec.hpp"

#include "unit/task/spec_faults.hpp"

using namespace mayfly;

namespace {

Json full_spec() {
  return Json::parse(R"json({
    "kind": "command", "name": "count words", "image": "python:3.12", "command": ["python3", "a.py", ""],
    "env": {"K": "v", "EMPTY": ""}, "working_dir": "/tmp/x", "stdin": "input\n",
    "inputs": [{"path": "a.py", "content": "print(1)", "mode": "0755"}, {"path": "d/b.bin", "content_base64": "//4A"}],
    "outputs": ["out/**", "*.txt"],
    "limits": {"cpus": 0.5, "memory": "512Mi", "workspace": 134217728, "tmp": "64Mi", "shm": "16Mi", "pids": 128,
               "open_files": 256, "log": "64Mi", "cpu_time": "30s"},
    "timeouts": {"queue": "1h", "prepare": "5m", "start": "30s", "run": "10m", "idle": "0s", "stop": "500ms", "total": "1d"},
    "labels": {"team": "a", "mayfly.dev/run-id": "x_1.2-3", "empty": ""}, "priority": -5, "on_log_limit": "truncate"
  })json");
}

}  // namespace

TEST_CASE("a spec with every field is read as written") {
  const auto parsed = parse_task_spec(full_spec());
  REQUIRE(parsed);
  const auto& spec = *parsed;
  CHECK(spec.kind == TaskKind::command);
  CHECK(spec.name == "count words");
  CHECK(spec.image == "python:3.12");
  CHECK(spec.command == std::vector<std::string>{"python3", "a.py", ""});
  CHECK(spec.env == std::map<std::string, std::string>{{"K", "v"}, {"EMPTY", ""}});
  CHECK(spec.working_dir == "/tmp/x");
  CHECK(spec.stdin_data == "input\n");
  REQUIRE(spec.inputs.size() == 2);
  CHECK(spec.inputs[0] == InputFile{"a.py", "print(1)", 0755});
  CHECK(spec.inputs[1] == InputFile{"d/b.bin", std::string("\xff\xfe\0", 3), 0644});
  CHECK(spec.outputs == std::vector<std::string>{"out/**", "*.txt"});
  CHECK(spec.limits == LimitsAsked{500, 512_MiB, 128_MiB, 64_MiB, 16_MiB, 64_MiB, 128, 256, Millis(30'000)});
  CHECK(spec.timeouts == TimeoutsAsked{Millis(3'600'000), Millis(300'000), Millis(30'000), Millis(600'000),
                                       Millis(0), Millis(500), Millis(86'400'000)});
  CHECK(spec.labels.at("mayfly.dev/run-id") == "x_1.2-3");
  CHECK(spec.priority == -5);
  CHECK(spec.on_log_limit == OnLogLimit::truncate);
}

TEST_CASE("the least spec is an image and a command and all else has its default") {
  const auto spec = parse_task_spec(minimal_spec());
  REQUIRE(spec);
  CHECK(*spec == TaskSpec{.image = "busybox", .command = {"true"}});
}

TEST_CASE("a spec comes back from its own JSON and has one canonical text") {
  for (const auto& json : {full_spec(), minimal_spec(), Json{{"image", "a"}, {"script", "exit 3\n"}},
                           Json{{"image", "a"}, {"script_base64", "//8="}, {"stdin_base64", "AP8="}}}) {
    const auto spec = parse_task_spec(json).value();
    const auto again = parse_task_spec(to_json(spec));
    REQUIRE(again);
    CHECK(*again == spec);
    CHECK(canonical_text(*again) == canonical_text(spec));
    CHECK(parse_json(canonical_text(spec)).value() == to_json(spec));
  }
  // Other ways to write the same task have the same fingerprint; another task has another.
  auto other = full_spec();
  other["limits"]["memory"] = 536870912;
  other["limits"]["cpus"] = "500m";
  other["timeouts"]["run"] = "600s";
  CHECK(canonical_text(parse_task_spec(other).value()) ==
        canonical_text(parse_task_spec(full_spec()).value()));
  other["priority"] = -4;
  CHECK(canonical_text(parse_task_spec(other).value()) !=
        canonical_text(parse_task_spec(full_spec()).value()));
}

TEST_CASE("all faults of a spec are told at once") {
  const Json json = {{"image", "../x"},         {"command", 5}, {"env", {{"A B", "x"}}}, {"priority", 5000},
                     {"limits", {{"pids", 0}}}, {"nmae", "x"}};
  CHECK(faults_of(json) == Faults{"/command wrong_type", "/env/A B bad_format", "/image bad_format",
                                  "/limits/pids out_of_range", "/nmae unknown_field",
                                  "/priority out_of_range"});
  CHECK_THAT(parse_task_spec(json).error().message, Catch::StartsWith("the task spec has 6 faults"));
}

TEST_CASE("a spec that is no object is one fault") {
  for (const Json& json : {Json(), Json(5), Json("x"), Json::array()})
    CHECK(faults_of(json) == Faults{" wrong_type"});
  CHECK(faults_of(Json::object()) == Faults{"/command required", "/image required"});
}

TEST_CASE("null is no way to leave a field out") {
  const auto spec = full_spec();
  for (const auto& [name, value] : spec.items()) {
    INFO(name);
    CHECK(faults_of(spec_with(name, nullptr)) == Faults{"/" + name + " wrong_type"});
  }
}

TEST_CASE("A05 fields that only the control plane may set are unknown") {
  for (const std::string name : {"tenant", "status", "state", "container_id", "policy_hash", "image_verified",
                                 "id", "granted", "exit_code", "attempts"}) {
    INFO(name);
    CHECK(faults_of(spec_with(name, "x")) == Faults{"/" + name + " unknown_field"});
  }
}

TEST_CASE("C02 fields of a container are forbidden by name in every spelling") {
  for (const std::string name : {"privileged",
                                 "cap_add",
                                 "cap_drop",
                                 "devices",
                                 "device_cgroup_rules",
                                 "binds",
                                 "volumes",
                                 "volumes_from",
                                 "mounts",
                                 "tmpfs",
                                 "network_mode",
                                 "network",
                                 "pid_mode",
                                 "ipc_mode",
                                 "userns_mode",
                                 "uts_mode",
                                 "cgroup_parent",
                                 "cgroupns_mode",
                                 "security_opt",
                                 "seccomp",
                                 "apparmor",
                                 "sysctls",
                                 "ports",
                                 "port_bindings",
                                 "exposed_ports",
                                 "extra_hosts",
                                 "user",
                                 "group_add",
                                 "runtime",
                                 "entrypoint",
                                 "init",
                                 "restart_policy",
                                 "host_config",
                                 "dns",
                                 "dns_search",
                                 "links",
                                 "storage_opt",
                                 "log_config",
                                 "healthcheck",
                                 "auto_remove",
                                 "oom_kill_disable",
                                 "ulimits",
                                 "masked_paths",
                                 "readonly_paths",
                                 "readonly_rootfs",
                                 "mac_address",
                                 "hostname",
                                 "gpus"}) {
    INFO(name);
    CHECK(faults_of(spec_with(name, true)) == Faults{"/" + name + " forbidden_" + name});
  }
  CHECK(faults_of(spec_with("CapAdd", Json::array())) == Faults{"/CapAdd forbidden_cap_add"});
  CHECK(faults_of(spec_with("NetworkMode", "host")) == Faults{"/NetworkMode forbidden_network_mode"});
  CHECK(faults_of(spec_with("PRIVILEGED", true)) == Faults{"/PRIVILEGED forbidden_privileged"});
  CHECK(faults_of(spec_with("host-config", true)) == Faults{"/host-config forbidden_host_config"});
  CHECK(faults_of(spec_with("limits", {{"oom_score_adj", -1000}})) ==
        Faults{"/limits/oom_score_adj forbidden_oom_score_adj"});
  CHECK_THAT(first_detail_of(spec_with("binds", Json::array())), Catch::Contains("fixed by policy"));
}

TEST_CASE("V02 a field in another case is unknown and the right one is named") {
  CHECK(faults_of(spec_with("Image", "x")) == Faults{"/Image unknown_field"});
  CHECK_THAT(first_detail_of(spec_with("Image", "x")), Catch::Contains("did you mean \"image\"?"));
  CHECK_THAT(first_detail_of(spec_with("workingDir", "x")), Catch::Contains("working_dir"));
}

TEST_CASE("V03 a name is plain text of at most 128 bytes") {
  CHECK(faults_of(spec_with("name", "日本 (1)")).empty());
  CHECK(faults_of(spec_with("name", std::string(128, 'n'))).empty());
  CHECK(faults_of(spec_with("name", std::string(129, 'n'))) == Faults{"/name out_of_range"});
  for (const Json& name :
       {Json("a\x1b[31m"), Json("a\nb"), Json(std::string("a\0b", 3)), Json("a\u202e"), Json("\xff")}) {
    CHECK(faults_of(spec_with("name", name)) == Faults{"/name bad_format"});
  }
}

TEST_CASE("V06 an image is a strict reference of at most 255 bytes") {
  CHECK(faults_of(spec_with("image", "")) == Faults{"/image out_of_range"});
  CHECK(faults_of(spec_with("image", std::string(300, 'a'))) == Faults{"/image out_of_range"});
  CHECK(faults_of(spec_with("image", "http://x/y")) == Faults{"/image bad_format"});
  CHECK(faults_of(spec_with("image", 5)) == Faults{"/image wrong_type"});
}

TEST_CASE("every limit has a type and bounds and no two meanings") {
  const auto fault_of = [](const std::string& name, Json value) {
    return faults_of(spec_with("limits", {{name, std::move(value)}}));
  };
  for (const std::string name : {"memory", "workspace", "tmp", "shm", "log"}) {
    INFO(name);
    const auto at = "/limits/" + name;
    CHECK(fault_of(name, "64Mi").empty());
    CHECK(fault_of(name, 67'108'864).empty());
    CHECK(fault_of(name, 0) == Faults{at + " out_of_range"});
    CHECK(fault_of(name, -1) == Faults{at + " out_of_range"});
    CHECK(fault_of(name, 1ULL << 60U) == Faults{at + " out_of_range"});
    CHECK(fault_of(name, 1.5) == Faults{at + " wrong_type"});
    CHECK(fault_of(name, true) == Faults{at + " wrong_type"});
    CHECK(fault_of(name, "64MB") == Faults{at + " bad_format"});
    CHECK(fault_of(name, "") == Faults{at + " bad_format"});
  }
  for (const std::string name : {"pids", "open_files"}) {
    INFO(name);
    const auto at = "/limits/" + name;
    CHECK(fault_of(name, 64).empty());
    CHECK(fault_of(name, 0) == Faults{at + " out_of_range"});
    CHECK(fault_of(name, -1) == Faults{at + " out_of_range"});
    CHECK(fault_of(name, 1ULL << 63U) == Faults{at + " out_of_range"});
    CHECK(fault_of(name, 64.0) == Faults{at + " wrong_type"});
    CHECK(fault_of(name, "64") == Faults{at + " wrong_type"});
  }
  CHECK(fault_of("cpus", 0) == Faults{"/limits/cpus out_of_range"});
  CHECK(fault_of("cpus", "0.009") == Faults{"/limits/cpus out_of_range"});
  CHECK(fault_of("cpus", 0.01).empty());
  CHECK(fault_of("cpus", true) == Faults{"/limits/cpus wrong_type"});
  CHECK(fault_of("cpu_time", 30) == Faults{"/limits/cpu_time wrong_type"});
  CHECK(fault_of("cpu_time", "0s").empty());
  CHECK(fault_of("mem", "1Gi") == Faults{"/limits/mem unknown_field"});
}

TEST_CASE("every timeout is a duration with a unit and at most a year") {
  const auto fault_of = [](const std::string& name, Json value) {
    return faults_of(spec_with("timeouts", {{name, std::move(value)}}));
  };
  for (const std::string name : {"queue", "prepare", "start", "run", "idle", "stop", "total"}) {
    INFO(name);
    const auto at = "/timeouts/" + name;
    CHECK(fault_of(name, "365d").empty());
    CHECK(fault_of(name, "366d") == Faults{at + " out_of_range"});
    CHECK(fault_of(name, 600) == Faults{at + " wrong_type"});
    CHECK(fault_of(name, "600") == Faults{at + " bad_format"});
    CHECK(fault_of(name, "-1s") == Faults{at + " bad_format"});
    const bool may_be_none = name == "idle" || name == "stop";
    CHECK(fault_of(name, "0s") == (may_be_none ? Faults{} : Faults{at + " out_of_range"}));
  }
  CHECK(fault_of("wall", "1s") == Faults{"/timeouts/wall unknown_field"});
}

TEST_CASE("labels follow the grammar of Kubernetes") {
  const auto fault_of = [](const std::string& key, Json value) {
    return faults_of(spec_with("labels", Json{{key, std::move(value)}})).size();
  };
  const std::string right[] = {"a", "team", "A1.b_c-d", "example.com/team", std::string(63, 'k')};
  for (const auto& key : right) {
    INFO(key);
    CHECK(fault_of(key, "v") == 0);
  }
  const std::string wrong[] = {"",
                               "-a",
                               "a-",
                               "a b",
                               "a/b/c",
                               "/a",
                               "a/",
                               "Example.com/a",
                               "a..b/c",
                               "é",
                               std::string(64, 'k'),
                               std::string(260, 'k') + "/a"};
  for (const auto& key : wrong) {
    INFO(key);
    CHECK(fault_of(key, "v") == 1);
  }
  for (const Json& value : {Json("-"), Json("a b"), Json("a="), Json("é"), Json(1), Json(true), Json(),
                            Json(std::string(254, 'v'))}) {
    CHECK(fault_of("k", value) == 1);
  }
  CHECK(fault_of("k", "") == 0);
  Json many = Json::object();
  for (int i = 0; i <= 64; ++i) many["k" + std::to_string(i)] = "v";
  CHECK(faults_of(spec_with("labels", many)) == Faults{"/labels out_of_range"});
}

TEST_CASE("words of a closed set are refused with the words that would do") {
  CHECK(faults_of(spec_with("kind", "agent")) == Faults{"/kind bad_format"});
  CHECK(faults_of(spec_with("on_log_limit", "drop")) == Faults{"/on_log_limit bad_format"});
  CHECK(first_detail_of(spec_with("on_log_limit", "drop")) ==
        "expected one of end_task, truncate, got \"drop\"");
}

TEST_CASE("priority is a whole number from minus to plus one thousand") {
  CHECK(parse_task_spec(spec_with("priority", 1000)).value().priority == 1000);
  CHECK(parse_task_spec(spec_with("priority", -1000)).value().priority == -1000);
  for (const Json& value : {Json(1001), Json(-1001), Json(1e3), Json("1"), Json(true), Json(1ULL << 63U)}) {
    CHECK(faults_of(spec_with("priority", value)).size() == 1);
  }
}
