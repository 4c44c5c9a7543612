#include "headlight/data/classified_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "headlight/base/file.h"
#include "headlight/data/testing.h"

namespace headlight::classified_texts_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Labels = std::vector<std::string>;

struct ClassifiedTexts : testing::Test {
  TextExamples Read(const std::string& name, std::string_view text, NewLabels rule = NewLabels::added) {
    return ReadClassifiedTexts({folder.Write(name, text)}, tokenizer, 32, labels, {.rule = rule});
  }
  // Returns the error message, starting at the file name.
  std::string Refused(const std::string& name, std::string_view text, NewLabels rule = NewLabels::added) {
    const std::string error = ErrorOf([&] { Read(name, text, rule); });
    return error.substr(std::min(error.size(), error.find(name)));
  }
  std::string Warning(std::string_view text) {
    labels.clear();
    const TextExamples read = Read("a.tsv", text);
    EXPECT_LE(read.warnings.size(), 1U);
    return read.warnings.empty() ? "" : read.warnings[0].substr(read.warnings[0].find("a.tsv"));
  }
  static std::vector<std::int32_t> LabelsOf(const TextExamples& read) {
    std::vector<std::int32_t> numbers;
    for (const TextExample& text : read.texts) numbers.push_back(text.labels.at(0));
    return numbers;
  }
  std::string TextOf(const TextExample& text) const { return tokenizer.Decode(text.ids); }

  TestFolder folder;
  PipelineTokenizer tokenizer = [] {
    const std::string path = HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_bert_uncased.json";
    return PipelineTokenizer::Parse(ReadFile(path), path);
  }();
  Labels labels;
};

TEST_F(ClassifiedTexts, AreReadInTheFormatThatIsNamed) {
  const auto read = [&](const char* text, TextFormat format) {
    return ReadClassifiedTexts({folder.Write("a.txt", text)}, tokenizer, 32, labels, {.format = format}).texts.size();
  };
  EXPECT_EQ(read("{\"text\": \"dog\", \"label\": \"a\"}\n", TextFormat::jsonl), 1U);
  EXPECT_EQ(read("label,text\nb,dog\nb,man\n", TextFormat::csv), 2U);
  EXPECT_EQ(read("label\ttext\nc\tdog\n", TextFormat::tsv), 1U);
  EXPECT_EQ(labels, (Labels{"a", "b", "c"}));
  EXPECT_THAT(ErrorOf([&] { read("dog\tc\nman\td\n", TextFormat::tsv); }), HasSubstr("a.txt:2"));
}

TEST_F(ClassifiedTexts, HaveSeveralLabels) {
  const auto read = [&](const char* name, const char* text) {
    return ReadClassifiedTexts({folder.Write(name, text)}, tokenizer, 32, labels, {.asked = LabelsPerText::several});
  };
  TextExamples found = read("a.tsv", "dog\tb, a\nman\t\n");
  EXPECT_EQ(labels, (Labels{"a", "b"}));
  EXPECT_THAT(found.texts[0].labels, ElementsAre(1, 0));
  EXPECT_TRUE(found.texts[1].labels.empty());
  found = read("a.jsonl", R"({"text": "dog", "labels": ["b", 1]})"
                          "\n"
                          R"({"text": "dog", "label": "b,c"})");
  EXPECT_EQ(labels, (Labels{"1", "a", "b", "b,c"}));
  EXPECT_THAT(found.texts[0].labels, ElementsAre(2, 0));
  EXPECT_THAT(found.texts[1].labels, ElementsAre(3));
  EXPECT_THAT(ErrorOf([&] { read("b.tsv", "dog\ta,,b\n"); }), HasSubstr("b.tsv:1"));
  EXPECT_THAT(ErrorOf([&] { read("b.jsonl", R"({"text": "dog"})"); }),
              HasSubstr("b.jsonl:1: there is no label, but 'text'; `label_column`"));
}

TEST_F(ClassifiedTexts, HaveNumbers) {
  labels = {"LABEL_0"};
  const auto read = [&](const char* name, const char* text) {
    return ReadClassifiedTexts({folder.Write(name, text)}, tokenizer, 32, labels, {.asked = LabelsPerText::numbers});
  };
  EXPECT_THAT(read("a.tsv", "dog\t-1.5\nman\tdog\t2e1\n").texts[1].numbers, ElementsAre(20.0F));
  EXPECT_THAT(read("a.csv", "text,label\ndog,3\n").texts[0].numbers, ElementsAre(3.0F));
  EXPECT_THAT(read("a.jsonl", R"({"text": "dog", "label": [0.1]})").texts[0].numbers, ElementsAre(0.1F));
  EXPECT_EQ(labels, Labels{"LABEL_0"});
  EXPECT_NE(HashOfTexts(read("a.tsv", "dog\t1\n").texts), HashOfTexts(read("a.tsv", "dog\t2\n").texts));
  for (const char* bad : {"dog\tx\n", "dog\t\n", "dog\t1e39\n", "dog\tnan\n", "dog\t1,2\n"})
    EXPECT_THAT(ErrorOf([&] { read("b.tsv", bad); }), HasSubstr("b.tsv:1: ")) << bad;
}

