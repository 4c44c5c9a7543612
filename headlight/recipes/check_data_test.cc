// Every finding of a check, planted, and files without any.
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
  // An image of this colour.
  std::string WriteImage(const std::string& name, int colour, std::int64_t side = 16) const {
    Image image{.height = side, .width = side, .pixels = {}};
    image.pixels.assign(static_cast<std::size_t>(side * side * 3), static_cast<std::uint8_t>(colour));
    return Write(name, EncodePng(image));
  }
  // The findings as "kind count", each with its examples, whose folder is left out.
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
  labels.format = "labels";
  labels.files = {Write("a.tsv", "good\tpos\nbad\tneg\n\nfine\tpos\n")};
  labels.valid = {Write("valid.tsv", "worse\tneg\n")};
  EXPECT_THAT(Found(labels), IsEmpty());
  labels.format = "";
  labels.files = {Write("a.jsonl", "{\"text\": \"good\\nday\", \"label\": 1}\n{\"text\": \"bad\", \"label\": 0}\n"),
                  Write("a.csv", "text,label\n\"fine,\nvery\",1\n")};
  labels.valid = {};
  EXPECT_THAT(Found(labels), IsEmpty());
  EXPECT_EQ(CheckData(labels).unit, "rows");

  DataCheck pairs;
  pairs.format = "parallel";
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
  EXPECT_THAT(Found(options), ElementsAre(HasSubstr("unreadable 1; long.txt: line 2: longer than 16777216 bytes")));
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
  options.format = "parallel";
  options.files = {Write("de", "ein Hund\nWort\n42\nja\n\nein Hund\nx\xFF\nlang\nmehr\n"),
                   Write("en", "a dog\nWort\n42\n" + std::string(19, 'y') + "\nno\na dog\nbad\nb\ad\n")};
  options.valid = {Write("valid.de", "ein Hund\nein Hund\n"), Write("valid.en", "another dog\na dog\n")};
  EXPECT_THAT(Found(options),
              ElementsAre("invalid_utf8 1; de:7: byte 1 is not UTF-8", "control_characters 1; en:8: U+0007",
                          "empty 1; de:5", HasSubstr("line_counts 1; de has 9 lines, and "), "copies 1; de:2: Wort",
                          "length_ratio 1; de:4: 2 and 19 characters", "duplicates 1; de:6: as de:1",
                          "leaks 1; valid.de:2: as de:1"));
  DataCheck columns;
  columns.format = "pairs";
  columns.files = {Write("a.tsv", "ein Hund\ta dog\nWort\tWort\neins\nzwei\ttwo\t2\n")};
  EXPECT_THAT(
      Found(columns),
      ElementsAre("columns 2; a.tsv:3: 1 column, where 2 are expected; a.tsv:4: 3 columns, where 2 are expected",
                  "copies 1; a.tsv:2: Wort"));
  columns.format = "";
  columns.files = {
      Write("a.jsonl", "{\"source\": \"Wort\", \"target\": \"Wort\"}\n{\"source\": 1.5}\n{\"texts\": 1}\n[]\n{")};
  EXPECT_THAT(
      Found(columns),
      ElementsAre(HasSubstr("unreadable 4; a.jsonl:2: key 'source': expected a string; a.jsonl:3: there is no text"),
                  "copies 1; a.jsonl:1: Wort"));
}

