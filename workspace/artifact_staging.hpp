// One attempt's results while they are collected: a staging directory beside the committed ones. Blocking;
// one pool thread at a time. Used by ArtifactWriter.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>

#include "base/digest.hpp"
#include "workspace/artifact_manifest.hpp"
#include "workspace/artifact_store.hpp"

namespace mayfly {

class ArtifactStaging {
 public:
  // Empties what an earlier attempt left in the staging place.
  static Result<std::shared_ptr<ArtifactStaging>> begin(ArtifactPaths paths, std::uint32_t attempt,
                                                        ArtifactBounds bounds);

  Result<> begin_file(std::string path, std::uint32_t mode);
  Result<> append(std::string_view data);
  Result<Artifact> finish_file();
  Result<> abandon_file();
  Result<std::vector<Artifact>> commit();

 private:
  struct OpenFile {
    ManifestEntry entry;
    FileDescriptor file;
    Sha256 digest;
  };
  ArtifactStaging(ArtifactPaths paths, std::uint32_t attempt, ArtifactBounds bounds)
      : paths_(std::move(paths)), bounds_(bounds), manifest_{.attempt = attempt, .entries = {}} {}
  tl::unexpected<Error> over_bounds() const;
  Result<> put_in_place() const;

  ArtifactPaths paths_;
  ArtifactBounds bounds_;
  ArtifactManifest manifest_;
  std::unordered_set<std::string> names_;
  std::optional<OpenFile> open_;
  std::uint32_t next_blob_ = 0;
  std::uint64_t bytes_ = 0;  // of all files, the open one included
  bool committed_ = false;
};

}  // namespace mayfly
