// Tests CheckData on files with each kind of finding, and on files without findings.
#include "headlight/recipes/check_data.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/gzip_testing.h"
#include "headlight/base/line_input.h"
#include "headlight/base/random.h"
#include "headlight/base/scratch_folder.h"
#include "headlight/base/test_support.h"
#include "headlight/image/decoding/encode.h"

namespace headlight::check_data_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class CheckDataTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, std::string_view text) const {
    const std::string path = scratch_.File(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    WriteFile(path, text);
    return path;
  }
  // Writes an image of this color and returns its path.
  std::string WriteImage(const std::string& name, int color, std::int64_t side = 16) const {
    Image image{.height = side, .width = side, .pixels = {}};
    image.pixels.assign(static_cast<std::size_t>(side * side * 3), static_cast<std::uint8_t>(color));
    return Write(name, EncodePng(image));
  }
  // Returns each finding as "kind count" with its examples. The folder is omitted from the examples.
  std::vector<std::string> Found(const DataCheck& options) const {
    std::vector<std::string> all;
    for (const Finding& finding : CheckData(options).findings) {
      std::string text = fmt::format("{} {}", finding.kind, finding.count);
      for (std::string example : finding.examples) {
        const std::string folder = scratch_.File("");
        for (std::size_t at = 0; (at = example.find(folder)) != example.npos;) example.erase(at, folder.size());
        text += "; " + example;
      }
      EXPECT_FALSE(finding.text.empty());
      all.push_back(std::move(text));
    }
    return all;
  }

  const ScratchFolder scratch_;
};

TEST_F(CheckDataTest, FindsNothingInCleanText) {
  DataCheck texts;
  texts.files = {Write("a.txt", "one two\nthree\tfour\r\nfünf 6\n"), Write("b.txt.gz", Gzip("seven\neight\n"))};
  texts.valid = {Write("valid.txt", "nine\n")};
  EXPECT_THAT(Found(texts), IsEmpty());
  const CheckResult result = CheckData(texts);
  EXPECT_EQ(result.count, 5);
  EXPECT_EQ(result.unit, "lines");
  EXPECT_EQ(ToJson(result).Line(), R"({"unit":"lines","count":5,"findings":[]})");

  DataCheck labels;
  labels.task = "labels";
  labels.files = {Write("a.tsv", "good\tpos\nbad\tneg\n\nfine\tpos\n")};
  labels.valid = {Write("valid.tsv", "worse\tneg\n")};
  EXPECT_THAT(Found(labels), IsEmpty());
  labels.task = "";
  labels.files = {Write("a.jsonl", "{\"text\": \"good\\nday\", \"label\": 1}\n{\"text\": \"bad\", \"label\": 0}\n"),
                  Write("a.csv", "text,label\n\"fine,\nvery\",1\n")};
  labels.valid = {};
  EXPECT_THAT(Found(labels), IsEmpty());
  EXPECT_EQ(CheckData(labels).unit, "rows");

  DataCheck pairs;
  pairs.task = "parallel";
  pairs.files = {Write("de", "ein Hund\n1.000\n"), Write("en", "a dog\n1.000\n")};
  EXPECT_THAT(Found(pairs), IsEmpty());
  EXPECT_EQ(CheckData(pairs).unit, "pairs");
}

TEST_F(CheckDataTest, FindsMistakesInTexts) {
  DataCheck options;
  options.max_characters = 10;
  options.examples = 2;
  std::string text = "one\ntwo\n one \n\n  \nzweifünfdrei\nzweifünf10\nb\xFFz\nbell\a\n\xC2\x85next\ntwo\none\n";
  text += std::string("nul\0\n", 5) + "\xEF\xBB\xBFmark\nend\rline\n";
  options.files = {Write("a.txt", text)};
  options.valid = {Write("valid.txt", "new\ntwo\n\none\n")};
  EXPECT_THAT(Found(options), ElementsAre("unreadable 1; a.txt: line 13: byte 3 is a NUL, which no text has",
                                          "invalid_utf8 1; a.txt:8: byte 1 is not UTF-8",
                                          "control_characters 4; a.txt:9: U+0007; a.txt:10: U+0085",
                                          "empty 3; a.txt:4; a.txt:5", "long_texts 1; a.txt:6: 12 characters",
                                          "duplicates 3; a.txt:3: as a.txt:1; a.txt:11: as a.txt:2",
                                          "leaks 2; valid.txt:2: as a.txt:2; valid.txt:4: as a.txt:1"));
  options.max_characters = 12;
  options.valid.clear();
  options.files = {Write("long.txt", "short\n" + std::string(kMaxLineBytes + 1, 'x') + "\nend\n")};
  EXPECT_THAT(Found(options), ElementsAre(HasSubstr("unreadable 1; long.txt: line 2")));
}

