#include "headlight/base/in_file.h"

#include <gtest/gtest.h>

#include <string>

#include "headlight/base/test_support.h"

namespace headlight::in_file_test {
namespace {

std::string ErrorIn(const std::string& path, const std::string& message) {
  return ErrorOf([&] { InFile(path, [&] { Fail("{}", message); }); });
}

TEST(InFile, NamesTheFileOnce) {
  EXPECT_EQ(ErrorIn("a/config.json", "it is 3"), "a/config.json: it is 3");
  EXPECT_EQ(ErrorIn("a/config.json", "a/config.json: key 'x': it is 3"), "a/config.json: key 'x': it is 3");
  EXPECT_EQ(ErrorIn("a/config.json", "a/weights: it is 3"), "a/weights: it is 3");
  EXPECT_EQ(ErrorIn("t", "it is 3"), "t: it is 3");
  EXPECT_EQ(ErrorIn("t", "t: it is 3"), "t: it is 3");
}

TEST(InFile, NamesAllFilesUnlessOneIsNamed) {
  const auto error = [](const std::string& message) {
    return ErrorOf([&] { InFiles({"a", "b"}, [&] { Fail("{}", message); }); });
  };
  EXPECT_EQ(error("it is 3"), "a, b: it is 3");
  EXPECT_EQ(error("b: line 2: it is 3"), "b: line 2: it is 3");
}

TEST(InFile, ReturnsTheResultOfTheAction) {
  int number = 3;
  int& same = InFile("a", [&]() -> int& { return number; });
  EXPECT_EQ(&same, &number);
}

TEST(InFile, KeepsTheCause) {
  try {
    InFile("a", [] { Ensure(false, "broken"); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.cause(), ErrorCause::internal);
    EXPECT_STREQ(error.what(), "a: broken");
  }
}

}  // namespace
}  // namespace headlight::in_file_test
