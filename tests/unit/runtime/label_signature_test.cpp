#include "runtime/docker/label_signature.hpp"

#include <catch2/catch.hpp>

#include "profile_samples.hpp"

using namespace mayfly;
using namespace mayfly::docker;
using test::sample_installation;

namespace {

LabelContent content_of(ObjectKind kind, const std::string& name) {
  return {kind, name, test::kSampleId.str(), std::string(64, 'b'), WallTime(Millis(1'700'000'000'000))};
}

Labels sample_labels() {
  return make_labels(sample_installation(),
                     content_of(ObjectKind::sandbox_container, test::kSampleContainer));
}

bool verifies(const Labels& labels, const std::string& name = test::kSampleContainer) {
  return labels_verify(sample_installation(), ObjectKind::sandbox_container, name, labels);
}

}  // namespace

TEST_CASE("labels are our five keys and verify for the name they were made for") {
  const Labels labels = sample_labels();
  CHECK(labels.size() == 5);
  for (const auto& [key, value] : labels) CHECK(key.starts_with("dev.mayfly."));
  CHECK(labels.at("dev.mayfly.expires-at") == "2023-11-14T22:13:20.000Z");
  CHECK(verifies(labels));
}

TEST_CASE("C16 copied labels do not verify on an object of another name") {
  CHECK_FALSE(verifies(sample_labels(), "innocent"));
  CHECK_FALSE(verifies(sample_labels(), test::kSampleContainer + "-ws"));
  CHECK_FALSE(verifies(sample_labels(), ""));
}

TEST_CASE("C16 any changed or missing label breaks the signature") {
  for (const auto& [key, value] : sample_labels()) {
    INFO(key);
    Labels changed = sample_labels();
    changed[key] += "0";
    CHECK_FALSE(verifies(changed));
    changed.erase(key);
    CHECK_FALSE(verifies(changed));
  }
  CHECK_FALSE(verifies({}));
}

TEST_CASE("C16 labels of a volume do not verify on a container of the same name") {
  const Labels labels =
      make_labels(sample_installation(), content_of(ObjectKind::workspace_volume, test::kSampleContainer));
  CHECK_FALSE(verifies(labels));
  CHECK(labels_verify(sample_installation(), ObjectKind::workspace_volume, test::kSampleContainer, labels));
}

TEST_CASE("C16 labels of another installation or another key do not verify") {
  Installation other_key = sample_installation();
  other_key.key += "x";
  Installation other_id = sample_installation();
  other_id.id = InstallationId("ins_00000000000000000000000000");
  for (const Installation& other : {other_key, other_id}) {
    const Labels labels =
        make_labels(other, content_of(ObjectKind::sandbox_container, test::kSampleContainer));
    CHECK_FALSE(verifies(labels));
  }
}

TEST_CASE("a label of somebody else beside ours does not matter") {
  Labels labels = sample_labels();
  labels["maintainer"] = "somebody";
  CHECK(verifies(labels));
}

TEST_CASE("no label holds the installation key") {
  for (const auto& [key, value] : sample_labels()) {
    CHECK(value.find(sample_installation().key) == std::string::npos);
  }
}