TEST_F(CheckDataTest, CountsTokens) {
  DataCheck options;
  options.tokenizer = HEADLIGHT_SOURCE_DIR "/tests/testdata/auto_tokenizers/language_model_byte_level";
  options.files = {Write("a.txt", "a b c d e f\nab\n")};
  options.max_tokens = 5;
  EXPECT_THAT(Found(options), ElementsAre(HasSubstr("long_texts 1; a.txt:1: ")));
}

TEST_F(CheckDataTest, FindsMistakesInPairs) {
  DataCheck options;
  options.task = "parallel";
  options.files = {Write("de", "ein Hund\nWort\n42\nja\n\nein Hund\nx\xFF\nlang\nmehr\n"),
                   Write("en", "a dog\nWort\n42\n" + std::string(19, 'y') + "\nno\na dog\nbad\nb\ad\n")};
  options.valid = {Write("valid.de", "ein Hund\nein Hund\n"), Write("valid.en", "another dog\na dog\n")};
  EXPECT_THAT(Found(options),
              ElementsAre("invalid_utf8 1; de:7: byte 1 is not UTF-8", "control_characters 1; en:8: U+0007",
                          "empty 1; de:5", HasSubstr("line_counts 1; de has 9"), "copies 1; de:2: Wort",
                          "length_ratio 1; de:4: 2 and 19 characters", "duplicates 1; de:6: as de:1",
                          "leaks 1; valid.de:2: as de:1"));
  DataCheck columns;
  columns.task = "pairs";
  columns.files = {Write("a.tsv", "ein Hund\ta dog\nWort\tWort\neins\nzwei\ttwo\t2\n")};
  EXPECT_THAT(Found(columns),
              ElementsAre("columns 2; a.tsv:3: 1 column, and 2 are expected; a.tsv:4: 3 columns, and 2 are expected",
                          "copies 1; a.tsv:2: Wort"));
  columns.task = "";
  columns.files = {
      Write("a.jsonl", "{\"source\": \"Wort\", \"target\": \"Wort\"}\n{\"source\": 1.5}\n{\"texts\": 1}\n[]\n{")};
  EXPECT_THAT(Found(columns), ElementsAre(HasSubstr("unreadable 4; a.jsonl:2: expected text or sentence"),
                                          "copies 1; a.jsonl:1: Wort"));
}

TEST_F(CheckDataTest, FindsMistakesInLabels) {
  DataCheck options;
  options.task = "labels";
  options.files = {Write("a.tsv", "a\tpos\nb\tneg\nc\tPos \nd\t\ne\ne\tf\tneg\nbroken\tn\xFFg\n")};
  options.valid = {Write("valid.tsv", "g\tnone\n")};
  EXPECT_THAT(
      Found(options),
      ElementsAre("invalid_utf8 1; a.tsv:7: the label is not UTF-8",
                  "columns 2; a.tsv:5: 1 column, and 2 are expected; a.tsv:6: 3 columns, and 2 are expected",
                  "empty_labels 1; a.tsv:4", "similar_labels 1; 'Pos ' (1), 'pos' (1)", "unknown_classes 1; 'none'"));
  options.valid.clear();
  options.files = {Write("long.tsv", "a\tthe first of two long labels\nb\tthe other of two long labels\n")};
  EXPECT_THAT(Found(options), testing::IsEmpty());
  options.files = {Write("one.tsv", "a\tpos\nb\tpos\n")};
  EXPECT_THAT(Found(options), ElementsAre("one_class 1; 'pos'"));
  std::string turned;
  for (int i = 0; i < 20; ++i) turned += fmt::format("pos\ttext {}\n", i);
  options.files = {Write("turned.tsv", turned)};
  EXPECT_THAT(Found(options), ElementsAre(HasSubstr("duplicates 19"), HasSubstr("many_labels 20; 'text 0'")));
  options.task = "";
  options.files = {Write("a.csv", "text,label\na,1\nb,2,3\nb,ÄRGER\nc,ärger\n")};
  EXPECT_THAT(Found(options), ElementsAre("unreadable 1; a.csv:3: 3 fields, and the header has 2",
                                          "similar_labels 1; 'ÄRGER' (1), 'ärger' (1)"));
}

