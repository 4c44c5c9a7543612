#include "headlight/text/tokenizers/marian_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <set>
#include <thread>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"

namespace headlight::marian_tokenizer_test {
namespace {

using Tokens = std::vector<std::int32_t>;
using testing::HasSubstr;

std::string TestData(const std::string& name) {
  return HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/" + name;
}
JsonView Goldens(const std::string& name) { return ReadJson(TestData(name)); }
Tokens TokensOf(const JsonView& ids) {
  Tokens tokens;
  for (const JsonView& id : ids.Items()) tokens.push_back(static_cast<std::int32_t>(id.Integer()));
  return tokens;
}
MarianTokenizer Small(const std::string& algorithm) {
  const std::string path = TestData("tokenizer_" + algorithm + ".model");
  return MarianTokenizer(ParseSentencePieceModel(ReadFile(path), path));
}
std::string NewFolder(const std::string& name) {
  // The name contains the process id, since tests run in parallel.
  const std::string folder = fmt::format("{}/tokenizer_{}_{}", testing::TempDir(), getpid(), name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}
std::string LoadError(const std::string& folder) {
  try {
    MarianTokenizer::Load(folder);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.cause(), ErrorCause::user);
    return error.what();
  }
}

class MarianTokenizerOf : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, MarianTokenizerOf, testing::Values("bpe", "unigram"),
                         [](const auto& which) { return which.param; });

TEST_P(MarianTokenizerOf, MatchesSentencePiece) {
  const MarianTokenizer tokenizer = Small(GetParam());
  const std::vector<JsonView> goldens = Goldens(std::string("tokenizer_") + GetParam() + ".json")["cases"].Items();
  ASSERT_GT(goldens.size(), 140u);
  for (const JsonView& golden : goldens) {
    const std::string text = golden["text"].String();
    std::vector<TextSpan> spans;
    const Tokens tokens = tokenizer.Encode(text, Side::source, &spans);
    EXPECT_EQ(tokens, TokensOf(golden["ids"])) << golden["text"].String();
    std::vector<TextSpan> expected;
    for (const JsonView& span : golden["spans"].Items()) {
      const Tokens bytes = TokensOf(span);
      expected.push_back({bytes[0], bytes[1]});
    }
    EXPECT_EQ(spans, expected) << golden["text"].String();
    EXPECT_EQ(tokenizer.Decode(tokens), golden["decoded"].String()) << golden["text"].String();
    EXPECT_EQ(tokenizer.Encode(text), tokens);
  }
}

// Computes FNV-1a as in tools/make_tokenizer_goldens.py.
std::string Fingerprint(const std::string& bytes) {
  std::uint64_t value = 0xCBF29CE484222325;
  for (const unsigned char byte : bytes) value = (value ^ byte) * 0x100000001B3;
  return fmt::format("{:016x}", value);
}

// Checks the fingerprints of the saved files. The goldens are AutoTokenizer's results for files with these
// fingerprints, in a MarianMT folder and in a Pegasus folder.
TEST(MarianTokenizer, SavesWhatTransformersReads) {
  const auto folder_of = [](const std::string& algorithm) { return BuildFolder() + "/tokenizer_saved_" + algorithm; };
  for (const std::string algorithm : {"bpe", "unigram"}) {
    std::filesystem::create_directories(folder_of(algorithm));
    Small(algorithm).Save(folder_of(algorithm));
  }
  for (const std::string algorithm : {"bpe", "unigram"}) {
    const MarianTokenizer tokenizer = Small(algorithm);
    const JsonView goldens = Goldens("tokenizer_saved_" + algorithm + ".json");
    Json files = Json::Object{};
    for (const auto& entry : std::filesystem::directory_iterator(folder_of(algorithm))) {
      files.Set(entry.path().filename().string(), Fingerprint(ReadFile(entry.path())));
    }
    EXPECT_EQ(files, goldens["files"].value());
    for (const JsonView& golden : goldens["cases"].Items()) {
      Tokens tokens = tokenizer.Encode(golden["text"].String());
      tokens.push_back(tokenizer.eos());
      EXPECT_EQ(tokens, TokensOf(golden["ids"])) << golden["text"].String();
    }
  }
}

TEST_P(MarianTokenizerOf, RoundTripsThroughFiles) {
  const MarianTokenizer tokenizer = Small(GetParam());
  const std::string folder = NewFolder("saved"), again = NewFolder("again");
  tokenizer.Save(folder, 256);
  EXPECT_THAT(ReadFile(folder + "/tokenizer_config.json"), HasSubstr("\"model_max_length\": 256"));
  const MarianTokenizer loaded = MarianTokenizer::Load(folder);
  EXPECT_EQ(loaded.size(), tokenizer.size());
  EXPECT_EQ(loaded.eos(), 0);
  EXPECT_EQ(loaded.unk(), 1);
  EXPECT_EQ(loaded.pad(), tokenizer.size() - 1);
  EXPECT_EQ(loaded.algorithm(), tokenizer.algorithm());
  for (const JsonView& golden : Goldens(std::string("tokenizer_") + GetParam() + ".json")["cases"].Items())
    EXPECT_EQ(loaded.Encode(golden["text"].String()), TokensOf(golden["ids"]));
  loaded.Save(again, 256);
  for (const char* file : {"/source.spm", "/vocab.json", "/tokenizer.json"})
    EXPECT_EQ(ReadFile(again + file), ReadFile(folder + file)) << file;
}

// Checks a folder with one model per language and a vocabulary in a different order. The goldens are from Transformers'
// MarianTokenizer.
TEST(MarianTokenizer, ReadsAPublishedFolder) {
  const MarianTokenizer tokenizer = MarianTokenizer::Load(TestData("tokenizer_marian"));
  EXPECT_EQ(tokenizer.algorithm(Side::source), SubwordAlgorithm::unigram);
  EXPECT_EQ(tokenizer.algorithm(Side::target), SubwordAlgorithm::bpe);
  EXPECT_EQ(tokenizer.Piece(tokenizer.pad()), "<pad>");
  const std::string folder = NewFolder("published");
  tokenizer.Save(folder);
  EXPECT_FALSE(std::filesystem::exists(folder + "/tokenizer.json"));
  const MarianTokenizer copy = MarianTokenizer::Load(folder);
  const std::vector<JsonView> cases = Goldens("tokenizer_marian.json")["cases"].Items();
  for (const JsonView& golden : cases) {
    const std::string text = golden["text"].String();
    for (const MarianTokenizer& each : {tokenizer, copy}) {
      Tokens source = each.Encode(text), target = each.Encode(text, Side::target);
      source.push_back(each.eos());
      target.push_back(each.eos());
      EXPECT_EQ(source, TokensOf(golden["source"])) << golden["text"].String();
      EXPECT_EQ(target, TokensOf(golden["target"])) << golden["text"].String();
      std::erase(target, each.unk());
      EXPECT_EQ(each.Decode(target), golden["decoded"].String()) << golden["text"].String();
    }
  }
}

TEST_P(MarianTokenizerOf, NeverReadsSpecialTokensInText) {
  const MarianTokenizer tokenizer = Small(GetParam());
  for (const char* text : {"</s>", "<pad>", "a</s>b", "<pad></s><unk>", ">>de<<</s>"}) {
    const Tokens tokens = tokenizer.Encode(text);
    EXPECT_THAT(tokens, testing::Not(testing::Contains(testing::AnyOf(tokenizer.eos(), tokenizer.pad()))));
    EXPECT_EQ(tokenizer.Decode(tokens), text);
  }
}

TEST(MarianTokenizer, DecodesSpecialTokens) {
  const MarianTokenizer tokenizer = Small("bpe");
  Tokens tokens = tokenizer.Encode("Der Hund");
  tokens.insert(tokens.begin(), tokenizer.pad());
  tokens.push_back(tokenizer.unk());
  tokens.push_back(tokenizer.eos());
  EXPECT_EQ(tokenizer.Decode(tokens), "Der Hund \u2047");
  EXPECT_EQ(tokenizer.Decode({}), "");
  EXPECT_THROW(tokenizer.Decode(Tokens{-1}), Error);
  EXPECT_THROW(tokenizer.Piece(-1), Error);
  EXPECT_EQ(tokenizer.Decode(Tokens{tokenizer.size()}), "");
  EXPECT_EQ(tokenizer.Piece(tokenizer.size()), "");
}

TEST(MarianTokenizer, DropsMerges) {
  const MarianTokenizer tokenizer = Small("bpe");
  const std::string text = "Ein kleiner Hund läuft über die grüne Wiese.";
  Random random(1);
  EXPECT_EQ(tokenizer.EncodeSampled(text, random, 0), tokenizer.Encode(text));
  for (const std::int32_t token : tokenizer.EncodeSampled(text, random, 1)) {
    EXPECT_THAT(tokenizer.Piece(token), testing::SizeIs(testing::Le(3)));  // a single character
  }
  std::set<Tokens> spellings;
  for (int trial = 0; trial < 50; ++trial) {
    Random again = random;
    const Tokens tokens = tokenizer.EncodeSampled(text, random, 0.1);
    EXPECT_EQ(tokenizer.EncodeSampled(text, again, 0.1), tokens);
    EXPECT_EQ(tokenizer.Decode(tokens), text);
    spellings.insert(tokens);
  }
  EXPECT_GT(spellings.size(), 20u);
  EXPECT_THROW(tokenizer.EncodeSampled(text, random, 1.5), Error);
  EXPECT_THROW(tokenizer.EncodeSampled(text, random, std::nan("")), Error);
  EXPECT_THROW(Small("unigram").EncodeSampled(text, random, 0.1), Error);
}

TEST(MarianTokenizer, NamesTheByteThatIsNotUtf8) {
  try {
    Small("bpe").Encode("Der \xFF Hund");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "text: byte 4 is not UTF-8");
  }
}

