#include "headlight/text/tokenizers/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "headlight/base/error.h"
#include "headlight/base/file.h"

namespace headlight::vocabulary_test {
namespace {

using testing::HasSubstr;

const std::vector<std::string>& Corpus() {
  static const std::vector<std::string> corpus = [] {
    std::vector<std::string> lines;
    const char* subjects[] = {"Der Hund", "Die Katze", "Ein Kind", "The dog", "A cat", "Some child"};
    const char* verbs[] = {"läuft", "schläft", "spielt", "runs", "sleeps", "plays"};
    const char* places[] = {"im Garten.",     "am Strand!", "auf der Straße.",
                            "in the garden.", "at 10:30?",  "</s> outside"};
    for (const char* subject : subjects) {
      for (const char* verb : verbs) {
        for (const char* place : places) lines.push_back(fmt::format("{} {} {}", subject, verb, place));
      }
    }
    return lines;
  }();
  return corpus;
}

MarianTokenizer Train(const std::vector<std::string>& lines, const VocabularyOptions& options) {
  std::size_t at = 0;
  return TrainVocabulary([&](std::string_view& line) { return at < lines.size() ? (line = lines[at++], true) : false; },
                         options);
}

std::string ErrorOf(const std::vector<std::string>& lines, const VocabularyOptions& options) {
  try {
    Train(lines, options);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.cause(), ErrorCause::user);
    return error.what();
  }
}

VocabularyOptions Options(SubwordAlgorithm algorithm, std::int32_t size) {
  VocabularyOptions options;
  options.algorithm = algorithm;
  options.size = size;
  return options;
}

class Vocabulary : public testing::TestWithParam<SubwordAlgorithm> {};
INSTANTIATE_TEST_SUITE_P(, Vocabulary, testing::Values(SubwordAlgorithm::bpe, SubwordAlgorithm::unigram),
                         [](const auto& which) { return which.param == SubwordAlgorithm::bpe ? "bpe" : "unigram"; });

TEST_P(Vocabulary, HasMariansOrderAndEveryCharacter) {
  const MarianTokenizer tokenizer = Train(Corpus(), Options(GetParam(), 60));
  EXPECT_EQ(tokenizer.algorithm(), GetParam());
  EXPECT_EQ(tokenizer.size(), 60);
  EXPECT_EQ(tokenizer.eos(), 0);
  EXPECT_EQ(tokenizer.unk(), 1);
  EXPECT_EQ(tokenizer.pad(), 59);
  EXPECT_EQ(tokenizer.Piece(0), "</s>");
  EXPECT_EQ(tokenizer.Piece(59), "<pad>");
  for (const std::string& line : Corpus()) {
    const auto tokens = tokenizer.Encode(line);
    EXPECT_EQ(tokenizer.Decode(tokens), line);
    for (const std::int32_t token : tokens) {
      EXPECT_GT(token, 1);
      EXPECT_LT(token, 59);
    }
  }
  EXPECT_THAT(tokenizer.Encode("日本"), testing::Contains(tokenizer.unk()));
  for (const char* text : {"</s>", "<unk>", "<pad>"}) EXPECT_EQ(tokenizer.Decode(tokenizer.Encode(text)), text);
}

TEST_P(Vocabulary, IsTheSameForTheSameText) {
  const std::string folder = fmt::format("{}/vocabulary_{}", testing::TempDir(), getpid());
  const std::string one = folder + "/one", other = folder + "/other";
  std::filesystem::create_directories(one);
  std::filesystem::create_directories(other);
  Train(Corpus(), Options(GetParam(), 60)).Save(one);
  Train(Corpus(), Options(GetParam(), 60)).Save(other);
  for (const char* file : {"/source.spm", "/tokenizer.json"}) EXPECT_EQ(ReadFile(one + file), ReadFile(other + file));
}

// Checks that every size above the largest possible vocabulary of the text results in the same vocabulary.
TEST_P(Vocabulary, IsLimitedByTheText) {
  const MarianTokenizer all = Train(Corpus(), Options(GetParam(), 8000));
  EXPECT_GT(all.size(), 60);
  EXPECT_LT(all.size(), 8000);
  for (const int size : {all.size() - 1, all.size(), all.size() + 1, 2 * all.size()})
    EXPECT_EQ(Train(Corpus(), Options(GetParam(), size)).size(), std::min(size, all.size()));
}

TEST_P(Vocabulary, ErrorsNameTheLargestSize) {
  VocabularyOptions options = Options(GetParam(), 8000);
  const std::int32_t most = Train(Corpus(), options).size();
  options.exact = true;
  EXPECT_THAT(ErrorOf(Corpus(), options), HasSubstr(fmt::format("at most {}", most)));
  options.size = most + 1;
  EXPECT_NE(ErrorOf(Corpus(), options), "");
  options.size = most;
  EXPECT_EQ(Train(Corpus(), options).size(), most);
}

TEST_P(Vocabulary, ErrorsNameTheSmallestSize) {
  const std::string error = ErrorOf(Corpus(), Options(GetParam(), 20));
  EXPECT_THAT(error, HasSubstr("`vocabulary_size` is 20"));
  const int least = std::stoi(error.substr(error.rfind(' ')));
  EXPECT_EQ(ErrorOf(Corpus(), Options(GetParam(), least)), "");
  EXPECT_NE(ErrorOf(Corpus(), Options(GetParam(), least - 1)), "");
}

TEST_P(Vocabulary, RefusesBadText) {
  const VocabularyOptions options = Options(GetParam(), 30);
  EXPECT_THAT(ErrorOf({}, options), HasSubstr("0 lines, none with"));
  EXPECT_THAT(ErrorOf({"", "  ", "\t"}, options), HasSubstr("3 lines, none with"));
  EXPECT_THAT(ErrorOf({"a", "b\xFF"}, options), HasSubstr("line 2: byte 1"));
  EXPECT_THAT(ErrorOf({"a"}, Options(GetParam(), 0)), HasSubstr("must be at least 4"));
  EXPECT_THAT(ErrorOf({"a"}, Options(GetParam(), -5)), HasSubstr("must be at least 4"));
}

// Checks a long line, for which SentencePiece's trainer would abort the process.
TEST_P(Vocabulary, AcceptsUnusualLines) {
  using namespace std::string_literals;
  std::vector<std::string> lines = Corpus();
  lines.insert(lines.end(),
               {"", std::string(200000, 'a'), "nul\0nul"s, "\x01\x02", "\u2581\u2581", "tab\tbed", "\u2585"});
  std::string japanese;
  for (int count = 0; count < 5000; ++count) japanese += "日";
  lines.push_back(japanese);
  const MarianTokenizer tokenizer = Train(lines, Options(GetParam(), 60));
  EXPECT_EQ(tokenizer.Decode(tokenizer.Encode(japanese)), japanese);
}

TEST(VocabularySample, SamplesFromAllLines) {
  VocabularyOptions options;
  options.size = 40;
  options.most_lines = 200;
  std::vector<std::string> lines(1000, "a b c d e f");
  for (int count = 0; count < 1000; ++count) lines.push_back("u v w x y z");
  const MarianTokenizer tokenizer = Train(lines, options);
  for (const char* letter : {"f", "z"}) EXPECT_EQ(tokenizer.Decode(tokenizer.Encode(letter)), letter);
  options.seed = 2;
  EXPECT_EQ(Train(lines, options).size(), 40);
}

}  // namespace
}  // namespace headlight::vocabulary_test