// Returns sentences of random words and their translations. Each word has one translation, and numbers do not change.
std::pair<std::vector<std::string>, std::vector<std::string>> ParallelLines(int lines, std::uint64_t seed) {
  Random random(seed);
  const auto below = [&](int bound) { return static_cast<int>(random.Below(static_cast<std::uint64_t>(bound))); };
  std::pair<std::vector<std::string>, std::vector<std::string>> texts;
  for (int i = 0; i < lines; ++i) {
    std::string source, target;
    for (int words = 4 + below(12); words > 0; --words) {
      const int word = below(500);
      const std::string end(static_cast<std::size_t>(word % 5), 'e');
      source += fmt::format("w{}{} ", std::string(1, static_cast<char>('a' + word % 26)), end);
      if (below(8) > 0) target += fmt::format("{}{}t ", end, std::string(1, static_cast<char>('a' + word / 26)));
    }
    if (below(6) == 0) {
      const int number = below(1000);
      source += std::to_string(number);
      target += std::to_string(number);
    }
    texts.first.push_back(source);
    texts.second.push_back(target + ".");
  }
  return texts;
}

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST_F(CheckDataTest, FindsShifts) {
  const auto shifts = [&](const std::vector<std::string>& source, const std::vector<std::string>& target) {
    DataCheck options;
    options.task = "parallel";
    options.files = {Write("source", Joined(source)), Write("target", Joined(target))};
    options.examples = 10;
    for (const Finding& finding : CheckData(options).findings)
      if (finding.kind == "shifts") return finding.examples;
    return std::vector<std::string>();
  };
  const auto line_of = [&](const std::string& example) {
    const std::string start = "about " + scratch_.File("source") + ":";
    EXPECT_THAT(example, testing::StartsWith(start));
    return std::atoi(example.c_str() + start.size());
  };
  for (const int seed : {1, 2, 3}) {
    auto [source, target] = ParallelLines(600, static_cast<std::uint64_t>(seed));
    EXPECT_THAT(shifts(source, target), IsEmpty());
    target.erase(target.begin() + 299);
    std::vector<std::string> found = shifts(source, target);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_THAT(found[0], HasSubstr("line i - 1 of"));
    EXPECT_NEAR(line_of(found[0]), 300, 8);
    source.erase(source.begin() + 449);  // from here on, the lines are aligned
    found = shifts(source, target);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_THAT(found[1], HasSubstr("are aligned again"));
    EXPECT_NEAR(line_of(found[1]), 450, 8);
    source.erase(source.begin(), source.begin() + 3);
    found = shifts(source, target);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_THAT(found[0], HasSubstr("source:1: from here on, line"));
  }
  // Unrelated lines have no shifts.
  const std::vector<std::string> equal(500, "the same line");
  EXPECT_THAT(shifts(equal, equal), IsEmpty());
  for (const std::uint64_t seed : {4, 6, 8})
    EXPECT_THAT(shifts(ParallelLines(2000, seed).first, ParallelLines(2000, seed + 1).second), IsEmpty());
  // Unrelated lines have no shifts even if line lengths alternate in both files.
  std::vector<std::string> source = ParallelLines(2000, 4).first, target = ParallelLines(2000, 5).second;
  for (std::size_t i = 0; i < source.size(); i += 2) {
    source[i] += " and so on";
    target[i] += " und so fort";
  }
  EXPECT_THAT(shifts(source, target), IsEmpty());
}

