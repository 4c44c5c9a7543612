// Tests commands with a T5 and a BART model. tests/encoder_decoder_text_test.cc compares their outputs with those of
// Transformers.
#include <gmock/gmock.h>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/io/safetensors.h"

namespace headlight::summarize_test {
namespace {

using testing::HasSubstr;

std::string TestFolder(const std::string& name) {
  return HEADLIGHT_SOURCE_DIR "/tests/testdata/encoder_decoders/" + name;
}

// A case of a golden file: the input of the program, and the `expected` texts.
struct Case {
  explicit Case(const std::string& folder, std::size_t index = 0) {
    const JsonView golden = ReadJson(TestFolder(folder) + "/golden.json");
    for (const JsonView& text : golden["texts"].Items()) texts += text.String() + "\n";
    for (const JsonView& text : golden["cases"].Items()[index]["expected"].Items()) expected += text.String() + "\n";
  }
  std::string texts, expected;
};

TEST(Summarize, WritesALineForALine) {
  const Case bart("bart_text"), t5("t5_text", 2);
  EXPECT_EQ(RunProgram({"summarize", TestFolder("bart_text"), "--quiet"}, bart.texts).out, bart.expected);
  EXPECT_EQ(RunProgram({"summarize", TestFolder("t5_text"), "--task", "summarization", "--quiet"}, "\n" + t5.texts).out,
            "\n" + t5.expected);
}

TEST(Summarize, RefusesATextThatTheModelCannotReadAsAWhole) {
  const std::string dogs = "Two men, two dogs. Two men, two dogs. Two men, two dogs. Two men, two dogs.";
  const Outcome outcome = RunProgram({"summarize", TestFolder("bart_text"), "--quiet"}, "Two dogs.\n" + dogs + "\n");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("standard input: line 2: "));
  EXPECT_THAT(outcome.err, HasSubstr("reads at most 40"));
}

TEST(Answer, IsWrittenByAT5) {
  const TemporaryFolder folder;
  const std::string t5 = TestFolder("t5_text"), context = folder.File("passage");
  WriteFile(context, "Two men,\ntwo dogs.");
  const std::string written =
      RunProgram({"translate", t5, "--quiet"}, "question: Who? context: Two men, two dogs.\n").out;
  EXPECT_GT(written.size(), 1u);
  EXPECT_EQ(RunProgram({"answer", t5, "--question", "Who?", "--context", context}).out, written);
  const std::string line = "Who?\tTwo men, two dogs.\n";
  EXPECT_EQ(RunProgram({"answer", t5, "--json"}, line + line).out,
            fmt::format("{{\"line\":1,\"answer\":\"{0}\"}}\n{{\"line\":2,\"answer\":\"{0}\"}}\n",
                        written.substr(0, written.size() - 1)));
  EXPECT_THAT(RefusalOf({"answer", t5, "--always"}, line), HasSubstr("--always"));
  EXPECT_THAT(RefusalOf({"answer", t5}, "Who?\t\n"), HasSubstr("line 1: the passage has"));
  std::string dogs = "Who?\t";
  for (int i = 0; i < 20; ++i) dogs += "Two men, two dogs. ";
  EXPECT_THAT(RefusalOf({"answer", TestFolder("bart_text")}, dogs + "\n"), HasSubstr("reads at most 40"));
}

TEST(Translate, TakesAPrefixAndLanguages) {
  const Case t5("t5_text", 1), mbart("mbart_text", 1);
  EXPECT_EQ(
      RunProgram({"translate", TestFolder("t5_text"), "--prefix", "translate English to German: ", "--quiet"}, t5.texts)
          .out,
      t5.expected);
  EXPECT_EQ(RunProgram({"translate", TestFolder("mbart_text"), "--source-language", "de_DE", "--forced-language",
                        "en_XX", "--quiet"},
                       mbart.texts)
                .out,
            mbart.expected);
  EXPECT_THAT(RefusalOf({"translate", TestFolder("t5_text"), "--task", "summary"}, "dog\n"),
              HasSubstr("there are: summarization"));
}

TEST(EncoderDecoderCommands, ScoreABart) {
  const Case bart("bart_text");
  const TemporaryFolder folder;
  WriteFile(folder.File("source"), bart.texts);
  WriteFile(folder.File("reference"), bart.expected);
  const Outcome outcome = RunProgram({"evaluate", TestFolder("bart_text"), folder.File("source"), "--reference",
                                      folder.File("reference"), "--json", "--quiet"});
  EXPECT_THAT(outcome.out, HasSubstr("\"bleu\":100")) << outcome.err;
}

TEST(EncoderDecoderCommands, TakeAT5) {
  const TemporaryFolder folder;
  const std::string page = folder.File("look.html"), out = folder.File("out.safetensors"), in = folder.File("in");
  const Outcome look =
      RunProgram({"look", TestFolder("t5_text"), "--source", "Two dogs.", "--prefix", "a: ", "--out", page});
  EXPECT_EQ(look.exit_code, 0) << look.err;
  EXPECT_THAT(look.err, HasSubstr("shows 3 attentions"));
  const std::vector<std::int64_t> ids = {5, 6, 7, 1};
  WriteSafetensors(in, {{"input_ids", StoredType::i64, {1, 4}, std::as_bytes(std::span(ids))},
                        {"decoder_input_ids", StoredType::i64, {2, 2}, std::as_bytes(std::span(ids))}});
  EXPECT_THAT(RefusalOf({"forward", TestFolder("t5_text"), in, "--out", out}), HasSubstr("2: they must be equal"));
  WriteSafetensors(in, {{"input_ids", StoredType::i64, {2, 2}, std::as_bytes(std::span(ids))},
                        {"decoder_input_ids", StoredType::i64, {2, 2}, std::as_bytes(std::span(ids))}});
  EXPECT_EQ(RunProgram({"forward", TestFolder("t5_text"), in, "--out", out}).err, "");
  EXPECT_TRUE(Safetensors(out).contains("cross_attentions.0"));
  const Outcome converted =
      RunProgram({"convert", TestFolder("t5_text"), "--out", folder.File("int8"), "--compute", "int8", "--quiet"});
  EXPECT_EQ(converted.exit_code, 0) << converted.err;
  const Outcome summary =
      RunProgram({"summarize", folder.File("int8"), "--task", "summarization", "--quiet"}, "two dogs\n");
  EXPECT_EQ(Lines(summary.out).size(), 1U) << summary.err;
}

}  // namespace
}  // namespace headlight::summarize_test
