// Tests the --json output of all commands that process lines (docs/reference/files.md, "JSON output"), and
// --skip-errors.
#include <gmock/gmock.h>
#include <pty.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"

namespace headlight::json_output_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kTestdata = HEADLIGHT_SOURCE_DIR "/tests/testdata/";

// Returns the type of a value, such as "array of integer". The type of an array includes the type of its first item.
std::string TypeOf(const Json& value) {
  if (value.is_null()) return "null";
  if (value.As<bool>() != nullptr) return "boolean";
  if (value.As<std::int64_t>() != nullptr) return "integer";
  if (value.As<double>() != nullptr) return "number";
  if (value.As<std::string>() != nullptr) return "string";
  if (value.As<Json::Object>() != nullptr) return "object";
  const auto* const items = value.As<Json::Array>();
  return items == nullptr ? "?" : items->empty() ? "array" : "array of " + TypeOf(items->front());
}

using Fields = std::vector<std::pair<std::string, std::string>>;  // name and type of each field, in order

Fields FieldsOf(const Json& object) {
  Fields fields;
  for (const Json::Member& member : *object.As<Json::Object>()) fields.emplace_back(member.name, TypeOf(member.value));
  return fields;
}

// A command that processes lines with --json, its input, and the fields that it prints.
struct JsonCommand {
  std::vector<std::string> arguments;  // MODEL and GPT are replaced by folders
  std::string good, bad;  // input lines without and with an error; `bad` is empty if no line can be invalid
  Fields fields;
  std::string items = {};  // a field with an array of objects, or of arrays of objects, with the fields `item_fields`
  Fields item_fields = {};
};

const std::vector<JsonCommand>& Commands() {
  const Fields translation = {{"line", "integer"}, {"text", "string"}, {"score", "number"}, {"complete", "boolean"}};
  Fields aligned = translation;
  aligned.emplace_back("alignment", "array of array of integer");
  const std::string too_long = [] {
    std::string text;
    for (int i = 0; i < 90; ++i) text += "Hund ";
    return text;
  }();
  static const std::vector<JsonCommand> commands = {
      {{"translate", "MODEL"}, "Hund", "", translation},
      {{"translate", "MODEL", "--alignments", "--n-best", "2"}, "Hund", "", aligned},
      {{"summarize", "MODEL"}, "Hund", too_long, translation},
      {{"embed", kTestdata + "bert/sentences"}, "dog", too_long, {{"line", "integer"}, {"vector", "array of number"}}},
      {{"embed", kTestdata + "bert/sentences", "--search", "A meadow"},
       "dog",
       too_long,
       {{"line", "integer"}, {"text", "string"}, {"score", "number"}}},
      {{"classify", kTestdata + "encoders/classify"},
       "dog",
       "a\tb\tc",
       {{"line", "integer"}, {"classes", "array of object"}},
       "classes",
       {{"label", "string"}, {"score", "number"}}},
      {{"tag", kTestdata + "encoders/tag"},
       "dog",
       "",
       {{"line", "integer"}, {"spans", "array of object"}},
       "spans",
       {{"text", "string"}, {"label", "string"}, {"score", "number"}, {"start", "integer"}, {"end", "integer"}}},
      {{"fill-mask", kTestdata + "encoders/fill_mask"},
       "A <mask>",
       "dog",
       {{"line", "integer"}, {"masks", "array of array of object"}},
       "masks",
       {{"text", "string"}, {"id", "integer"}, {"score", "number"}}},
      {{"answer", kTestdata + "encoders/answer", "--always"},
       "who\tTwo men.",
       "who",
       {{"line", "integer"}, {"answer", "string"}, {"score", "number"}, {"start", "integer"}, {"end", "integer"}}},
      {{"answer", kTestdata + "encoders/answer"},
       "men\tmen",
       "who",
       {{"line", "integer"}, {"answer", "null"}, {"score", "number"}, {"start", "null"}, {"end", "null"}}},
      {{"score", "GPT"},
       "dogs run",
       "",
       {{"line", "integer"},
        {"text", "string"},
        {"log_probability", "number"},
        {"tokens", "integer"},
        {"bytes", "integer"},
        {"perplexity", "number"},
        {"bits_per_byte", "number"}}},
      {{"generate", "GPT", "--max-new-tokens", "3", "--file", "-"},
       "dog",
       too_long,
       {{"line", "integer"},
        {"prompt", "string"},
        {"text", "string"},
        {"finish_reason", "string"},
        {"prompt_tokens", "integer"},
        {"tokens", "integer"},
        {"log_probability", "number"}}},
      {{"tokenize", "GPT"},
       "dog",
       "",
       {{"line", "integer"},
        {"text", "string"},
        {"ids", "array of integer"},
        {"type_ids", "array of integer"},
        {"pieces", "array of string"},
        {"byte_spans", "array of array of integer"},
        {"character_spans", "array of array of integer"}}},
  };
  return commands;
}

