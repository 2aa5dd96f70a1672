// Compares text with a file under golden/, byte for byte. With MAYFLY_UPDATE_GOLDEN=1 in the environment the
// file is written anew and the test fails, so that nobody takes that run for a pass.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace mayfly::test {

inline std::string read_golden(const std::string& name) {
  std::ifstream file(std::string(MAYFLY_GOLDEN_DIR) + "/" + name, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

inline void expect_golden(const std::string& name, const std::string& text) {
  if (std::getenv("MAYFLY_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(std::string(MAYFLY_GOLDEN_DIR) + "/" + name, std::ios::binary) << text;
    FAIL("golden/" << name
                   << " was written anew: look at the difference, then run without MAYFLY_UPDATE_GOLDEN");
  }
  CHECK(text == read_golden(name));
}

}  // namespace mayfly::test
