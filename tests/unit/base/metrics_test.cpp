#include "base/metrics.hpp"

#include <catch2/catch.hpp>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

namespace mayfly {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("counters add up by their labels") {
  Metrics metrics;
  metrics.add("mayfly_tasks_ended_total", {{"state", "failed"}, {"reason", "oom_killed"}});
  metrics.add("mayfly_tasks_ended_total", {{"state", "failed"}, {"reason", "oom_killed"}});
  metrics.add("mayfly_tasks_ended_total", {{"state", "succeeded"}, {"reason", ""}});
  metrics.add("mayfly_log_bytes_total", {}, 1048576);
  const std::string text = metrics.render();
  CHECK_THAT(text, Contains("# TYPE mayfly_tasks_ended_total counter\n"));
  CHECK_THAT(text, Contains("mayfly_tasks_ended_total{reason=\"oom_killed\",state=\"failed\"} 2\n"));
  CHECK_THAT(text, Contains("mayfly_tasks_ended_total{reason=\"\",state=\"succeeded\"} 1\n"));
  CHECK_THAT(text, Contains("\nmayfly_log_bytes_total 1048576\n"));
}

TEST_CASE("gauges hold the last value") {
  Metrics metrics;
  metrics.set("mayfly_queue_length", 7);
  metrics.set("mayfly_queue_length", 3);
  metrics.set("mayfly_build_info", 1, {{"version", "0.1.0"}});
  const std::string text = metrics.render();
  CHECK_THAT(text, Contains("# TYPE mayfly_queue_length gauge\nmayfly_queue_length 3\n"));
  CHECK_THAT(text, Contains("mayfly_build_info{version=\"0.1.0\"} 1\n"));
}

TEST_CASE("histograms count into buckets up to infinity") {
  Metrics metrics;
  metrics.observe("mayfly_task_phase_seconds", 0.02, {{"phase", "queue"}});
  metrics.observe("mayfly_task_phase_seconds", 0.3, {{"phase", "queue"}});
  metrics.observe("mayfly_task_phase_seconds", 1e6, {{"phase", "queue"}});
  const std::string text = metrics.render();
  CHECK_THAT(text, Contains("# TYPE mayfly_task_phase_seconds histogram\n"));
  CHECK_THAT(text, Contains("mayfly_task_phase_seconds_bucket{phase=\"queue\",le=\"0.01\"} 0\n"));
  CHECK_THAT(text, Contains("mayfly_task_phase_seconds_bucket{phase=\"queue\",le=\"0.025\"} 1\n"));
  CHECK_THAT(text, Contains("mayfly_task_phase_seconds_bucket{phase=\"queue\",le=\"0.5\"} 2\n"));
  CHECK_THAT(text, Contains("mayfly_task_phase_seconds_bucket{phase=\"queue\",le=\"+Inf\"} 3\n"));
  CHECK_THAT(text, Contains("mayfly_task_phase_seconds_count{phase=\"queue\"} 3\n"));
}

TEST_CASE("every metric of the table can be used with its labels and is rendered with its help") {
  Metrics metrics;
  metrics.add("mayfly_tasks_submitted_total", {{"result", "accepted"}});
  metrics.add("mayfly_tasks_ended_total", {{"state", "lost"}, {"reason", "runner_lost"}});
  metrics.add("mayfly_engine_calls_total", {{"endpoint", "create"}, {"result", "ok"}});
  metrics.add("mayfly_log_bytes_total");
  metrics.add("mayfly_http_requests_total", {{"method", "GET"}, {"route", "/v1/tasks"}, {"status", "200"}});
  metrics.add("mayfly_leaked_resources_removed_total", {{"kind", "volume"}});
  metrics.add("mayfly_channel_reattaches_total");
  metrics.add("mayfly_channel_dropped_lines_total");
  metrics.set("mayfly_tasks", 1, {{"state", "running"}});
  metrics.set("mayfly_queue_length", 1);
  metrics.set("mayfly_sandboxes_live", 1);
  metrics.set("mayfly_leaked_resources", 0, {{"kind", "container"}});
  metrics.set("mayfly_engine_up", 1);
  metrics.set("mayfly_build_info", 1, {{"version", "0.1.0"}});
  metrics.set("mayfly_log_store_bytes", 1);
  metrics.observe("mayfly_task_phase_seconds", 1, {{"phase", "run"}});
  metrics.observe("mayfly_engine_call_seconds", 0.1, {{"endpoint", "create"}});
  metrics.observe("mayfly_http_request_seconds", 0.1, {{"route", "/v1/tasks"}});
  metrics.observe("mayfly_store_commit_seconds", 0.001);
  std::size_t helps = 0;
  std::istringstream lines(metrics.render());
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("# HELP ")) continue;
    CAPTURE(line);
    CHECK(line.starts_with("# HELP mayfly_"));
    CHECK(line.ends_with("."));
    ++helps;
  }
  CHECK(helps == 19);
}

TEST_CASE("an unknown name or another type or other labels are bugs") {
  Metrics metrics;
  CHECK_THROWS_AS(metrics.add("mayfly_no_such_total"), std::logic_error);
  CHECK_THROWS_AS(metrics.add("mayfly_queue_length"), std::logic_error);
  CHECK_THROWS_AS(metrics.set("mayfly_log_bytes_total", 1), std::logic_error);
  CHECK_THROWS_AS(metrics.observe("mayfly_queue_length", 1), std::logic_error);
  CHECK_THROWS_AS(metrics.set("mayfly_tasks", 1), std::logic_error);
  CHECK_THROWS_AS(metrics.set("mayfly_tasks", 1, {{"task", "tsk_1"}}), std::logic_error);
  CHECK_THROWS_AS(metrics.set("mayfly_queue_length", 1, {{"tenant", "a"}}), std::logic_error);
  CHECK(metrics.render().empty());
}

TEST_CASE("label values cannot break the text format") {
  Metrics metrics;
  metrics.set("mayfly_build_info", 1, {{"version", "a\"b\\c\nd"}});
  CHECK_THAT(metrics.render(), Contains("mayfly_build_info{version=\"a\\\"b\\\\c\\nd\"} 1\n"));
}

TEST_CASE("metrics may be used from several threads while they are rendered") {
  Metrics metrics;
  {
    std::vector<std::jthread> threads;
    threads.reserve(3);
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&metrics, t] {
        for (int i = 0; i < 500; ++i) {
          metrics.add("mayfly_log_bytes_total");
          metrics.observe("mayfly_engine_call_seconds", 0.01, {{"endpoint", std::to_string(t)}});
        }
      });
    }
    for (int i = 0; i < 20; ++i) metrics.render();
  }
  const std::string text = metrics.render();
  CHECK_THAT(text, Contains("\nmayfly_log_bytes_total 1500\n"));
  CHECK_THAT(text, Contains("mayfly_engine_call_seconds_count{endpoint=\"2\"} 500\n"));
}

}  // namespace
}  // namespace mayfly