TEST_F(CheckDataTest, FindsNothingInCleanImages) {
  for (int i = 0; i < 4; ++i) WriteImage(fmt::format("train/{}/{}.png", i % 2 == 0 ? "cats" : "dogs", i), i);
  WriteImage("valid/cats/0.png", 10);
  WriteImage("all/0.png", 1);
  WriteImage("all/1.png", 2);
  Write("train/README.md", "BM, but no image");
  DataCheck options;
  options.files = {scratch_.File("train")};
  options.valid = {scratch_.File("valid")};
  EXPECT_THAT(Found(options), IsEmpty());
  EXPECT_EQ(CheckData(options).count, 4);
  options.files = {scratch_.File("all")};  // without classes
  options.valid.clear();
  EXPECT_THAT(Found(options), IsEmpty());
}

TEST_F(CheckDataTest, FindsMistakesInImages) {
  for (int i = 0; i < 4; ++i) WriteImage(fmt::format("train/{}/{}.png", i % 2 == 0 ? "cats" : "dogs", i), i);
  WriteImage("train/cats/4.png", 2);      // duplicate of 2
  WriteImage("train/dogs/5.png", 0);      // duplicate of cats/0
  WriteImage("train/test/6.jpg", 6);      // a PNG file
  WriteImage("train/dogs/7.png", 7, 15);  // small
  for (int i = 0; i < 7; ++i) Write(fmt::format("train/cats/damaged{}.png", i), i == 0 ? "" : "\x89PNG\r\n\x1A\n");
  WriteImage("train/outside.png", 8);
  WriteImage("train/cats/hidden.dat", 9);
  Write("train/cats/a.heic", "");
  Write("train/cats/b.heic", "");
  Write("train/.hidden/c.png", "");
  std::filesystem::create_directories(scratch_.File("train/birds"));
  WriteImage("valid/cats/0.png", 3);  // duplicate of dogs/3
  WriteImage("valid/cows/1.png", 20);
  DataCheck options;
  options.files = {scratch_.File("train")};
  options.valid = {scratch_.File("valid")};
  options.examples = 1;
  const std::vector<std::string> found = Found(options);
  ASSERT_EQ(found.size(), 11U) << testing::PrintToString(found);
  for (int i = 0; i < 7; ++i) EXPECT_THAT(found[0], HasSubstr(fmt::format("; train/cats/damaged{}.png: ", i)));
  EXPECT_THAT(found[0], testing::StartsWith("damaged 7; "));
  EXPECT_THAT(std::vector<std::string>(found.begin() + 1, found.end()),
              ElementsAre("wrong_extension 1; train/test/6.jpg: the file is a .png",
                          "left_out 3; .dat: 1 file; .heic: 2 files", "outside_classes 1; train/outside.png",
                          "empty_classes 1; train/birds", "classes_named_as_sets 1; 'test'",
                          "unknown_classes 1; 'cows'", "small_images 1; train/dogs/7.png: 15 x 15 pixels",
                          "duplicate_images 1; train/cats/4.png: as train/cats/2.png",
                          "duplicates_between_classes 1; train/dogs/5.png: as train/cats/0.png",
                          "leaked_images 1; valid/cats/0.png: as train/dogs/3.png"));
  WriteImage("one/cats/0.png", 1);
  options.files = {scratch_.File("one")};
  options.valid.clear();
  EXPECT_THAT(Found(options), ElementsAre("one_class 1; 'cats'"));
}

TEST_F(CheckDataTest, RefusesInvalidFilesAndOptions) {
  WriteImage("images/cats/0.png", 1);
  const std::string text = Write("a.txt", "a\nb\n"), tsv = Write("a.tsv", "a\tb\n"), csv = Write("a.csv", "a,b\nc,d\n");
  const auto refusal = [&](std::vector<std::string> files, std::string task, std::vector<std::string> valid = {}) {
    DataCheck options;
    options.files = std::move(files);
    options.task = std::move(task);
    options.valid = std::move(valid);
    return ErrorOf([&] { CheckData(options); });
  };
  EXPECT_THAT(refusal({}, ""), HasSubstr("there is no file"));
  EXPECT_THAT(refusal({scratch_.File("none")}, ""), HasSubstr("none: no such file"));
  EXPECT_THAT(refusal({text}, "words"), HasSubstr("`task` must be texts"));
  EXPECT_THAT(refusal({text}, "parallel"), HasSubstr("needs two files"));
  EXPECT_THAT(refusal({text, text}, "parallel", {text}), HasSubstr("needs two files"));
  EXPECT_THAT(refusal({tsv}, ""), HasSubstr("`task` must say"));
  EXPECT_THAT(refusal({text}, "", {scratch_.File("images")}), HasSubstr("checked separately"));
  EXPECT_THAT(refusal({scratch_.File("images")}, "texts"), HasSubstr("`task` is for text"));
  EXPECT_THAT(refusal({Write("a.fasta", ">a\nMK\n")}, ""), HasSubstr("a.fasta: text is checked"));
  const std::string cut = Gzip(Joined(ParallelLines(3000, 1).first));
  EXPECT_THAT(refusal({Write("cut.gz", cut.substr(0, cut.size() / 2))}, ""), HasSubstr("the file is truncated"));
  std::filesystem::create_directories(scratch_.File("empty"));
  EXPECT_THAT(refusal({scratch_.File("empty")}, ""), HasSubstr("there is no image"));
}

