#include "task/task_spec.hpp"

#include <array>

#include "base/utf8.hpp"
#include "task/image_reference.hpp"
#include "task/limits_fields.hpp"
#include "task/spec_names.hpp"
#include "task/spec_parts.hpp"

namespace mayfly {
namespace {

constexpr Range<std::int64_t> kPriority{-1000, 1000};

void read_name(const Field& field, std::string& name) {
  auto text = field.as_text({.most = spec_limits::kNameBytes});
  if (!text) return;
  if (!is_plain_text(*text)) {
    field.add_fault("bad_format", "a name is plain text without control or direction characters");
    return;
  }
  name = *std::move(text);
}

void read_image(const Field& field, std::string& image) {
  auto reference = field.as_text({.least = 1, .most = spec_limits::kImageBytes});
  if (!reference) return;
  if (const auto checked = check_image_reference(*reference); !checked) {
    field.add_fault("bad_format", checked.error().message);
    return;
  }
  image = *std::move(reference);
}

void read_spec(ObjectReader& fields, TaskSpec& spec) {
  take(spec.kind, fields.optional("kind").as_named(find_task_kind, "command"));
  read_name(fields.optional("name"), spec.name);
  read_image(fields.required("image"), spec.image);
  spec_parts::read_process(fields, spec);
  spec_parts::read_files(fields, spec);
  spec.limits = read_limits(fields.optional("limits").as_object());
  spec.timeouts = read_timeouts(fields.optional("timeouts").as_object());
  spec_parts::read_labels(fields, spec);
  if (const auto priority = fields.optional("priority").as_integer(kPriority)) {
    spec.priority = static_cast<std::int32_t>(*priority);
  }
  take(spec.on_log_limit, fields.optional("on_log_limit").as_named(find_on_log_limit, "end_task, truncate"));
  spec_parts::forbid_container_fields(fields);
  fields.finish();
}

}  // namespace

Result<TaskSpec> parse_task_spec(const Json& json) {
  FaultList faults;
  ObjectReader fields(json, "", faults);
  TaskSpec spec;
  if (fields) read_spec(fields, spec);
  if (!faults.empty())
    return tl::unexpected<Error>(faults.to_error(ErrorCode::invalid_argument, "the task spec"));
  return spec;
}

}  // namespace mayfly