TEST_F(CheckDataTest, FindsMistakesInLabels) {
  DataCheck options;
  options.format = "labels";
  options.files = {Write("a.tsv", "a\tpos\nb\tneg\nc\tPos \nd\t\ne\ne\tf\tneg\nbroken\tn\xFFg\n")};
  options.valid = {Write("valid.tsv", "g\tnone\n")};
  EXPECT_THAT(
      Found(options),
      ElementsAre("invalid_utf8 1; a.tsv:7: the label is not UTF-8",
                  "columns 2; a.tsv:5: 1 column, where 2 are expected; a.tsv:6: 3 columns, where 2 are expected",
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
  options.format = "";
  options.files = {Write("a.csv", "text,label\na,1\nb,2,3\nb,ÄRGER\nc,ärger\n")};
  EXPECT_THAT(Found(options), ElementsAre("columns 1; a.csv:3: 3 fields, where the header has 2",
                                          "similar_labels 1; 'ÄRGER' (1), 'ärger' (1)"));
}

// Sentences of random words, and their translations: each word has another one, and numbers stay.
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
    options.format = "parallel";
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
    EXPECT_THAT(found[0], HasSubstr("line i belongs to line i - 1 of "));
    EXPECT_NEAR(line_of(found[0]), 300, 8);
    source.erase(source.begin() + 449);  // in step again
    found = shifts(source, target);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_THAT(found[1], HasSubstr("the lines are in step again"));
    EXPECT_NEAR(line_of(found[1]), 450, 8);
    source.erase(source.begin(), source.begin() + 3);
    found = shifts(source, target);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_THAT(found[0], HasSubstr("source:1: from here on, line i belongs to line i + 3 of "));
  }
  // Lines that say nothing about each other.
  const std::vector<std::string> equal(500, "the same line");
  EXPECT_THAT(shifts(equal, equal), IsEmpty());
  for (const std::uint64_t seed : {4, 6, 8})
    EXPECT_THAT(shifts(ParallelLines(2000, seed).first, ParallelLines(2000, seed + 1).second), IsEmpty());
  // Nor do those that alternate in the same way.
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
  WriteImage("train/cats/4.png", 2);      // as 2
  WriteImage("train/dogs/5.png", 0);      // as cats/0
  WriteImage("train/test/6.jpg", 6);      // a PNG
  WriteImage("train/dogs/7.png", 7, 15);  // small
  for (int i = 0; i < 7; ++i) Write(fmt::format("train/cats/damaged{}.png", i), i == 0 ? "" : "\x89PNG\r\n\x1A\n");
  WriteImage("train/outside.png", 8);
  WriteImage("train/cats/hidden.dat", 9);
  Write("train/cats/a.heic", "");
  Write("train/cats/b.heic", "");
  Write("train/.hidden/c.png", "");
  std::filesystem::create_directories(scratch_.File("train/birds"));
  WriteImage("valid/cats/0.png", 3);  // as dogs/3
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

TEST_F(CheckDataTest, RefusesWhatItCannotCheck) {
  WriteImage("images/cats/0.png", 1);
  const std::string text = Write("a.txt", "a\nb\n"), tsv = Write("a.tsv", "a\tb\n"), csv = Write("a.csv", "a,b\nc,d\n");
  const auto refusal = [&](std::vector<std::string> files, std::string format, std::vector<std::string> valid = {}) {
    DataCheck options;
    options.files = std::move(files);
    options.format = std::move(format);
    options.valid = std::move(valid);
    return ErrorOf([&] { CheckData(options); });
  };
  EXPECT_THAT(refusal({}, ""), HasSubstr("there is no file"));
  EXPECT_THAT(refusal({scratch_.File("none")}, ""), HasSubstr("none: no such file or folder"));
  EXPECT_THAT(refusal({text}, "words"), HasSubstr("`format` must be texts, parallel, pairs or labels, not 'words'"));
  EXPECT_THAT(refusal({text}, "parallel"), HasSubstr("needs two files"));
  EXPECT_THAT(refusal({text, text}, "parallel", {text}), HasSubstr("needs two files"));
  EXPECT_THAT(refusal({tsv}, ""), HasSubstr("`format` must say"));
  EXPECT_THAT(refusal({text}, "", {scratch_.File("images")}), HasSubstr("checked separately"));
  EXPECT_THAT(refusal({scratch_.File("images")}, "texts"), HasSubstr("`format` is for text"));
  EXPECT_THAT(refusal({Write("a.fasta", ">a\nMK\n")}, ""), HasSubstr("a.fasta: text is checked in plain files"));
  const std::string cut = Gzip(Joined(ParallelLines(3000, 1).first));
  EXPECT_THAT(refusal({Write("cut.gz", cut.substr(0, cut.size() / 2))}, ""), HasSubstr("the file is truncated"));
  std::filesystem::create_directories(scratch_.File("empty"));
  EXPECT_THAT(refusal({scratch_.File("empty")}, ""), HasSubstr("there is no image in it"));
}

TEST_F(CheckDataTest, SummarizesInOneLine) {
  const std::string source = Write("de", "ein Hund\nWort\n"), target = Write("en", "a dog\nWort\n");
  EXPECT_EQ(CheckSummary({source, target}, "parallel"),
            fmt::format("checked {}, {} (2 pairs): warning: 1 targets that are equal to their source; headlight check "
                        "names them",
                        source, target));
  EXPECT_EQ(CheckSummary({source}, "texts"), "checked " + source + " (2 lines): nothing found");
  EXPECT_EQ(CheckSummary({Write("a.fasta", ">a\nMK\n")}, "texts"), "");
  EXPECT_EQ(CheckSummary({"/dev/null"}, "texts"), "");
}

}  // namespace
}  // namespace headlight::check_data_test