// Checks records in the format of data sets on the Hugging Face Hub.
TEST_F(CheckDataTest, ReadsPublishedRecords) {
  DataCheck options;
  options.files = {Write("a.jsonl",
                         "{\"id\": 1, \"translation\": {\"de\": \"Wort\", \"en\": \"Wort\"}}\n"
                         "{\"id\": 2, \"translation\": {\"de\": \"ein Hund\", \"en\": \"a dog\"}}\n"
                         "{\"id\": 3, \"translation\": {\"de\": \"ein Hund\", \"en\": \"a dog\"}}\n")};
  EXPECT_THAT(Found(options), ElementsAre("copies 1; a.jsonl:1: Wort", "duplicates 1; a.jsonl:3: as a.jsonl:2"));
  EXPECT_EQ(CheckData(options).unit, "pairs");
  options.pairs = {"en", "fr"};
  EXPECT_THAT(Found(options), ElementsAre(HasSubstr("unreadable 3; a.jsonl:1: key 'translation.fr'")));
  options.pairs = {};
  options.files = {Write("b.JSON", "[{\"article\": \"one\",\n\"highlights\": \"one\"}]")};
  EXPECT_THAT(Found(options), ElementsAre("copies 1; b.JSON:1: one"));
  options.files = {Write("c.tsv", "id\tde\ten\n1\tWort\tWort\n")};
  options.task = "pairs";
  options.pairs = {"de", "en"};
  EXPECT_THAT(Found(options), ElementsAre("copies 1; c.tsv:2: Wort"));
  options = {};
  options.files = {Write("d.tsv", "sentence\tlabel\ngood\t1\nbad\t1\n")};
  EXPECT_THAT(Found(options), ElementsAre("one_class 1; '1'"));
  options.files = {Write("e.ndjson", "{\"review\": \"good\", \"stars\": 1}\n{\"review\": \"good\", \"stars\": 2}\n")};
  EXPECT_THAT(Found(options), ElementsAre(HasSubstr("unreadable 2; e.ndjson:1: expected text or sentence")));
  options.columns = {.text = "review", .text_pair = {}, .label = "stars"};
  EXPECT_THAT(Found(options), ElementsAre("duplicates 1; e.ndjson:2: as e.ndjson:1"));
  options.files = {Write("f", "good,1\n")};
  EXPECT_THAT(ErrorOf([&] { CheckData(options); }), HasSubstr("f: its columns have no names"));
  options.columns = {.text = "a", .text_pair = {}, .label = "b"};
  options.format = TextFormat::csv;
  options.files = {Write("g", "a,b\ngood,1\ngood,2\n")};
  EXPECT_THAT(Found(options), ElementsAre("duplicates 1; g:3: as g:2"));
}

TEST_F(CheckDataTest, ReadsNumbersAndSeveralLabels) {
  DataCheck options;
  options.task = "labels";
  std::string numbers, several;
  for (int i = 0; i < 25; ++i) {
    numbers += fmt::format("{{\"sentence1\": \"a {}\", \"sentence2\": \"b\", \"label\": {}.5}}\n", i, i);
    several += fmt::format("{{\"text\": \"a {}\", \"labels\": [\"x\", \"{}\"]}}\n", i, i % 2 == 0 ? "y" : "Y");
  }
  options.files = {Write("numbers.jsonl", numbers)};
  EXPECT_THAT(Found(options), IsEmpty());
  options.files = {Write("numbers.tsv", "a\t1\nb\t0.5\nc\t1.0\n")};
  EXPECT_THAT(Found(options), IsEmpty());
  options.files = {Write("several.jsonl", several + "{\"text\": \"none\", \"labels\": []}\n")};
  EXPECT_THAT(Found(options), ElementsAre("similar_labels 1; 'Y' (12), 'y' (13)"));
  options.files = {Write("several.csv", "text,labels\na,\"x, y\"\nb,x\nc,\"y,\"\nd,\n")};
  EXPECT_THAT(Found(options), ElementsAre("empty_labels 1; several.csv:5"));
}