TEST(MarianTokenizer, RefusesVeryLongText) {
  EXPECT_THROW(Small("bpe").Encode(std::string((1 << 22) + 1, 'a')), Error);
}

TEST_P(MarianTokenizerOf, IsThreadSafe) {
  const MarianTokenizer tokenizer = Small(GetParam());
  std::vector<std::pair<std::string, Tokens>> cases;
  for (const JsonView& golden : Goldens(std::string("tokenizer_") + GetParam() + ".json")["cases"].Items())
    cases.emplace_back(golden["text"].String(), TokensOf(golden["ids"]));
  std::vector<std::thread> threads;
  for (int count = 0; count < 4; ++count) {
    threads.emplace_back([&, copy = tokenizer] {
      for (const auto& [text, tokens] : cases) EXPECT_EQ(copy.Encode(text), tokens);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(MarianTokenizer, RefusesBadFolders) {
  const auto folder = [&] {
    const std::string path = NewFolder("bad");
    Small("bpe").Save(path);
    return path;
  };
  EXPECT_THAT(LoadError(NewFolder("empty")), HasSubstr("_empty/source.spm is missing"));
  EXPECT_THAT(LoadError(testing::TempDir() + "/nowhere"), HasSubstr("/nowhere/source.spm is missing"));
  for (const char* file : {"source.spm", "target.spm", "vocab.json"}) {
    const std::string path = folder();
    std::filesystem::remove(path + "/" + file);
    EXPECT_THAT(LoadError(path), HasSubstr(std::string(file) + " is missing"));
    WriteFile(path + "/" + file, "");
    EXPECT_THAT(LoadError(path), HasSubstr(file));
    WriteFile(path + "/" + file, "{\"</s>\": 0");
    EXPECT_THAT(LoadError(path), HasSubstr(file));
  }
  const std::string path = folder();
  WriteFile(path + "/vocab.json", "{\"</s>\": 0, \"<unk>\": 1, \"a\": 2}");
  EXPECT_THAT(LoadError(path), HasSubstr("\"<pad>\" is not in"));
  WriteFile(path + "/special_tokens_map.json", "{\"pad_token\": \"a\"}");
  EXPECT_EQ(LoadError(path), "");
  EXPECT_EQ(MarianTokenizer::Load(path).pad(), 2);
  WriteFile(path + "/added_tokens.json", R"({"a": 2})");
  EXPECT_EQ(LoadError(path), "");
  WriteFile(path + "/added_tokens.json", R"({"<x>": 3})");
  EXPECT_THAT(LoadError(path), HasSubstr("declares the token '<x>'"));
}

}  // namespace
}  // namespace headlight::marian_tokenizer_test