TEST_F(ClassifiedTexts, IntegersKeepTheirOrder) {
  EXPECT_THAT(LabelsOf(Read("a.tsv", "dog\t2\nman\t0\ndog\t1\nman\t2\n")), ElementsAre(2, 0, 1, 2));
  EXPECT_EQ(labels, (Labels{"0", "1", "2"}));
  labels.clear();
  EXPECT_THAT(LabelsOf(Read("a.jsonl", R"({"text": "dog", "label": 10})"
                                       "\n"
                                       R"({"text": "man", "label": -3})"
                                       "\n"
                                       R"({"text": "man", "label": "9"})")),
              ElementsAre(2, 0, 1));
  EXPECT_EQ(labels, (Labels{"-3", "9", "10"}));
}

TEST_F(ClassifiedTexts, RefusesFilesWithoutAnyText) {
  EXPECT_THAT(Refused("a.tsv", " \tyes\n  \tno\n"), testing::StartsWith("a.tsv: there is no text in it"));
  EXPECT_EQ(Refused("a.tsv", " \tyes\ndog\tno\n"), "");
}

TEST_F(ClassifiedTexts, OtherLabelsAreSorted) {
  EXPECT_THAT(LabelsOf(Read("a.tsv", "dog\tneutral\nman\tbad\ndog\t10\n")), ElementsAre(2, 1, 0));
  EXPECT_EQ(labels, (Labels{"10", "bad", "neutral"}));
}

TEST_F(ClassifiedTexts, ANumberMayStandForANamedClassOfAModel) {
  const auto numbers = NewLabels::refused_but_numbers;
  labels = {"NEGATIVE", "POSITIVE"};
  EXPECT_THAT(LabelsOf(Read("a.tsv", "dog\t1\nman\tNEGATIVE\n", numbers)), ElementsAre(1, 0));
  EXPECT_THAT(Refused("a.tsv", "dog\t2\n", numbers),
              testing::AllOf(HasSubstr("a.tsv:1: '2'"), HasSubstr("NEGATIVE, POSITIVE")));
  EXPECT_THAT(Refused("a.tsv", "dog\t1.5\n", numbers), HasSubstr("POSITIVE; numbers are the labels"));
  EXPECT_THAT(Refused("a.tsv", "dog\tPOSITIVE,2\n", numbers), HasSubstr("POSITIVE; a text has several labels"));
  EXPECT_THAT(Refused("a.tsv", "dog\t1\n", NewLabels::refused), HasSubstr("a.tsv:1: '1' is not"));
  labels = {"1", "2"};
  EXPECT_THAT(Refused("a.tsv", "dog\t0\n", numbers), HasSubstr("a.tsv:1: '0' is not"));
}

TEST_F(ClassifiedTexts, ReadsCsvAndTheNamesOfGlue) {
  const TextExamples csv = Read("a.csv", "idx,label,sentence1,sentence2\n7,1,\"the dog,\nruns\",a man\n8,0,dog,\n");
  ASSERT_EQ(csv.texts.size(), 2U);
  EXPECT_EQ(TextOf(csv.texts[0]), "the dog runs a man");
  EXPECT_THAT(csv.texts[0].types, testing::Contains(1));
  EXPECT_EQ(TextOf(csv.texts[1]), "dog");
  EXPECT_THAT(csv.texts[1].types, testing::Each(0));
  EXPECT_THAT(LabelsOf(csv), ElementsAre(1, 0));
  for (const char* line :
       {R"({"premise": "dog", "hypothesis": "man", "label": 1})",
        R"({"question": "dog", "sentence": "man", "label": 1})",
        R"({"question1": "dog", "question2": "man", "label": 1})",
        R"({"question": "dog", "passage": "man", "label": 1})", R"({"text": "dog", "text_pair": "man", "label": 1})"})
    EXPECT_EQ(TextOf(Read("a.jsonl", line).texts[0]), "dog man") << line;
  EXPECT_EQ(TextOf(Read("a.csv.gz", "label,sentence\n1,dog\n").texts[0]), "dog");
}

