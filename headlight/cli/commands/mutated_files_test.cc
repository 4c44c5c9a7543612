// Tests the rules of mutated_files_slow_test.cc on synthetic outcomes, and runs a few of its mutations.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "headlight/cli/commands/mutated_files_testing.h"

namespace headlight::mutated_files_test {
namespace {

using file_kinds::Kind;
using file_kinds::Sample;

TEST(MutatedFiles, AreComplainedAbout) {
  const Kind kind{"a", "a.txt", mutations::Form::text, {"tokenize"}, file_kinds::Text("a.txt", "a 1\n")};
  const Sample sample(kind);
  const std::string named = "headlight: " + sample.path() + "/a.txt: wrong\n";
  EXPECT_EQ(sample.Complaint({0, "0.5\n", ""}), "");
  EXPECT_EQ(sample.Complaint({0, "banana\n", ""}), "");
  EXPECT_EQ(sample.Complaint({2, "", named}), "");
  EXPECT_NE(sample.Complaint({0, "1 nan 2\n", ""}), "");
  EXPECT_NE(sample.Complaint({0, R"({"a":-NaN})", ""}), "");
  EXPECT_NE(sample.Complaint({2, "", "headlight: wrong\n"}), "");
  EXPECT_NE(sample.Complaint({2, "", "headlight: " + sample.path() + "/b.txt: wrong\n"}), "");
  EXPECT_NE(sample.Complaint({2, "", named + "more\n"}), "");
  EXPECT_NE(sample.Complaint({2, "", named.substr(0, named.size() - 1)}), "");
  EXPECT_NE(sample.Complaint({1, "", named}), "");
  EXPECT_NE(sample.Complaint({-SIGSEGV, "", ""}), "");
  EXPECT_NE(sample.Complaint({file_kinds::kTimedOut, "", ""}), "");
}

TEST(MutatedFiles, AreReadByACopyOfTheProgram) {
  EXPECT_EQ(file_kinds::RunBounded({"--version"}, "").exit_code, 0);
  const Outcome refused = file_kinds::RunBounded({"info", "/nowhere"}, "");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("/nowhere"), std::string::npos) << refused.err;
}

TEST(MutatedFiles, AreAFunctionOfTheirNumber) {
  for (const auto form : {mutations::Form::binary, mutations::Form::text, mutations::Form::json}) {
    const std::string content = R"({"a": [1, 2.5, {"b": "text"}], "c": null})";
    int changed = 0;
    for (std::uint64_t number = 0; number < 50; ++number) {
      Random first(1, number), second(1, number);
      const std::string mutated = mutations::Mutated(content, form, first);
      EXPECT_EQ(mutated, mutations::Mutated(content, form, second));
      changed += mutated != content ? 1 : 0;
    }
    EXPECT_GT(changed, 40);
  }
}

// Tests a few kinds of files and mutations. The slow test covers all of them.
TEST(MutatedFiles, AreReadOrRefused) {
  const std::vector<std::string> some = {"config.json of bert/gelu",
                                         "safetensors",
                                         "tokenizer.json of gpt2",
                                         "vocab.txt",
                                         "PNG",
                                         "classified texts",
                                         "FASTA",
                                         "options"};
  std::size_t found = 0;
  for (const Kind& kind : file_kinds::AllKinds()) {
    if (std::ranges::find(some, kind.name) == some.end()) continue;
    ++found;
    Sample sample(kind);
    const Outcome valid = sample.Run();
    EXPECT_EQ(valid.exit_code, 0) << kind.name << ": " << valid.err;
    for (std::uint64_t number = 0; number < 4; ++number) {
      const Outcome outcome = sample.RunOn(sample.Mutated(number));
      EXPECT_EQ(sample.Complaint(outcome), "") << kind.name << " " << number << ": " << outcome.out << outcome.err;
    }
  }
  EXPECT_EQ(found, some.size());
}

}  // namespace
}  // namespace headlight::mutated_files_test
