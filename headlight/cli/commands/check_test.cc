// Tests the output and the exit codes of headlight check.
#include <gmock/gmock.h>

#include <string>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"

namespace headlight::check_test {
namespace {

using testing::HasSubstr;

using Checking = ProgramTest;

TEST_F(Checking, ExitsByWhatIsFound) {
  const std::string clean = Write("clean.txt", "one\ntwo\n");
  Outcome outcome = RunProgram({"check", clean});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "2 lines\nnothing found\n");

  const std::string twice = Write("twice.txt", "one\ntwo\none\none\n");
  outcome = RunProgram({"check", twice, "--examples", "1", "--quiet"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out, "4 lines\nduplicates: 2 duplicates of an earlier row\n  " + twice + ":3: as " + twice +
                             ":1\n  and 1 more\n");
  outcome = RunProgram({"check", twice, "--json"});
  EXPECT_EQ(outcome.exit_code, 1);
  const Json json = ParseJson(outcome.out, "output");
  EXPECT_EQ(*json.Find("count")->As<std::int64_t>(), 4);
  EXPECT_EQ(json.Find("findings")->As<Json::Array>()->size(), 1U);
  EXPECT_EQ(RunProgram({"check", "-"}, "one\none\n").exit_code, 1);

  EXPECT_THAT(RefusalOf({"check", folder.File("none")}), HasSubstr("none: no such file or"));
  EXPECT_THAT(RefusalOf({"check", clean, "--task", "parallel"}), HasSubstr("--task parallel needs two files"));
  EXPECT_THAT(RefusalOf({"check", clean, "--max-tokens", "5"}), HasSubstr("--tokenizer"));
}

}  // namespace
}  // namespace headlight::check_test
