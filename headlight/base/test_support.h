// Helpers for tests: temporary folders and error messages.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "headlight/base/error.h"

namespace headlight {

// Returns the folder that contains this test program and the program `headlight`.
inline std::string BuildFolder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

// An empty folder that is removed with its contents at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(testing::TempDir() + "headlight-XXXXXX") {
    Ensure(mkdtemp(path_.data()) != nullptr, "cannot create {}", path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Returns the message of the Error that `action` throws, or an empty string if it does not throw. The error must have
// ErrorCause::user and a message of one line.
template <typename Action>
std::string ErrorOf(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.cause(), ErrorCause::user) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  return "";
}

}  // namespace headlight
