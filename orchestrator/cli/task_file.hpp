// A task as a person gives it: a YAML or JSON file, or an image and a command. Used by submit and run.
#pragma once

#include <string>
#include <vector>

#include "task/task_spec.hpp"

namespace mayfly::cli {

// Whether `word` names a task file: "-" (standard input) or an ending in .yaml, .yml or .json.
bool names_task_file(std::string_view word);
// Reads a file (or standard input) as YAML, of which JSON is a part. Faults are named with their line.
Result<TaskSpec> read_task_file(const std::string& name);
// `FILE`, or `IMAGE CMD…`: a single word that names a task file is one.
Result<TaskSpec> task_of(const std::vector<std::string>& words);

}  // namespace mayfly::cli