TEST_F(ClassifiedTexts, AHeaderOfTsvNamesTheColumns) {
  const TextExamples named = Read("a.tsv", "label\tid\tsentence\n1\t7\tdog\n0\t8\tman\n");
  ASSERT_EQ(named.texts.size(), 2U);
  EXPECT_EQ(TextOf(named.texts[0]), "dog");
  EXPECT_THAT(LabelsOf(named), ElementsAre(1, 0));
  EXPECT_EQ(Read("a.tsv", "dog\tlabel\n").texts.size(), 1U);
  EXPECT_EQ(
      Refused("a.tsv", "sentence1\tsentence2\tscore\ndog\tman\t1.5\n"),
      "a.tsv:1: the header has no column of the label, but 'sentence1, sentence2, score'; `label_column` names it");
  labels.clear();
  const ClassifiedTextOptions options = {.columns = {.text = "b", .text_pair = "a", .label = "c"}};
  const auto read = [&](const char* text) {
    return ReadClassifiedTexts({folder.Write("a.tsv", text)}, tokenizer, 32, labels, options);
  };
  EXPECT_EQ(TextOf(read("a\tb\tc\nman\tdog\tx\n").texts.at(0)), "dog man");
  EXPECT_EQ(labels, Labels{"x"});
  EXPECT_THAT(ErrorOf([&] { read("a\tb\td\nman\tdog\tx\n"); }), HasSubstr("a.tsv: it has no header with all columns"));
}

TEST_F(ClassifiedTexts, NamesTheRecordThatDoesNotFit) {
  EXPECT_EQ(Refused("a.csv", "review,label\nfine,1\n"),
            "a.csv:2: expected text or sentence or sentence1 or question or premise or question1, and there is "
            "'review, label'; `text_column` names the key of the text");
  EXPECT_EQ(Refused("a.csv", "text,class\nfine,1\n"),
            "a.csv:2: there is no label, but 'text, class'; `label_column` names its key");
  EXPECT_EQ(Refused("a.csv", "text,label\nfine\n"), "a.csv:2: 1 field, and the header has 2");
  EXPECT_EQ(Refused("a.csv", "text,text\n"), "a.csv:1: two columns are named 'text'");
  EXPECT_THAT(Refused("a.csv", "\n"), HasSubstr("a.csv: there is no header"));
  EXPECT_EQ(Refused("a.jsonl", R"({"text": "dog", "label": [1]})"),
            "a.jsonl:1: key 'label': expected a string, got an array");
  EXPECT_THAT(Refused("a.tsv", "dog\n"), HasSubstr("a.tsv:1: expected a text, a tab and its class"));
}

TEST_F(ClassifiedTexts, WarnsOfColumnsThatSeemMistaken) {
  EXPECT_EQ(Warning("text\tlabel\ndog\t1\n"), "");
  EXPECT_THAT(Warning("Sentence\tLabel\ndog\t1\n"), HasSubstr("a.tsv:1: this line looks like a header"));
  EXPECT_THAT(Warning("class\ttext\n1\tdog\n"), HasSubstr("a.tsv:1: this line looks like a header"));
  EXPECT_THAT(Warning("\ntext\tscore\ndog\t1\n"), HasSubstr("a.tsv:2: this line looks like a header"));
  std::string swapped, pairs, good, good_pairs;
  for (int i = 0; i < 20; ++i) {
    const std::string number = std::to_string(i);
    const char* label = i % 2 == 0 ? "good" : "bad";
    swapped += fmt::format("{}\tthe dog {}\n", label, number);
    pairs += fmt::format("dog {}\t{}\tuser {}\n", number, label, i % 5);
    good += fmt::format("dog {}\t{}\n", number, label);
    good_pairs += fmt::format("dog {}\tman {}\t{}\n", number, i / 2, label);
  }
  EXPECT_THAT(Warning(swapped), HasSubstr("a.tsv:1: 'the dog 0' is read as a class, and 20 lines have 20 different"));
  EXPECT_THAT(Warning(pairs),
              HasSubstr("a.tsv:1: 'good' is read as a second text, and 20 lines have only 2 different"));
  EXPECT_EQ(Warning(good), "");
  EXPECT_EQ(Warning(good_pairs), "");
}

// Reading a file truncated at any byte must succeed or throw a one-line error that names the file.
TEST_F(ClassifiedTexts, ReadsOrRefusesEveryTruncation) {
  const std::string csv = "text,label,text_pair\n\"the \"\"dog\"\",\nruns\",1,\"ä\"\ndog,2,\n",
                    json =
                        "{\"text\": \"the \\\"dog\\\" \\u00e4\", \"label\": 1}\n{\"label\": \"x\", \"text\": \"ä\"}\n",
                    tsv = "the dog\tä\t1\nä\tx\n";
  for (const auto& [name, file] : {std::pair("a.csv", &csv), {"a.jsonl", &json}, {"a.tsv", &tsv}})
    for (std::size_t size = 0; size <= file->size(); ++size) {
      labels.clear();
      const std::string cut = file->substr(0, size);
      const std::string error = ErrorOf([&, path = name] { EXPECT_LE(Read(path, cut).texts.size(), 2U); });
      if (error.empty()) continue;
      EXPECT_THAT(error, HasSubstr(name));
      EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    }
}

}  // namespace
}  // namespace headlight::classified_texts_test
