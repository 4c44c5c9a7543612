// Helpers for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/text/tokenizers/tokenizer.h"

namespace headlight {

// A temporary folder of a test, which the destructor removes.
class TestFolder {
 public:
  TestFolder() : path_(std::filesystem::path(testing::TempDir()) / Name()) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }

  std::string Path(const std::string& name) const { return path_ / name; }
  std::string Write(const std::string& name, std::string_view text) const {
    std::ofstream(Path(name), std::ios::binary)
        << text;  // unlike WriteFile, does not flush to disk, since tests write many files
    return Path(name);
  }

 private:
  static std::string Name() {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    return std::string("headlight_") + test->test_suite_name() + "_" + test->name();
  }

  std::filesystem::path path_;
};

// Returns the message of the Error that `call` throws, or an empty string if it throws none.
inline std::string ErrorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

// Tokenizes a text for tests: returns the number in each word ("12 7 301").
inline std::vector<std::int32_t> Numbers(std::string_view text, Side = Side::source) {
  std::vector<std::int32_t> ids;
  bool inside = false;
  for (const char letter : text) {
    const bool digit = letter >= '0' && letter <= '9';
    if (digit && !inside) ids.push_back(0);
    if (digit) ids.back() = ids.back() * 10 + (letter - '0');
    inside = digit;
  }
  return ids;
}

}  // namespace headlight