struct JsonOutputTest : ProgramTest {
  JsonOutputTest() : gpt(folder.File("gpt")) {
    std::filesystem::create_directory(gpt);
    SaveTinyGpt(gpt);
  }
  std::vector<std::string> Arguments(const JsonCommand& command, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = command.arguments;
    std::ranges::replace(arguments, "MODEL", model);
    std::ranges::replace(arguments, "GPT", gpt);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  const std::string gpt;
};

TEST_F(JsonOutputTest, HasTheFieldsOfItsCommand) {
  const std::string manual = ReadFile(HEADLIGHT_SOURCE_DIR "/docs/reference/files.md");
  for (const JsonCommand& command : Commands()) {
    SCOPED_TRACE(testing::PrintToString(command.arguments));
    const Outcome outcome = RunProgram(Arguments(command, {"--json"}), command.good + "\n" + command.good);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::vector<std::string> rows = Lines(outcome.out);
    ASSERT_GE(rows.size(), 2U);
    std::vector<std::int64_t> lines;
    for (const std::string& row : rows) {
      const Json object = ParseJson(row, "row");
      EXPECT_EQ(FieldsOf(object), command.fields) << row;
      lines.push_back(*object.Find("line")->As<std::int64_t>());
    }
    EXPECT_EQ(lines.front(), 1);
    EXPECT_EQ(lines.back(), 2);
    if (!command.items.empty()) {
      Json item = ParseJson(rows[0], "row").Find(command.items)->As<Json::Array>()->front();
      while (const auto* inner = item.As<Json::Array>()) item = Json(inner->front());
      EXPECT_EQ(FieldsOf(item), command.item_fields);
    }
    EXPECT_THAT(manual, HasSubstr("| `" + command.arguments[0] + "` |"));
    for (const Fields& fields : {command.fields, command.item_fields})
      for (const auto& [name, type] : fields) EXPECT_THAT(manual, HasSubstr("`" + name + "`"));
  }
}

TEST_F(JsonOutputTest, HasTheErrorsOfLinesInTheirPlaces) {
  for (const JsonCommand& command : Commands()) {
    SCOPED_TRACE(testing::PrintToString(command.arguments));
    const std::string bad = command.bad.empty() ? "\xff" : command.bad;
    const std::string input = command.good + "\n" + bad + "\n\xff\xff\n" + command.good + "\n";
    EXPECT_EQ(RunProgram(Arguments(command, {"--json"}), input).exit_code, 2);
    const Outcome outcome = RunProgram(Arguments(command, {"--json", "--skip-errors"}), input);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("2 of 4 lines could"));
    const std::string good = RunProgram(Arguments(command, {"--json"}), command.good + "\n").out;
    std::vector<std::string> errors;
    std::map<std::int64_t, int> of_line;
    for (const std::string& row : Lines(outcome.out)) {
      const Json object = ParseJson(row, "row");
      ++of_line[*object.Find("line")->As<std::int64_t>()];
      if (object.Find("error") == nullptr) continue;
      EXPECT_EQ(FieldsOf(object), (Fields{{"line", "integer"}, {"error", "string"}}));
      errors.push_back(row);
    }
    EXPECT_EQ(of_line.size(), 4U) << outcome.out;
    EXPECT_THAT(errors, testing::ElementsAre(StartsWith(R"({"line":2,"error":")"),
                                             R"({"line":3,"error":"byte 0 is not UTF-8"})"));
    EXPECT_THAT(outcome.out, HasSubstr(good));
  }
}

