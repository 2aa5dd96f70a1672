#include "docker_api/parse_answers.hpp"
#include "docker_api/parse_fields.hpp"

namespace mayfly::docker {

Result<VolumeInfo> parse_volume(const Json& answer) {
  Fields fields(answer, "the volume");
  VolumeInfo volume;
  volume.name = fields.required_text("Name");
  volume.driver = fields.text("Driver");
  volume.mountpoint = fields.text("Mountpoint");
  volume.options = fields.text_map("Options");
  volume.labels = fields.text_map("Labels");
  if (auto read = fields.check(); !read) return fail_with(std::move(read));
  return volume;
}

Result<std::vector<VolumeInfo>> parse_volume_list(const Json& answer) {
  Fields fields(answer, "the volumes");
  std::vector<VolumeInfo> volumes;
  for (const Json& item : fields.list("Volumes")) {
    auto volume = parse_volume(item);
    if (!volume) return fail_with(std::move(volume));
    volumes.push_back(std::move(*volume));
  }
  if (auto read = fields.check(); !read) return fail_with(std::move(read));
  return volumes;
}

}  // namespace mayfly::docker
