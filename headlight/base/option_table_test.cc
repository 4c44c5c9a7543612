// Tests describing, setting and checking options.
#include "headlight/base/option_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/choice.h"
#include "headlight/base/error.h"
#include "headlight/base/option_checks.h"

namespace headlight::option_table_test {
namespace {

using testing::ElementsAre;

TEST(OptionTable, SetsVariablesOfEachType) {
  OptionTable table;
  bool flag = false;
  std::int64_t integer = 4;
  double number = 0.001;
  std::string text;
  std::optional<float> maybe;
  std::vector<std::string> texts;
  table.Add("--flag", flag, "A flag").Give({});
  table.Add("--integer", integer, "An integer").Give({"-7"});
  table.Add("--number", number, "A number").Give({"2.5e-3"});
  table.Add("--text", text, "A text").Give({"a b"});
  table.Add("--maybe", maybe, "A number or nothing").Give({"0.5"});
  table.Add("--texts", texts, "Texts").Give({"a", "b"});
  EXPECT_TRUE(flag);
  EXPECT_EQ(integer, -7);
  EXPECT_EQ(number, 2.5e-3);
  EXPECT_EQ(text, "a b");
  EXPECT_EQ(maybe, 0.5F);
  EXPECT_THAT(texts, ElementsAre("a", "b"));
}

// Checks that an initial value of the variable counts as a value.
TEST(OptionTable, ReportsWhetherAVariableHasAValue) {
  OptionTable table;
  bool flag = false;
  std::optional<double> maybe;
  std::optional<int> choice;
  std::string text = "a";
  std::vector<std::string> texts;
  std::int32_t number = 0;
  Option& of_flag = table.Add("--flag", flag, "A flag");
  Option& of_maybe = table.Add("--maybe", maybe, "A number or nothing");
  Option& of_choice = AddChoice<int>(table, "--choice", choice, {{"one", 1}, {"two", 2}}, "A choice");
  Option& of_texts = table.Add("--texts", texts, "Texts");
  for (const Option* option : {&of_flag, &of_maybe, &of_choice, &of_texts}) EXPECT_FALSE(option->has_value());
  EXPECT_TRUE(table.Add("--text", text, "A text").has_value());
  of_flag.Give({});
  of_maybe.Give({"0"});
  of_choice.Give({"two"});
  of_texts.Give({"b"});
  for (const Option* option : {&of_flag, &of_maybe, &of_choice, &of_texts}) EXPECT_TRUE(option->has_value());
  EXPECT_THROW(table.Add("--number", number, "A number").has_value(), Error) << "it always has a value";
}

TEST(OptionTable, RejectsInvalidValues) {
  OptionTable table;
  std::int32_t integer = 0;
  double number = 0;
  Option& small = table.Add("--integer", integer, "An integer");
  for (const std::string value : {"", "3x", "1.5", "2147483648", "0x10", "+1"})
    EXPECT_THROW(small.Give({value}), Error) << value;
  EXPECT_THROW(table.Add("--number", number, "A number").Give({"many"}), Error);
}

TEST(OptionTable, ShowsTypesAndDefaults) {
  OptionTable table;
  int integer = 4;
  double number = 0.001;
  std::optional<double> nothing;
  bool flag = false;
  EXPECT_EQ(table.Add("--integer", integer, "An integer").ShowDefault().default_text(), "4");
  EXPECT_EQ(table.Get("--integer").type(), "N");
  EXPECT_EQ(table.Add("--number", number, "A number").ShowDefault().default_text(), "0.001");
  EXPECT_EQ(table.Get("--number").type(), "X");
  EXPECT_EQ(table.Add("--nothing", nothing, "A number").ShowDefault().default_text(), "");
  EXPECT_TRUE(table.Add("--flag", flag, "A flag").is_flag());
  EXPECT_TRUE(table.Add("FILE", nothing, "An argument").is_argument());
}

TEST(OptionTable, FindsOptionsByAnyOfTheirNames) {
  OptionTable table;
  std::string text;
  Option& option = table.Add("-o,--out", text, "A file");
  EXPECT_EQ(table.Find("--out"), &option);
  EXPECT_EQ(table.Find("-o"), &option);
  EXPECT_EQ(table.Find("--other"), nullptr);
  EXPECT_FALSE(table.Given("--out"));
  option.Give({"a"});
  EXPECT_TRUE(table.Given("--out"));
  table.Remove("--out");
  EXPECT_EQ(table.Find("--out"), nullptr);
}

TEST(OptionTable, SplitsValuesAtADelimiter) {
  OptionTable table;
  std::vector<std::int64_t> values;
  table.Add("--sizes", values, "Sizes").Delimiter(',').Give({"1,2", "3"});
  EXPECT_THAT(values, ElementsAre(1, 2, 3));
}

TEST(OptionTable, ChoosesOneOfSomeWords) {
  OptionTable table;
  std::size_t chosen = 9;
  Option& option = table.AddChoice(
      "--kind", {"a", "b"}, 0, [&](std::size_t index) { chosen = index; }, "The kind");
  EXPECT_EQ(option.type(), "a|b");
  EXPECT_EQ(option.default_text(), "a");
  option.Give({"b"});
  EXPECT_EQ(chosen, 1U);
  EXPECT_EQ(option.checks().front()("c"), "must be a or b, not c");
}

TEST(OptionTable, ExclusionHoldsInBothDirections) {
  OptionTable table;
  bool a = false, b = false;
  Option& first = table.Add("--a", a, "A");
  Option& second = table.Add("--b", b, "B").Excludes(first);
  EXPECT_THAT(first.excluded(), ElementsAre(&second));
  first.StopExcluding(second);
  EXPECT_TRUE(second.excluded().empty());
}

}  // namespace
}  // namespace headlight::option_table_test
