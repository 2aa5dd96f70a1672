// Prometheus metrics without letting prometheus-cpp's types out of one file. Thread safe.
// Names begin with `mayfly_`, units are base units, counters end in `_total`; a label never holds an id.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace mayfly {

using MetricLabels = std::map<std::string, std::string>;

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Each is registered at first use with the help text given in metrics.cpp's table; an unknown name is a bug
  // and throws std::logic_error.
  void add(std::string_view counter, const MetricLabels& labels = {}, double by = 1);
  void set(std::string_view gauge, double value, const MetricLabels& labels = {});
  void observe(std::string_view histogram, double value, const MetricLabels& labels = {});

  // Prometheus text format 0.0.4.
  std::string render() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mayfly
