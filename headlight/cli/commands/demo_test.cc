#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/test_support.h"
#include "headlight/cli/program/testing.h"

namespace headlight::demo_test {
namespace {

using testing::HasSubstr;

TEST(Demo, RefusesAFolderWithOtherFiles) {
  const TemporaryFolder folder;
  WriteFile(folder.File("letter.txt"), "mine");
  EXPECT_THAT(RefusalOf({"demo", "--quiet", "--out", folder.File(".")}), HasSubstr("the folder has other files"));
  EXPECT_EQ(ReadFile(folder.File("letter.txt")), "mine");
}

TEST(Demo, RefusesTooFewSteps) {
  const TemporaryFolder folder;
  EXPECT_THAT(RefusalOf({"demo", "--quiet", "--out", folder.File("demo"), "--steps", "199"}), HasSubstr("199"));
}

}  // namespace
}  // namespace headlight::demo_test