TEST_F(CheckDataTest, ReadsQuestionsAndTags) {
  const std::string one =
      R"({"question": "Who?", "context": "Ada slept.", "answers": {"text": ["Ada"], "answer_start": [0]}})";
  const std::string other =
      R"({"question": "Who?", "context": "Bob ran.", "answers": {"text": ["Bob"], "answer_start": [1]}})";
  DataCheck options;
  options.files = {Write("a.jsonl", one + "\n" + other + "\n" + one + "\n")};
  EXPECT_THAT(Found(options), ElementsAre("answers 1; a.jsonl:2: Bob", "duplicates 1; a.jsonl:3: as a.jsonl:1"));
  options.task = "questions";
  EXPECT_EQ(Found(options).size(), 2U);
  const std::string squad = R"({"data": [{"paragraphs": [{"context": "Ada slept.", "qas": [
      {"question": "Who?", "answers": [{"text": "Ada", "answer_start": 0}]},
      {"question": "Who?", "answers": [{"text": "Ada", "answer_start": 4}]}]}]}]})";
  options.files = {Write("dev.json", squad)};
  EXPECT_THAT(Found(options), ElementsAre("answers 1; dev.json: question 2: Ada",
                                          "duplicates 1; dev.json: question 2: as dev.json: question 1"));
  options.task = "";
  options.files = {Write("line.json", R"({"data": []})")};
  EXPECT_THAT(Found(options), ElementsAre(HasSubstr("SQuAD's files, which `task` questions reads")));
  options.task = "questions";
  options.files = {Write("a.txt", "a\n")};
  EXPECT_THAT(ErrorOf([&] { CheckData(options); }), HasSubstr("a.txt: questions are in"));

  options.task = "tags";
  options.files = {Write("conll", "-DOCSTART- O\n\nAda B-PER\nslept O\n\nran\n\nAda b-per\nslept O\n")};
  EXPECT_THAT(Found(options),
              ElementsAre(HasSubstr("unreadable 1; conll:6: expected a word and its tag"),
                          "duplicates 1; conll:8: as conll:3", "similar_labels 1; 'B-PER' (1), 'b-per' (1)"));
  options.task = "";
  options.files = {Write("tags.jsonl", R"({"tokens": ["Ada", "slept"], "ner_tags": [1, 0]})"
                                       "\n"
                                       R"({"tokens": ["Ada"], "ner_tags": [1, 0]})")};
  EXPECT_THAT(Found(options), ElementsAre("unreadable 1; tags.jsonl:2: 1 tokens have 2 tags"));
}

// A check accepts and refuses the same files as a training.
TEST_F(CheckDataTest, ReadsQuestionsAndTagsAsTrainingsDo) {
  const auto found = [&](const std::string& name, const std::string& text, const std::string& task) {
    DataCheck options;
    options.files = {Write(name, text)};
    options.task = task;
    return Found(options);
  };
  const std::string wrong =
      R"({"question": "Who?", "context": "Ada slept.", "answers": [{"text": "Bob", "start": 0}]})";
  const std::string table = "question\tcontext\tanswer\tanswer_start\nWho?\tAda slept.\tBob\t0\n";
  for (const char* task : {"", "questions"}) {
    EXPECT_THAT(found("a.json", "[" + wrong + "]", task), ElementsAre("answers 1; a.json:1: Bob"));
    EXPECT_THAT(found("a.json", wrong + "\n", task), ElementsAre("answers 1; a.json:1: Bob"));
    EXPECT_THAT(found("a.tsv", table, task), ElementsAre("answers 1; a.tsv:2: Bob"));
  }
  const char* const without_start = "question,context,answers\nWho?,Ada slept.,Ada\n";
  EXPECT_THAT(found("a.csv", without_start, ""),
              ElementsAre(HasSubstr("unreadable 1; a.csv:2: there is no column answer")));
  EXPECT_THAT(ErrorOf([&] { found("a.csv", without_start, "questions"); }),
              HasSubstr("a.csv:1: there is no column answer, but"));
  for (const char* task : {"", "tags"})
    EXPECT_THAT(found("a.tsv", "tokens\ttags\nAda slept\tB-PER\n", task),
                ElementsAre("unreadable 1; a.tsv:2: 2 tokens have 1 tags"));
  EXPECT_THAT(found("a.tsv", "Ada\tB-PER\nslept\tVB\tO\n\nslept\tO\nAda\tB-PER\n", "tags"),
              ElementsAre(HasSubstr("a.tsv:2: 3 columns, and the")));
}

