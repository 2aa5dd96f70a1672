#include "base/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <array>
#include <span>
#include <stdexcept>

namespace mayfly {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;

struct Entry {
  std::string_view name;
  std::string_view labels;  // comma-separated, in alphabetical order
  std::string_view help;
};

constexpr std::array kCounters = {
    Entry{"mayfly_tasks_submitted_total", "result",
          "Tasks submitted, by accepted or the code of the refusal."},
    Entry{"mayfly_tasks_ended_total", "reason,state",
          "Tasks that reached a terminal state, by state and reason."},
    Entry{"mayfly_engine_calls_total", "endpoint,result",
          "Calls to the container engine, by endpoint and result."},
    Entry{"mayfly_log_bytes_total", "", "Bytes of task output stored."},
    Entry{"mayfly_http_requests_total", "method,route,status",
          "HTTP requests answered, by method, route and status."},
    Entry{"mayfly_leaked_resources_removed_total", "kind",
          "Engine objects found without an owner and removed, by kind."},
    Entry{"mayfly_channel_reattaches_total", "",
          "Times a channel to a runner was opened again after its carrier broke."},
    Entry{"mayfly_channel_dropped_lines_total", "",
          "Lines from a carrier that were no valid record and were dropped."},
};

constexpr std::array kGauges = {
    Entry{"mayfly_tasks", "state", "Tasks that have not ended, by state."},
    Entry{"mayfly_queue_length", "", "Tasks that wait for a place."},
    Entry{"mayfly_sandboxes_live", "", "Sandboxes that exist now, parked or running."},
    Entry{"mayfly_leaked_resources", "kind",
          "Engine objects found without an owner at the last look, by kind."},
    Entry{"mayfly_engine_up", "", "1 when the container engine answers, else 0."},
    Entry{"mayfly_build_info", "version", "Always 1; the label is the version of this program."},
    Entry{"mayfly_log_store_bytes", "", "Bytes that the segments of task output take on disk."},
};

struct HistogramEntry : Entry {
  std::span<const double> buckets;  // upper bounds in seconds
};

// A phase lasts from a few milliseconds (collect) to hours (run).
constexpr std::array kPhaseSeconds = {0.005, 0.01, 0.025, 0.05,  0.1,   0.25,  0.5,    1.0,    2.5,    5.0,
                                      10.0,  30.0, 60.0,  120.0, 300.0, 600.0, 1800.0, 3600.0, 14400.0};
constexpr std::array kCallSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                     0.25,  0.5,    1.0,   2.5,  5.0,   10.0, 30.0};
constexpr std::array kCommitSeconds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                       0.025,  0.05,    0.1,    0.5,   1.0,    5.0};

constexpr std::array kHistograms = {
    HistogramEntry{{"mayfly_task_phase_seconds", "phase", "How long each phase of a task took."},
                   kPhaseSeconds},
    HistogramEntry{
        {"mayfly_engine_call_seconds", "endpoint", "How long the container engine took to answer."},
        kCallSeconds},
    HistogramEntry{
        {"mayfly_http_request_seconds", "route", "How long an HTTP request took to its last byte."},
        kCallSeconds},
    HistogramEntry{{"mayfly_store_commit_seconds", "", "How long a group commit of the task store took."},
                   kCommitSeconds},
};

// A registered family beside its entry in one of the tables above.
template <class Metric, class TableEntry>
struct Registered {
  const TableEntry* entry;
  Family<Metric>* family;
};

template <class Metric, class TableEntry>
using Families = std::map<std::string_view, Registered<Metric, TableEntry>>;

// A wrong name or a wrong set of labels is a bug of the caller.
template <class Metric, class TableEntry>
const Registered<Metric, TableEntry>& find(const Families<Metric, TableEntry>& families,
                                           std::string_view name, const MetricLabels& labels) {
  const auto found = families.find(name);
  if (found == families.end()) throw std::logic_error("no such metric of this type: " + std::string(name));
  std::string given;
  for (const auto& [label, value] : labels) given += (given.empty() ? "" : ",") + label;
  if (given != found->second.entry->labels) {
    throw std::logic_error("metric " + std::string(name) + " has the labels {" +
                           std::string(found->second.entry->labels) + "}, not {" + given + "}");
  }
  return found->second;
}

}  // namespace

// Families are registered once, here; afterwards the maps are only read, and prometheus-cpp locks within a
// family.
struct Metrics::State {
  template <class Metric, class TableEntry>
  Families<Metric, TableEntry> register_all(prometheus::detail::Builder<Metric> (*build)(),
                                            std::span<const TableEntry> table) {
    Families<Metric, TableEntry> families;
    for (const TableEntry& entry : table) {
      auto& family = build().Name(std::string(entry.name)).Help(std::string(entry.help)).Register(registry);
      families.emplace(entry.name, Registered<Metric, TableEntry>{&entry, &family});
    }
    return families;
  }

  prometheus::Registry registry;
  Families<Counter, Entry> counters =
      register_all(prometheus::BuildCounter, std::span<const Entry>(kCounters));
  Families<Gauge, Entry> gauges = register_all(prometheus::BuildGauge, std::span<const Entry>(kGauges));
  Families<Histogram, HistogramEntry> histograms =
      register_all(prometheus::BuildHistogram, std::span<const HistogramEntry>(kHistograms));
};

Metrics::Metrics() : state_(std::make_unique<State>()) {}
Metrics::~Metrics() = default;

void Metrics::add(std::string_view counter, const MetricLabels& labels, double by) {
  find(state_->counters, counter, labels).family->Add(labels).Increment(by);
}

void Metrics::set(std::string_view gauge, double value, const MetricLabels& labels) {
  find(state_->gauges, gauge, labels).family->Add(labels).Set(value);
}

void Metrics::observe(std::string_view histogram, double value, const MetricLabels& labels) {
  const auto& [entry, family] = find(state_->histograms, histogram, labels);
  family->Add(labels, Histogram::BucketBoundaries(entry->buckets.begin(), entry->buckets.end()))
      .Observe(value);
}

std::string Metrics::render() const {
  return prometheus::TextSerializer().Serialize(state_->registry.Collect());
}

}  // namespace mayfly
