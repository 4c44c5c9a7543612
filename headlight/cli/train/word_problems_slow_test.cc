// Trains models on math word problems from scratch. Takes a few minutes. A solution is a chain of steps. Each step is
// an operation on two numbers. Prints the accuracies, the accuracies of baselines that ignore the text's meaning, and
// all problems with a wrong answer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "headlight/cli/program/testing.h"
#include "headlight/synthetic/word_problems.h"

namespace headlight::word_problems_slow_test {
namespace {

std::string Percent(std::size_t part, std::size_t all) {
  return fmt::format("{} of {} ({:.1f}%)", part, all, 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

struct Problems {
  TemporaryFolder folder;
  std::vector<WordProblem> train, valid, test;

  explicit Problems(int problems) {
    Random random(1), for_valid(2), for_test(4);
    for (int i = 0; i < problems; ++i) train.push_back(SampleWordProblem(random, Portion::training));
    for (int i = 0; i < 200; ++i) valid.push_back(SampleWordProblem(for_valid, Portion::held_out));
    for (int i = 0; i < 1000; ++i) test.push_back(SampleWordProblem(for_test, Portion::held_out));
  }

  std::string Write(const char* name, const std::vector<WordProblem>& problems, char between) const {
    std::string lines;
    for (const WordProblem& problem : problems) lines += problem.text + between + problem.working + "\n";
    WriteFile(folder.File(name), lines);
    return folder.File(name);
  }

  // Prints the accuracies of two baselines: the most frequent answer, and the sum of all numbers in the text.
  void PrintBaselines() const {
    std::map<int, int> answers;
    for (const WordProblem& problem : train) ++answers[problem.answer];
    const int commonest = std::ranges::max_element(answers, {}, [](const auto& entry) { return entry.second; })->first;
    std::size_t majority = 0, sums = 0;
    for (const WordProblem& problem : test) {
      int sum = 0;
      std::string digits = problem.text;
      std::ranges::replace_if(
          digits, [](char c) { return c < '0' || c > '9'; }, ' ');
      std::istringstream in(digits);
      for (int number = 0; in >> number;) sum += number;
      majority += problem.answer == commonest;
      sums += problem.answer == sum;
    }
    fmt::print("the commonest answer, {}: {}\nthe sum of all numbers: {}\n", commonest, Percent(majority, test.size()),
               Percent(sums, test.size()));
  }

  // Checks the model's solutions to the problems, and prints the accuracies.
  void Judge(const std::vector<std::string>& written) const {
    ASSERT_EQ(written.size(), test.size());
    std::size_t right = 0;
    std::map<int, std::pair<std::size_t, std::size_t>> by_steps;
    for (std::size_t i = 0; i < test.size(); ++i) {
      const bool good = written[i].ends_with(fmt::format("answer {}", test[i].answer));
      right += good;
      by_steps[test[i].steps].first += good;
      ++by_steps[test[i].steps].second;
      if (!good) fmt::print("wrong: {}\n  model: {}\n  right: {}\n", test[i].text, written[i], test[i].working);
    }
    for (const auto& [steps, counts] : by_steps)
      fmt::print("{} steps: {}\n", steps, Percent(counts.first, counts.second));
    fmt::print("right answers: {}\n", Percent(right, test.size()));
    PrintBaselines();
    EXPECT_GE(right, test.size() * 95 / 100);
  }
};

TEST(MathsWordProblems, AGpt2GivesTheWorkingAndTheAnswer) {
  const Problems problems(110'000);
  const auto file = [&](const char* name) { return problems.folder.File(name); };
  const std::string train = problems.Write("train", problems.train, ' ');
  MustRun({"train", "tokenizer", "--byte-level", "--split-digits", "--vocabulary-size", "700", "--out", file("tokens"),
           train});
  MustRun({"train",           "language-model",
           "--train",         train,
           "--valid",         problems.Write("valid", problems.valid, ' '),
           "--tokenizer",     file("tokens"),
           "--out",           file("model"),
           "--layers",        "4",
           "--model-dim",     "128",
           "--heads",         "4",
           "--positions",     "192",
           "--dropout",       "0",
           "--epochs",        "1",
           "--learning-rate", "0.002",
           "--batch-tokens",  "2048"});
  std::string prompts;  // each prompt follows the end-of-text token, as in training
  for (const WordProblem& problem : problems.test) prompts += "<|endoftext|>" + problem.text + "\n";
  WriteFile(file("prompts"), prompts);
  const Outcome outcome = RunProgram({"generate", file("model"), "--file", file("prompts"), "--max-new-tokens", "100"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  problems.Judge(Lines(outcome.out));
}

TEST(MathsWordProblems, ABartGivesTheWorkingAndTheAnswer) {
  const Problems problems(200'000);
  const auto file = [&](const char* name) { return problems.folder.File(name); };
  const std::string train = problems.Write("train.tsv", problems.train, '\t');
  MustRun({"train", "tokenizer", "--byte-level", "--split-digits", "--vocabulary-size", "700", "--special", "<pad>",
           "--special", "</s>", "--format", "text", "--out", file("tokens"), train});
  MustRun({"train",           "seq2seq",
           "--train",         train,
           "--valid",         problems.Write("valid.tsv", problems.valid, '\t'),
           "--tokenizer",     file("tokens"),
           "--out",           file("model"),
           "--layers",        "2",
           "--model-dim",     "128",
           "--heads",         "4",
           "--positions",     "192",
           "--dropout",       "0",
           "--epochs",        "1",
           "--learning-rate", "0.0015",
           "--warmup",        "400",
           "--batch-tokens",  "2048"});
  std::string texts;
  for (const WordProblem& problem : problems.test) texts += problem.text + "\n";
  const Outcome outcome = RunProgram({"translate", file("model"), "--beam-size", "1"}, texts);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  problems.Judge(Lines(outcome.out));
}

}  // namespace
}  // namespace headlight::word_problems_slow_test
