#include "headlight/data/tagged_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "headlight/base/file.h"
#include "headlight/data/testing.h"

namespace headlight::tagged_texts_test {
namespace {

using testing::HasSubstr;
using Labels = std::vector<std::string>;
using Ids = std::vector<std::int32_t>;

PipelineTokenizer BertTokenizer() {
  const std::string path = HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_bert_uncased.json";
  return PipelineTokenizer::Parse(ReadFile(path), path);
}

struct Reader {
  TestFolder folder;
  PipelineTokenizer tokenizer = BertTokenizer();
  Labels labels;

  TaggedTexts Read(const std::string& name, std::string_view text, std::int64_t longest = 32,
                   NewLabels rule = NewLabels::added) {
    return ReadTaggedTexts({folder.Write(name, text)}, tokenizer, longest, labels, rule);
  }
  // Returns the error message after the file's name.
  std::string Refused(const std::string& name, std::string_view text, NewLabels rule = NewLabels::added) {
    labels = {"O", "X"};
    const std::string error = ErrorOf([&] { Read(name, text, 32, rule); });
    return error.substr(std::min(error.size(), error.find(name)));
  }
  // Returns a string such as "the:O runs:B-X" for all tokens with labels.
  std::string Asked(const TaggedTexts& read) const {
    std::string asked;
    for (const TextExample& text : read.texts.texts)
      for (std::size_t i = 0; i < text.ids.size(); ++i)
        if (text.labels[i] >= 0)
          asked += fmt::format("{}:{}:{} ", tokenizer.Piece(text.ids[i]),
                               labels[static_cast<std::size_t>(text.labels[i])], text.words[i]);
    return asked;
  }
};

TEST(TaggedTexts, ReadsConll) {
  Reader reader;
  const TaggedTexts read = reader.Read("a.conll",
                                       "-DOCSTART- -X- O\n\nthe DT O\r\ndog \t NN  B-X\n \t\nmen\tNNS\tB-X\n"
                                       "-DOCSTART-\nman VB O");
  EXPECT_EQ(reader.Asked(read), "the:O:0 dog:B-X:1 men:B-X:0 man:O:0 ");
  EXPECT_EQ(reader.labels, (Labels{"B-X", "O"}));
  EXPECT_EQ(read.tags, (std::vector<Ids>{{1, 0}, {0}, {1}}));
  EXPECT_EQ(read.sentence_of, (Ids{0, 1, 2}));
  EXPECT_EQ(read.texts.texts[0].ids.size(), 4U);  // including [CLS] and [SEP]
}

TEST(TaggedTexts, ReadsTsvWithAHeaderOrConllColumns) {
  Reader reader;
  EXPECT_EQ(reader.Asked(reader.Read("a.tsv", "id\ttokens\tner_tags\n1\tthe dog\tO B-X\n2\tmen\tO\n")),
            "the:O:0 dog:B-X:1 men:O:0 ");
  EXPECT_EQ(reader.Asked(reader.Read("a.tsv", "the\tO\ntokens\tO\n")).substr(0, 8), "the:O:0 ");
}

TEST(TaggedTexts, ReadsJsonLines) {
  Reader reader;
  const TaggedTexts read = reader.Read("a.jsonl",
                                       "{\"tokens\": [\"the\", \"dog\"], \"tags\": [\"DT\", \"NN\"], "
                                       "\"id\": 7}\n{\"tokens\": [], \"tags\": []}\n");
  EXPECT_EQ(reader.Asked(read), "the:DT:0 dog:NN:1 ");
  EXPECT_EQ(read.tags.size(), 1U);
}

TEST(TaggedTexts, ReadsIntegersAndCsv) {
  Reader reader;
  EXPECT_EQ(reader.Asked(reader.Read("a.jsonl", R"({"tokens": ["the", "dog"], "ner_tags": [10, 2]})")),
            "the:10:0 dog:2:1 ");
  EXPECT_EQ(reader.labels, (Labels{"2", "10"}));
  reader.labels.clear();
  EXPECT_EQ(reader.Asked(reader.Read("a.csv", "id,tokens,tags\n7,\"the  dog\",O B-X\n")), "the:O:0 dog:B-X:1 ");
  EXPECT_EQ(reader.Refused("a.csv", "tokens,tags\nthe dog,O\n"), "a.csv:2: 2 tokens have 1 tags");
}

TEST(TaggedTexts, AreReadInTheFormatThatIsNamed) {
  Reader reader;
  const std::string path = reader.folder.Write("a.txt", "{\"tokens\": [\"dog\"], \"tags\": [\"X\"]}\n");
  ReadTaggedTexts({path}, reader.tokenizer, 32, reader.labels, NewLabels::added, {}, TextFormat::jsonl);
  EXPECT_EQ(reader.labels, (Labels{"X"}));
}

TEST(TaggedTexts, PiecesOfAWordGoOn) {
  Reader reader;
  const TaggedTexts read = reader.Read("a.conll", "play B-X\nplay I-Y\nplay O\n");
  EXPECT_EQ(reader.Asked(read), "pl:B-X:0 ##ay:I-X:-1 pl:I-Y:1 ##ay:I-Y:-1 pl:O:2 ##ay:O:-1 ");
  EXPECT_EQ(reader.labels, (Labels{"B-X", "I-X", "I-Y", "O"}));
}

TEST(TaggedTexts, EachTokenIsAskedForInOneWindow) {
  Reader reader;
  std::string text;
  for (int i = 0; i < 30; ++i) text += fmt::format("{} {}\n", i % 2 == 0 ? "dog" : "men", i);
  const TaggedTexts read = reader.Read("a.conll", text, 12);  // ten words per window; adjacent windows overlap
  EXPECT_GT(read.texts.texts.size(), 3U);
  EXPECT_EQ(read.texts.cut, 1);
  Ids words;
  for (const TextExample& example : read.texts.texts) {
    EXPECT_LE(example.ids.size(), 12U);
    for (std::size_t i = 0; i < example.ids.size(); ++i) {
      EXPECT_EQ(example.labels[i], example.words[i]);  // word i has tag i
      if (example.words[i] >= 0) words.push_back(example.words[i]);
    }
  }
  Ids all(30);
  for (std::size_t i = 0; i < 30; ++i) all[i] = static_cast<std::int32_t>(i);
  EXPECT_EQ(words, all);
  // A token has its label in the window in which it is farthest from an edge.
  EXPECT_EQ(read.texts.texts[0].words[9], 8);
  EXPECT_EQ(read.texts.texts[0].words[10], -1);
}

TEST(TaggedTexts, AWordWithoutTokensIsNotAskedFor) {
  Reader reader;
  const TaggedTexts read = reader.Read("a.conll", "\xE2\x80\x8D A\ndog B\n\n\xE2\x80\x8D A\n");
  EXPECT_EQ(reader.Asked(read), "dog:B:1 ");
  EXPECT_EQ(read.tags, (std::vector<Ids>{{0, 1}, {0}}));
}

TEST(TaggedTexts, RefusesWhatIsBroken) {
  Reader reader;
  EXPECT_EQ(reader.Refused("x.conll", "dog O\nmen\n"),
            "x.conll:2: expected a word and its tag, with a space or a tab between");
  EXPECT_EQ(reader.Refused("x.conll", "dog O\nNew York\tX\n"), "x.conll:2: 3 columns, and the lines before have 2");
  EXPECT_EQ(reader.Refused("x.conll", "dog Y\n", NewLabels::refused),
            "x.conll:1: 'Y' is not one of the known labels: O, X");
  EXPECT_EQ(reader.Refused("x.conll", "dog O\x7F\n"),
            "x.conll:1: a label must have a name, without control characters");
  EXPECT_EQ(reader.Refused("x.conll", "dog \xFF\n"), "x.conll: line 1: byte 4 is not UTF-8");
  EXPECT_THAT(reader.Refused("x.conll", std::string(kMaxLineBytes, 'x') + " O\n"), HasSubstr("line 1: longer than"));
  std::string endless;
  for (int i = 0; i < 17'000; ++i) endless += std::string(1000, 'x') + " O\n";
  EXPECT_THAT(reader.Refused("x.conll", endless),
              HasSubstr(": a sentence is longer than 16777216 bytes; an empty line ends"));
  for (int i = 0; i < 1 << 14; ++i) reader.labels.push_back(fmt::format("T{}", i));
  EXPECT_THAT(ErrorOf([&] { reader.Read("x.conll", "dog New\n"); }), HasSubstr("more than 16384 different labels"));

  const auto json = [&](std::string_view line) { return reader.Refused("a.jsonl", line); };
  EXPECT_EQ(json(R"({"tokens": ["dog"], "tags": []})"), "a.jsonl:1: 1 tokens have 0 tags");
  EXPECT_EQ(json(R"({"tokens": ["dog"]})"), "a.jsonl:1: expected one of tags, ner_tags, and there is 'tokens'");
  EXPECT_EQ(json(R"({"tokens": [3], "tags": ["O"]})"), "a.jsonl:1: key 'tokens[0]': expected a string, got 3");
  EXPECT_EQ(json(R"({"tokens": ["dog"], "tags": [3.5]})"), "a.jsonl:1: key 'tags[0]': expected a string, got 3.5");
  EXPECT_EQ(json(R"({"tokens": ["dog", " "], "tags": ["O", "O"]})"), "a.jsonl:1: key 'tokens[1]': a word is empty");
  EXPECT_EQ(json(R"({"tokens": ["dog"], "tags": [""]})"),
            "a.jsonl:1: key 'tags[0]': a label must have a name, without control characters");
  EXPECT_EQ(json(R"({"tokens": ["dog"], "tags": ["a\nb"]})"),
            "a.jsonl:1: key 'tags[0]': a label must have a name, without control characters");
}

}  // namespace
}  // namespace headlight::tagged_texts_test
