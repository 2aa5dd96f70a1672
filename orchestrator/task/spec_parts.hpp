// The parts of a task spec, each read and checked in a file of its own. Internal to task/. Pure.
#pragma once

#include "task/spec_fields.hpp"
#include "task/task_spec.hpp"

namespace mayfly::spec_parts {

// spec_process.cpp: command or script, env, working_dir, stdin, and what the kernel can take of them.
void read_process(ObjectReader& fields, TaskSpec& spec);
// spec_files.cpp: inputs and outputs.
void read_files(ObjectReader& fields, TaskSpec& spec);
// spec_labels.cpp: labels, after the grammar of Kubernetes.
void read_labels(ObjectReader& fields, TaskSpec& spec);
// spec_forbidden.cpp: what an engine would take, and a task must not say.
void forbid_container_fields(ObjectReader& fields);

}  // namespace mayfly::spec_parts
