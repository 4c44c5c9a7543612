#include "headlight/synthetic/word_problems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace headlight::word_problems_test {
namespace {

using Pairs = std::set<std::string>;

std::set<int> NumbersIn(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c < '0' || c > '9'; }, ' ');
  std::istringstream in(text);
  return {std::istream_iterator<int>(in), {}};
}

// Parses "12-7=5" or "4-1-1=2". Returns the digit of the result, or -1 if the equation is wrong.
int ColumnOf(std::istringstream& in) {
  int sum = 0, term = 0;
  char sign = '+';
  for (in >> sum; in >> sign && sign != '=';) {
    in >> term;
    sum += sign == '+' ? term : -term;
  }
  in >> term;
  return term == sum ? sum % 10 : -1;
}

// Checks the working and returns its result. Adds the pairs of numbers that are added or subtracted to `pairs`, and
// counts the signs in `signs`.
int ComputedAnswer(const WordProblem& problem, Pairs& pairs, std::map<char, int>& signs) {
  const std::set<int> told = NumbersIn(problem.text);
  std::istringstream in(problem.working);
  int result = -1, steps = 0;
  for (int a, b, c; in >> a; ++steps) {
    char sign, after;
    in >> sign >> b >> after;
    EXPECT_TRUE(a == result || (steps == 0 && told.contains(a))) << problem.text;
    EXPECT_TRUE(told.contains(b)) << problem.text;
    c = sign == '+' ? a + b : sign == '-' ? a - b : sign == '*' ? a * b : a % b == 0 ? a / b : -1;
    EXPECT_EQ(after, sign == '+' || sign == '-' ? ':' : '=') << problem.working;
    for (int power = 1; after == ':' && power <= 10; power *= 10) EXPECT_EQ(ColumnOf(in), c / power % 10);
    in >> result >> after;
    EXPECT_TRUE(in && result == c && after == ';') << problem.working;
    EXPECT_TRUE(a > 0 && b > 0 && c > 0 && a < 100 && b < 100 && c < 100) << problem.working;
    ++signs[sign];
    if (sign == '+') pairs.insert(std::to_string(std::min(a, b)) + "+" + std::to_string(std::max(a, b)));
    if (sign == '-') pairs.insert(std::to_string(a) + "-" + std::to_string(b));
  }
  EXPECT_EQ(steps, problem.steps);
  EXPECT_TRUE(problem.working.ends_with("; answer " + std::to_string(result))) << problem.working;
  return result;
}

TEST(WordProblems, AreCorrectAndHeldOutOnesShareNoSum) {
  Random random(1);
  Pairs pairs[2];
  std::map<char, int> signs[2];
  std::map<int, int> steps;
  std::set<std::string> texts;
  for (const Portion portion : {Portion::training, Portion::held_out}) {
    const int held_out = portion == Portion::held_out;
    for (int i = 0; i < (held_out ? 100 : 1000); ++i) {
      const WordProblem problem = SampleWordProblem(random, portion);
      Pairs own;
      EXPECT_EQ(ComputedAnswer(problem, own, signs[held_out]), problem.answer);
      EXPECT_TRUE(!held_out || !own.empty()) << problem.working;
      pairs[held_out].merge(own);
      ++steps[problem.steps];
      texts.insert(problem.text);
    }
  }
  EXPECT_GT(texts.size(), 1095u);
  EXPECT_EQ(steps.size(), 3u);
  for (const auto& [count, often] : steps) EXPECT_NEAR(often, 1100 / 3.0, 80) << count;
  for (const auto& in_portion : signs) EXPECT_EQ(in_portion.size(), 4u);
  for (const std::string& pair : pairs[1]) EXPECT_FALSE(pairs[0].contains(pair)) << pair;
}

TEST(WordProblems, AreDeterministic) {
  Random one(7), other(7);
  EXPECT_EQ(SampleWordProblem(one, Portion::training).text, SampleWordProblem(other, Portion::training).text);
}

}  // namespace
}  // namespace headlight::word_problems_test
