// Checks that all commands read texts in the same file formats.
#include <gmock/gmock.h>

#include <algorithm>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/pipelines/protein_testing.h"

namespace headlight::text_inputs_test {
namespace {

using testing::HasSubstr;

const std::string kData = HEADLIGHT_SOURCE_DIR "/tests/testdata/";

struct TextInputsTest : ProgramTest {
  TextInputsTest() : gpt(folder.File("gpt")), esm(folder.File("esm")) {
    std::filesystem::create_directory(gpt);
    SaveTinyGpt(gpt);
    SaveTinyEsm(esm);
  }

  // Runs a command, with FILE in its arguments replaced by the file of texts.
  static Outcome Run(std::vector<std::string> arguments, const std::string& file, std::string_view input = "",
                     const std::vector<std::string>& more = {}) {
    std::ranges::replace(arguments, "FILE", file);
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.emplace_back("--quiet");
    return RunProgram(arguments, input, "", Process::copy);
  }

  const std::string gpt, esm;
};

struct Case {
  std::vector<std::string> arguments;
  std::vector<std::string> texts;  // two input texts
};

TEST_F(TextInputsTest, EveryFormatGivesTheResultsOfLines) {
  const std::string dogs = "A dog.", men = "Two men";
  const Case cases[] = {
      {{"translate", model, "FILE"}, {"a b", "b"}},
      {{"summarize", kData + "encoder_decoders/bart_text", "FILE"}, {dogs, men}},
      {{"generate", gpt, "--max-new-tokens", "4", "--file", "FILE"}, {dogs, men}},
      {{"score", gpt, "FILE"}, {dogs, men}},
      {{"embed", kData + "bert/sentences", "FILE"}, {dogs, men}},
      {{"embed", kData + "bert/sentences", "FILE", "--search", "dog"}, {dogs, men}},
      {{"classify", kData + "encoders/classify", "FILE"}, {dogs, men}},
      {{"tag", kData + "encoders/tag", "FILE"}, {dogs, men}},
      {{"fill-mask", kData + "encoders/fill_mask", "FILE"}, {"A <mask>", "Two <mask> run."}},
      {{"tokenize", kData + "bert/sentences", "FILE"}, {dogs, men}},
      {{"evaluate", gpt, "FILE"}, {dogs, men}},
      {{"embed", esm, "FILE"}, {"MKVLA", "GG"}},
      {{"fill-mask", esm, "FILE"}, {"MK<mask>LA", "<mask>G"}},
  };
  for (const auto& [arguments, texts] : cases) {
    SCOPED_TRACE(arguments[0] + " " + arguments[1]);
    const auto record = [](const char* key, const std::string& text) {
      return Json(Json::Object{{"id", 7}, {key, text}}).Line() + "\n";
    };
    const std::string lines = texts[0] + "\n" + texts[1] + "\n";
    const Outcome expected = Run(arguments, Write("texts", lines));
    ASSERT_EQ(expected.exit_code, 0) << expected.err;
    ASSERT_GE(Lines(expected.out).size(), arguments[0] == "evaluate" ? 1U : 2U);
    const auto same = [&, &arguments = arguments](const std::string& name, const std::string& contents,
                                                  const std::vector<std::string>& more = {},
                                                  const std::string& format = "") {
      const Outcome file = Run(arguments, Write(name, contents), "", more);
      EXPECT_EQ(file.out, expected.out) << name << ": " << file.err;
      if (format.empty() || arguments[0] == "evaluate") return;
      std::vector<std::string> with_format = more;
      with_format.insert(with_format.end(), {"--format", format});
      const Outcome piped = Run(arguments, "-", contents, with_format);
      EXPECT_EQ(piped.out, expected.out) << name << " from standard input: " << piped.err;
      const Outcome other = Run(arguments, Write("other", contents), "", with_format);
      EXPECT_EQ(other.out, expected.out) << name << " of another name: " << other.err;
    };
    same("texts.jsonl", record("text", texts[0]) + "\n" + record("text", texts[1]), {}, "jsonl");
    same("texts.csv", "id,text\n7,\"" + texts[0] + "\"\n8," + texts[1] + "\n", {}, "csv");
    same("texts.tsv", "text\tid\n" + texts[0] + "\t7\n" + texts[1] + "\t8\n", {}, "tsv");
    same("TEXTS.NDJSON", record("text", texts[0]) + record("text", texts[1]));
    same("texts.json", "[" + record("text", texts[0]) + ",\n" + record("text", texts[1]) + "]\n", {}, "jsonl");
    same("sentence.Tsv",
         "label\t" + std::string(arguments[0] == "translate" || arguments[0] == "summarize" ? "source" : "sentence") +
             "\n1\t" + texts[0] + "\n0\t" + texts[1] + "\n");
    same("mark", "\xEF\xBB\xBF" + lines, {}, "text");
    same("body.jsonl", record("body", texts[0]) + record("body", texts[1]), {"--text-column", "body"});
    same("body.csv", "body,text\n" + texts[0] + ",x\n" + texts[1] + ",x\n", {"--text-column", "body"});
    same("lines.csv", lines, {"--format", "text"}, "text");

    const Outcome header = Run(arguments, Write("header.csv", "id,body\n1,x\n"));
    EXPECT_EQ(header.exit_code, 2);
    EXPECT_THAT(header.err,
                testing::ContainsRegex("header.csv:1: expected .*, and the header has 'id, body'; --text-column"));
    const Outcome key = Run(arguments, Write("key.jsonl", "{\"id\": 1, \"body\": \"x\"}\n"));
    EXPECT_EQ(key.exit_code, 2);
    EXPECT_THAT(key.err, testing::ContainsRegex("key.jsonl:1: expected .*, and there is 'id, body'; --text-column"));
    const Outcome columns = Run(arguments, Write("texts", lines), "", {"--text-column", "body"});
    EXPECT_EQ(columns.exit_code, 2);
    EXPECT_THAT(columns.err, HasSubstr("--text-column: "));
  }
}

TEST_F(TextInputsTest, PairsAreTwoColumns) {
  const Case cases[] = {
      {{"classify", kData + "encoders/classify", "FILE"}, {"Two men.", "Two dogs."}},
      {{"answer", kData + "encoders/answer", "FILE"}, {"Who?", "Two dogs."}},
      {{"answer", kData + "encoder_decoders/t5_text", "FILE"}, {"Who?", "Two dogs."}},
  };
  for (const auto& [arguments, texts] : cases) {
    SCOPED_TRACE(arguments[0]);
    const std::string line = texts[0] + "\t" + texts[1] + "\n";
    const std::string expected = Run(arguments, Write("pairs", line)).out;
    EXPECT_EQ(Lines(expected).size(), 1U);
    EXPECT_EQ(Run(arguments, Write("pairs.tsv", line)).out, expected);
    EXPECT_EQ(Run(arguments, Write("named.tsv", "question\tcontext\n" + line)).out, expected);
    EXPECT_EQ(Run(arguments, Write("pairs.csv", "question,context\n" + texts[0] + "," + texts[1] + "\n")).out,
              expected);
    const std::string record = Json(Json::Object{{"a", texts[0]}, {"b", texts[1]}}).Line() + "\n";
    const std::vector<std::string> columns = {"--text-column", "a", "--text-pair-column", "b"};
    EXPECT_EQ(Run(arguments, Write("pairs.jsonl", record), "", columns).out, expected);
    EXPECT_EQ(Run(arguments, Write("columns.tsv", "b\ta\n" + texts[1] + "\t" + texts[0] + "\n"), "", columns).out,
              expected);
    EXPECT_THAT(Run(arguments, Write("other.tsv", "x\ty\n"), "", columns).err,
                HasSubstr("other.tsv:1: expected a and b,"));
  }
  // A tab in the text of a record does not separate texts.
  const std::string classify = kData + "encoders/classify";
  EXPECT_EQ(Run({"classify", classify, "FILE"}, Write("tab.jsonl", "{\"text\": \"Two men.\\tTwo dogs.\"}\n")).out,
            Run({"classify", classify, "FILE"}, Write("space", "Two men. Two dogs.\n")).out);
}

// Checks pairs in the formats of datasets on the Hugging Face Hub.
TEST_F(TextInputsTest, PairsGiveTheirSource) {
  const std::string bart = kData + "encoder_decoders/bart_text";
  const std::string translation = Write("pairs.jsonl", "{\"translation\": {\"de\": \"a b\", \"en\": \"c\"}}\n");
  EXPECT_EQ(Run({"translate", model, "FILE", "--text-column", "de"}, translation).out,
            Run({"translate", model, "FILE"}, Write("lines", "a b\n")).out);
  EXPECT_THAT(Run({"translate", model, "FILE"}, translation).err,
              HasSubstr("pairs.jsonl:1: key 'translation': --text-column must name the language to read: there is "
                        "'de, en'"));
  EXPECT_EQ(Run({"summarize", bart, "FILE"}, Write("news.csv", "id,article,highlights\n1,Two men,A man\n")).out,
            Run({"summarize", bart, "FILE"}, Write("lines", "Two men\n")).out);
  const Outcome scored =
      Run({"evaluate", model, "FILE", "--reference", "FILE", "--source-column", "de", "--target-column", "en"},
          translation);
  EXPECT_THAT(scored.out, HasSubstr("BLEU"));
  EXPECT_EQ(scored.out, Run({"evaluate", model, "FILE", "--reference", Write("en", "c\n")}, Write("de", "a b\n")).out);
  EXPECT_THAT(Run({"bleu", "--reference", "FILE", "--text-column", "en"}, translation, "c\n").out, HasSubstr("BLEU"));
  const std::vector<std::string> bleu = {"bleu", "--reference", "FILE", "--metric", "chrf"};
  const std::string expected = Run(bleu, Write("lines", "a dog\nc\n"), "a dog\nd\n").out;
  EXPECT_THAT(expected, HasSubstr("chrF2"));
  EXPECT_EQ(Run(bleu, Write("pairs.tsv", "source\ttarget\nx\ta dog\ny\tc\n"), "a dog\nd\n").out, expected);
  EXPECT_EQ(Run(bleu, Write("lines.jsonl", "{\"summary\": \"a dog\"}\n{\"summary\": \"c\"}\n"),
                "{\"text\": \"a dog\"}\n{\"text\": \"d\"}\n", {"--format", "jsonl"})
                .out,
            expected);
}

TEST_F(TextInputsTest, ErrorsOfRecordsNameTheirPlaceOnce) {
  const std::string file = Write("bad.jsonl", "{\"text\": bad}\n{\"text\": null}\n{\"text\": \"A dog.\"}\n");
  const std::vector<std::string> skip = {"tokenize", kData + "bert/sentences", "FILE", "--skip-errors"};
  const Outcome rows = Run(skip, file);
  EXPECT_EQ(Lines(rows.out).size(), 3U);
  EXPECT_EQ(rows.err, "headlight: " + file + ":1: byte 10: not valid JSON: invalid literal\nheadlight: " + file +
                          ":2: key 'text': it is null, which is no text\n");
  EXPECT_THAT(Run(skip, file, "", {"--json"}).out,
              testing::StartsWith("{\"line\":1,\"error\":\"" + file + ":1: byte 10: not valid JSON"));
}

TEST_F(TextInputsTest, OptionsThatSayNothingAreRefused) {
  const std::string text = Write("text", "A dog.\n");
  const std::vector<std::string> cases[] = {
      {"generate", gpt, "A dog", "--format", "text"},
      {"generate", gpt, "A dog", "--text-column", "a"},
      {"answer", kData + "encoders/answer", "--question", "Who?", "--context", text, "--format", "jsonl"},
      {"score", esm, text, "--variant", "M1A", "--text-column", "a"},
  };
  for (const std::vector<std::string>& arguments : cases)
    EXPECT_THAT(RefusalOf(arguments), testing::ContainsRegex("--(format|text-column) is for files of texts: "))
        << arguments[0];
  EXPECT_THAT(RefusalOf({"tokenize", gpt, text, "--text-column", "a", "--text-column", "b"}),
              HasSubstr("--text-column names one column, and 2 are given: a, b"));
  EXPECT_THAT(RefusalOf({"tag", kData + "encoders/tag", Write("empty", ""), "--stride", "23"}),
              HasSubstr("--stride is 23: windows of 24 tokens, of which 2 are special, share 0 to 21"));
  EXPECT_THAT(RefusalOf({"tokenize", gpt, "hello"}),
              HasSubstr("hello: there is no such file; texts are read from a file, or from standard input (-)"));
}

TEST_F(TextInputsTest, ATextMayHaveSeveralLines) {
  const std::string text = "A dog.\nTwo \"men\"\n";
  const std::string json = Write("lines.jsonl", Json(Json::Object{{"text", text}}).Line() + "\n");
  const std::string csv = Write("lines.csv", "text\n\"A dog.\nTwo \"\"men\"\"\n\"\n");
  for (const std::string& file : {json, csv}) {
    for (const auto& [command, from] : {std::pair("tokenize", kData + "bert/sentences"), {"score", gpt}}) {
      const std::vector<std::string> rows = Lines(Run({command, from, "FILE", "--json"}, file).out);
      ASSERT_EQ(rows.size(), 1U) << command << file;
      EXPECT_EQ(JsonView(ParseJson(rows[0], "row"), "row")["text"].String(), text);
    }
    EXPECT_EQ(Lines(Run({"score", gpt, "FILE"}, file).out).size(), 1U);
    const std::string bert = kData + "bert/sentences";
    const std::string found = Run({"embed", bert, "FILE", "--search", "dog", "--json"}, file).out;
    EXPECT_EQ(JsonView(ParseJson(found, "row"), "row")["text"].String(), text);
    EXPECT_EQ(Lines(Run({"embed", bert, "FILE", "--search", "dog"}, file).out).size(), 1U);
  }
}

TEST_F(TextInputsTest, ALineMayBeLongerThanAMebibyte) {
  std::string line;
  while (line.size() <= 1 << 20) line += "A dog. ";
  const Outcome outcome = Run({"tokenize", kData + "bert/sentences", "FILE", "--ids"}, Write("long", line + "\nA\n"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> rows = Lines(outcome.out);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_GT(rows[0].size(), 1U << 20);
}

TEST_F(TextInputsTest, ProteinsAreFastaInAnyFile) {
  const std::string fasta = ">a b\nMK<mask>\nLA\n>c\n<mask>g*\n";
  const std::string expected = Run({"fill-mask", esm, "FILE"}, Write("lines", "MK<mask>LA\n<mask>G\n")).out;
  EXPECT_EQ(Lines(expected).size(), 10U);
  for (const char* name : {"two", "two.txt", "two.fasta", "two.csv"})
    EXPECT_EQ(Run({"fill-mask", esm, "FILE"}, Write(name, fasta)).out, expected) << name;
  EXPECT_EQ(Run({"fill-mask", esm, "-"}, "", fasta).out, expected);
  const std::string tokens = Run({"tokenize", esm, "FILE"}, Write("lines", "MK<mask>LA\n<mask>G*\n")).out;
  for (const char* name : {"two", "two.fasta", "two.csv"})
    EXPECT_EQ(Lines(Run({"tokenize", esm, "FILE"}, Write(name, fasta)).out).size(), 2U) << name;
  EXPECT_EQ(Lines(Run({"tokenize", esm, "-"}, "", fasta).out)[0], Lines(tokens)[0]);
  EXPECT_EQ(Lines(Run({"tokenize", kData + "bert/sentences", "-"}, "", fasta).out).size(), 5U);
  const std::string plain = ">a\nMKVLA\n>b\nGGMKV\n";
  const std::string scores = Run({"evaluate", esm, "FILE"}, Write("plain.fa", plain)).out;
  EXPECT_THAT(scores, HasSubstr("accuracy"));
  EXPECT_EQ(Run({"evaluate", esm, "FILE"}, Write("plain", plain)).out, scores);
}

// The ending .fa is also that of Persian texts, for example in train.en and train.fa.
TEST_F(TextInputsTest, TextsThatDoNotBeginAsFastaAreLinesForModelsOfTexts) {
  const std::string bert = kData + "bert/sentences";
  EXPECT_EQ(Lines(Run({"tokenize", bert, "FILE"}, Write("news.fa", "A dog\nTwo men\n")).out).size(), 2U);
  EXPECT_EQ(Lines(Run({"tokenize", bert, "FILE"}, Write("a.fa", ">a\nMKV\nLA\n")).out).size(), 1U);
  EXPECT_THAT(Run({"fill-mask", esm, "FILE"}, Write("b.fa", "MK<mask>LA\n")).err, HasSubstr("not FASTA"));
  const std::string text = Write("text.fa", "A dog\nTwo men\n");
  EXPECT_EQ(RunProgram({"check", text}).exit_code, 0);
  EXPECT_EQ(RunProgram({"bleu", "--reference", text}, "A dog\nTwo men\n").exit_code, 0);
}

TEST_F(TextInputsTest, LongTextsAreRefusedOrTruncatedInTheSameWords) {
  std::string dogs;
  for (int i = 0; i < 60; ++i) dogs += "dog ";
  const std::string bart = kData + "encoder_decoders/bart_text";
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"embed", kData + "bert/sentences", "-"}, dogs},
      {{"classify", kData + "encoders/classify", "-"}, dogs},
      {{"fill-mask", kData + "encoders/fill_mask", "-"}, "<mask> " + dogs},
      {{"summarize", bart, "-"}, dogs},
      {{"answer", bart, "-"}, "Who?\t" + dogs},
  };
  for (const auto& [arguments, text] : cases) {
    SCOPED_TRACE(arguments[0]);
    EXPECT_THAT(
        RefusalOf(arguments, text + "\n"),
        testing::ContainsRegex("standard input: line 1: [0-9]+ tokens, .* the model reads [a-z ]*[0-9]+.*--truncate"));
    std::vector<std::string> truncating = arguments;
    truncating.emplace_back("--truncate");
    const Outcome cut = RunProgram(truncating, text + "\n", "", Process::copy);
    EXPECT_EQ(cut.exit_code, 0) << cut.err;
    EXPECT_THAT(cut.err, testing::ContainsRegex("standard input: line 1: the model reads [0-9]+ tokens at once: its "
                                                "end is left out"));
    EXPECT_NE(cut.out, "");
  }
  // The model has 40 positions. The first tokens are kept, with <s> and </s>.
  const std::string text = Write("text", dogs + "\n");
  const JsonView tokens(ParseJson(Run({"tokenize", bart, "FILE", "--json"}, text).out, "tokens"), "tokens");
  const std::int64_t end = tokens["byte_spans"].Items()[38].Items()[1].Integer();
  const std::string kept = Write("kept", dogs.substr(0, static_cast<std::size_t>(end)) + "\n");
  const Outcome summary = Run({"summarize", bart, "FILE"}, kept);
  EXPECT_EQ(summary.exit_code, 0) << summary.err;
  EXPECT_EQ(Run({"summarize", bart, "FILE", "--truncate"}, text).out, summary.out);
}

}  // namespace
}  // namespace headlight::text_inputs_test