TEST_F(CheckDataTest, FindsEmptyFiles) {
  DataCheck options;
  options.files = {Write("a.txt", "one\n"), Write("b.txt", "")};
  options.valid = {Write("c.jsonl", "\n")};
  EXPECT_THAT(Found(options), ElementsAre("empty_files 2; b.txt; c.jsonl"));
  options.task = "parallel";
  options.valid.clear();
  EXPECT_THAT(Found(options), testing::Contains("empty_files 1; b.txt"));
  // A byte order mark is not part of the first text.
  options.task = "";
  options.files = {Write("mark.txt", "\xEF\xBB\xBFone\none\n")};
  EXPECT_THAT(Found(options), ElementsAre("duplicates 1; mark.txt:2: as mark.txt:1"));
}

TEST_F(CheckDataTest, SummarizesInOneLine) {
  const std::string source = Write("de", "ein Hund\nWort\n"), target = Write("en", "a dog\nWort\n");
  const auto summary = [](std::vector<std::string> files, const char* task) {
    return CheckSummary({.files = std::move(files), .task = task});
  };
  EXPECT_EQ(summary({source, target}, "parallel"),
            fmt::format("checked {}, {} (2 pairs): warning: 1 target that is equal to its source; headlight check "
                        "names them",
                        source, target));
  EXPECT_EQ(summary({source}, "texts"), "checked " + source + " (2 lines): nothing found");
  const std::string one = Write("one", "a\n");
  EXPECT_EQ(summary({one}, "texts"), "checked " + one + " (1 line): nothing found");
  EXPECT_EQ(summary({Write("a.fasta", ">a\nMK\n")}, "texts"), "");
  EXPECT_EQ(summary({"/dev/null"}, "texts"), "");
}

TEST_F(CheckDataTest, MissesNoNamedLabel) {
  DataCheck options;
  options.files = {Write("a.csv", "text,label\na,1\n")};
  options.columns.label = "labl";
  EXPECT_THAT(Found(options), ElementsAre(HasSubstr("unreadable 1; a.csv:2: there is no label")));
}

TEST_F(CheckDataTest, SummarizesImagesAndSeveralLabels) {
  WriteImage("images/cat/1.png", 1);
  WriteImage("images/cat/2.png", 1);
  WriteImage("images/train/3.png", 2, 8);         // the name of a split, and small
  Write("images/train/4.png", "no image");        // damaged
  Write("images/train/5.heic", "an image, too");  // unsupported format
  const std::string images = scratch_.File("images");
  EXPECT_EQ(CheckSummary({.files = {images}}),
            fmt::format("checked {} (4 images): warning: 1 duplicate file; headlight check names them", images));
  WriteImage("images/dog/1.png", 1);
  EXPECT_THAT(CheckSummary({.files = {images}}), HasSubstr("1 duplicate file in different classes"));
  EXPECT_THAT(CheckSummary({.files = {images}, .classes = false}), HasSubstr("2 duplicate files;"));

  const std::string labels = Write("labels.tsv", "dog\tred, small\ncat\tRed\nbird\t\n");
  EXPECT_EQ(CheckSummary({.files = {labels}, .task = "labels", .several_labels = true}),
            fmt::format("checked {} (3 rows): warning: 1 group of labels that differ only by spaces or "
                        "case; headlight check names them",
                        labels));
}

}  // namespace
}  // namespace headlight::check_data_test