TEST_F(JsonOutputTest, IsReplacedByEmptyLinesInText) {
  const std::string good = "Hund\n", bad = "Ein \xff\n";
  const std::string one = RunProgram({"translate", model}, good).out;
  const Outcome outcome = RunProgram({"translate", model, "--skip-errors", "--quiet"}, good + bad + good);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, one + "\n" + one);
  EXPECT_EQ(outcome.err, "headlight: standard input: line 2: byte 4 is not UTF-8\n");
  // If rows are numbered, a line with an error has no row.
  const std::string tagger = kTestdata + "encoders/tag";
  const Outcome tagged = RunProgram({"tag", tagger, "--skip-errors"}, bad + "dog\n");
  EXPECT_THAT(tagged.out, StartsWith("2\t0\t3\t"));
  // In a matrix, the row for a line with an error is NaN.
  const std::string npy = folder.File("a.npy");
  MustRun({"embed", kTestdata + "bert/sentences", Write("in", "dog\n" + bad), "--skip-errors", "--out", npy});
  const std::string file = ReadFile(npy);
  EXPECT_THAT(file, HasSubstr("'shape': (2, 12)"));
  float last = 0;
  std::copy_n(file.end() - sizeof(last), sizeof(last), reinterpret_cast<char*>(&last));
  EXPECT_NE(last, last);
  // An error that does not concern a single line ends the run.
  EXPECT_EQ(RunProgram({"translate", model, "--skip-errors"}, good, "/dev/full").exit_code, 2);
  EXPECT_EQ(RunProgram({"translate", model, folder.File("none"), "--skip-errors"}).exit_code, 2);
}

// Checks that many empty lines are embedded quickly. Equal lines of a batch are computed only once.
TEST_F(JsonOutputTest, ComesSoonForEmptyLines) {
  const std::string encoder = kTestdata + "bert/sentences";
  EXPECT_EQ(RunProgram({"embed", encoder, "--search", "dog", "--top-k", "2"}, std::string(100'000, '\n') + "dog").out,
            "1.0000\t100001\tdog\n" + Lines(RunProgram({"embed", encoder, "--search", "dog"}, "\n").out)[0] + "\n");
}

// Checks that "-" can replace every text file, and means standard input.
TEST_F(JsonOutputTest, ReadsStandardInputAsAFile) {
  const std::string text = Write("text", "Hund\nHund\n"), encoders = kTestdata + "encoders/";
  const std::string masks = Write("masks", "A <mask>\n<mask>\n"), question = Write("question", "who\tTwo men.\n");
  const std::vector<std::vector<std::string>> commands = {
      {"translate", model, text},
      {"summarize", model, text},
      {"embed", kTestdata + "bert/sentences", text},
      {"classify", encoders + "classify", text},
      {"tag", encoders + "tag", text},
      {"fill-mask", encoders + "fill_mask", masks},
      {"answer", encoders + "answer", question},
      {"answer", encoders + "answer", "--question", "who", "--context", text},
      {"score", gpt, text},
      {"generate", gpt, "--max-new-tokens", "3", "--file", text},
      {"tokenize", gpt, text},
      {"evaluate", model, text, "--reference", masks},
      {"shortlist", model, "--train", text, masks},
      {"shortlist", model, "--train", masks, text},
      {"train", "tokenizer", "--vocabulary-size", "270", "--byte-level", "--out", folder.File("new"), text},
  };
  for (std::vector<std::string> command : commands) {
    SCOPED_TRACE(testing::PrintToString(command));
    const Outcome named = RunProgram(command);
    ASSERT_EQ(named.exit_code, 0) << named.err;
    std::string input;
    for (std::string& argument : command)
      if (argument == text || argument == question || (argument == masks && command[0] == "fill-mask")) {
        input = ReadFile(argument);
        argument = "-";
        break;
      }
    const Outcome piped = RunProgram(command, input);
    EXPECT_EQ(piped.exit_code, 0) << piped.err;
    EXPECT_EQ(piped.out, named.out);
  }
  EXPECT_THAT(RefusalOf({"shortlist", model, "--train", "-", "-"}, "Hund\n"), HasSubstr("(-) can only be one"));
}

TEST(StandardInput, IsNotedIfItIsATerminal) {
  const TemporaryFolder folder;
  WriteFile(folder.File("reference"), "A dog.\n");
  int screen = -1, terminal = -1, errors[2];
  ASSERT_EQ(openpty(&screen, &terminal, nullptr, nullptr, nullptr), 0);
  ASSERT_EQ(pipe2(errors, O_CLOEXEC), 0);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  const pid_t process = StartProgram({"bleu", "--reference", folder.File("reference")}, terminal, nowhere, errors[1]);
  close(errors[1]);
  EXPECT_EQ(ReadLine(errors[0]), "reading standard input\n");
  EXPECT_EQ(write(screen, "A dog.\n\x04", 8), 8);  // Ctrl-D ends the input
  EXPECT_EQ(AwaitProgram(process), 0);
  EXPECT_EQ(ReadLine(errors[0]), "");
  for (const int descriptor : {screen, terminal, nowhere, errors[0]}) close(descriptor);
}

}  // namespace
}  // namespace headlight::json_output_test
