#include "headlight/text/tokenizers/pipeline_tokenizer.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <thread>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/text/tokenizers/pipeline_tokenizer_testing.h"

namespace headlight::pipeline_tokenizer_test {
namespace {

using namespace pipeline_tokenizer_testing;
using Ids = std::vector<std::int32_t>;
using testing::ElementsAre;
using testing::HasSubstr;

class Family : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, Family,
                         testing::Values("bert_uncased", "bert_cased", "gpt2", "roberta", "roberta_prefix", "gpt1",
                                         "added", "t5", "deberta", "first"),
                         [](const auto& which) { return which.param; });

TEST_P(Family, MatchesTheTokenizersLibrary) {
  const PipelineTokenizer tokenizer = Small(GetParam());
  const std::vector<std::string> texts = Goldens()["texts"].Strings();
  const std::vector<JsonView> cases = Goldens()["cases"][GetParam()]["texts"].Items();
  ASSERT_GT(texts.size(), 150u);
  ASSERT_EQ(cases.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ExpectGolden(tokenizer, texts[i], cases[i]);
  }
}

TEST_P(Family, EncodesPairs) {
  const PipelineTokenizer tokenizer = Small(GetParam());
  const std::vector<JsonView> pairs = Goldens()["pairs"].Items();
  const std::vector<JsonView> goldens = Goldens()["cases"][GetParam()]["pairs"].Items();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::vector<std::string> pair = pairs[i].Strings();
    const Encoding encoding = tokenizer.EncodePair(pair[0], pair[1]);
    EXPECT_EQ(encoding.ids, IdsOf(goldens[i]["ids"])) << pair[0];
    EXPECT_EQ(encoding.type_ids, IdsOf(goldens[i]["type_ids"])) << pair[0];
    EXPECT_EQ(CharactersOf(encoding, pair[0], pair[1]), Spans(goldens[i]["spans"])) << pair[0];
    const Ids special = IdsOf(goldens[i]["special"]);
    for (std::size_t token = 0; token < encoding.ids.size(); ++token)
      EXPECT_EQ(encoding.texts[token] < 0, special[token] == 1) << pair[0];
  }
}

TEST_P(Family, IsThreadSafe) {
  const PipelineTokenizer tokenizer = Small(GetParam());
  const std::vector<std::string> texts = Goldens()["texts"].Strings();
  std::vector<Ids> expected;
  for (const JsonView& golden : Goldens()["cases"][GetParam()]["texts"].Items())
    expected.push_back(IdsOf(golden["ids"]));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, copy = tokenizer] {
      for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(copy.Encode(texts[i]).ids, expected[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(PipelineTokenizer, CanOmitOrIgnoreSpecialTokens) {
  const PipelineTokenizer tokenizer = Small("bert_uncased");
  const std::int32_t cls = *tokenizer.Find("[CLS]"), sep = *tokenizer.Find("[SEP]"), mask = *tokenizer.Find("[MASK]");
  EXPECT_THAT(tokenizer.Encode("[MASK]").ids, ElementsAre(cls, mask, sep));
  EXPECT_THAT(tokenizer.Encode("[MASK]", {.add_special = false}).ids, ElementsAre(mask));
  const Encoding plain = tokenizer.Encode("[MASK]", {.read_special = false});
  EXPECT_THAT(plain.ids, testing::Not(testing::Contains(mask)));
  EXPECT_TRUE(tokenizer.IsSpecial(mask));
  EXPECT_EQ(tokenizer.Decode(Ids{cls, mask, sep}), "");
  EXPECT_EQ(tokenizer.Decode(Ids{cls, mask, sep}, false), "[CLS] [MASK] [SEP]");
}

// Checks that scores are rounded as in the library. The two segmentations differ only by this rounding.
TEST(PipelineTokenizer, ReadsScoresLikeTheLibrary) {
  Json file = JsonOf("t5");
  for (const char* part : {"normalizer", "pre_tokenizer", "post_processor"}) file.Set(part, Json());
  file.Set("added_tokens", Json::Array());
  const auto cut = [&](double c, double one, double two) {
    Json::Array vocabulary;
    for (const auto& [piece, score] : {std::pair("<unk>", 0.0), {"c", c}, {"0", one}, {"00", two}})
      vocabulary.emplace_back(Json::Array{piece, score});
    const Json with_pieces = With(With(file, "/model/unk_id", 0), "/model/vocab", vocabulary);
    return PipelineTokenizer::Parse(with_pieces.Line(), "tokenizer.json").Encode("c000").ids;
  };
  EXPECT_THAT(cut(-13.806632197085177, -13.489631061747207, -11.157220670987705), ElementsAre(1, 3, 2));
  EXPECT_THAT(cut(-3.037214313117924, -12.711736998190766, -11.351587446511461), ElementsAre(1, 2, 3));
}

// Checks that vertical tab, form feed and next line are treated as control characters, although they are also white
// space.
TEST(PipelineTokenizer, CleansControlsFirst) {
  const PipelineTokenizer bert = Small("bert_cased");
  const Ids joined = bert.Encode("dogdog").ids;
  for (const char* between : {"\v", "\f", "\u0085"})
    EXPECT_EQ(bert.Encode(fmt::format("dog{}dog", between)).ids, joined) << between;
  EXPECT_NE(bert.Encode("dog\tdog").ids, joined);
}

// Checks that the time for a word of a million characters is not quadratic.
TEST(PipelineTokenizer, SegmentsVeryLongWords) {
  std::string word;
  for (int i = 0; i < 1 << 18; ++i) word += "dogs";
  for (const char* family : {"gpt2", "gpt1", "roberta"}) {
    const PipelineTokenizer tokenizer = Small(family);
    EXPECT_EQ(tokenizer.Decode(tokenizer.Encode(word).ids), word) << family;
  }
  const PipelineTokenizer bert = Small("bert_uncased");
  EXPECT_THAT(bert.Encode(word, {.add_special = false}).ids, ElementsAre(*bert.Find("[UNK]")));
}

// Checks every normalizer, pre-tokenizer and model, separately and combined, and Replace as a decoder.
TEST(PipelineTokenizer, MatchesTheLibraryForEveryComponent) {
  const JsonView goldens = ReadJson(HEADLIGHT_SOURCE_DIR "/tests/testdata/tokenizer_components.json");
  const std::vector<std::string> texts = goldens["texts"].Strings();
  const std::vector<JsonView> pipelines = goldens["pipelines"].Items();
  ASSERT_GE(pipelines.size(), 60u);
  for (const JsonView& pipeline : pipelines) {
    const PipelineTokenizer tokenizer = PipelineTokenizer::Parse(pipeline["file"].value().Line(), pipeline.location());
    const std::vector<JsonView> results = pipeline["results"].Items();
    ASSERT_EQ(results.size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) ExpectGolden(tokenizer, texts[i], results[i]);
  }
}

// Checks vocabularies with gaps, added tokens with overlapping spaces, templates without a text, and character classes.
TEST(PipelineTokenizer, MatchesTheLibraryForRareFiles) {
  const JsonView goldens = ReadJson(HEADLIGHT_SOURCE_DIR "/tests/testdata/tokenizer_components.json");
  const std::vector<JsonView> files = goldens["special"].Items();
  ASSERT_GE(files.size(), 28u);
  for (const JsonView& golden : files) {
    const PipelineTokenizer tokenizer = PipelineTokenizer::Parse(golden["file"].value().Line(), golden.location());
    const std::vector<std::string> texts = golden["texts"].Strings(), decoded = golden["decoded"].Strings();
    const std::vector<JsonView> results = golden["results"].Items(), pairs = golden["pairs"].Items();
    ASSERT_EQ(results.size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) ExpectGolden(tokenizer, texts[i], results[i]);
    ASSERT_EQ(pairs.size(), 2U);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const Encoding pair = i == 0 ? tokenizer.EncodePair("a", "b b") : tokenizer.EncodePair("", "a");
      EXPECT_EQ(pair.ids, IdsOf(pairs[i]["ids"])) << pairs[i].location();
      EXPECT_EQ(pair.type_ids, IdsOf(pairs[i]["type_ids"])) << pairs[i].location();
    }
    for (std::int32_t id = 0; id < std::ssize(decoded); ++id)
      EXPECT_EQ(tokenizer.Decode(std::vector<std::int32_t>{id, 0}, /*skip_special=*/false),
                decoded[static_cast<std::size_t>(id)])
          << golden.location() << id;
  }
}

TEST(PipelineTokenizer, RefusesBadPatterns) {
  const Json json = JsonOf("clip");
  const auto error = [&](const char* place, const Json& value) {
    return ErrorOf([&] {
      PipelineTokenizer::Parse(With(json, std::string("/pre_tokenizer/pretokenizers/0/") + place, value).Line(), "t");
    });
  };
  EXPECT_THAT(error("pattern/Regex", R"(\X)"), HasSubstr("pretokenizers[0].pattern.Regex"));
  EXPECT_THAT(error("pattern/Regex", ""), HasSubstr("it is empty"));
  EXPECT_THAT(error("behavior", "isolated"), HasSubstr("behavior"));
  EXPECT_THAT(error("pattern", Json::Object{{"Text", "x"}}), HasSubstr("pattern"));
  EXPECT_EQ(error("behavior", "Isolated"), "");
}

TEST(PipelineTokenizer, RefusesTextsWithoutTokens) {
  const auto encode = [](const char* model, const char* text) {
    return ErrorOf([&] { PipelineTokenizer::Parse(std::string(R"({"model": )") + model + "}", "t").Encode(text); });
  };
  const char* const unigram = R"({"type": "Unigram", "unk_id": null, "vocab": [["a", -1.0], ["b", -2.0]]})";
  EXPECT_EQ(encode(unigram, "ab"), "");
  EXPECT_THAT(encode(unigram, "azzb"), HasSubstr("no piece for 'zz'"));
  const char* const words = R"({"type": "WordLevel", "unk_token": "<unk>", "vocab": {"a": 0}})";
  EXPECT_EQ(encode(words, "a"), "");
  EXPECT_THAT(encode(words, "b"), HasSubstr("token for the word 'b'"));
}

// Checks a vocabulary in which the last piece of each word ends in </w>.
TEST(PipelineTokenizer, SplitsAfterAText) {
  const PipelineTokenizer tokenizer =
      PipelineTokenizer::Parse(With(JsonOf("clip"), "/pre_tokenizer/pretokenizers/0",
                                    Json::Object{{"type", "Split"},
                                                 {"pattern", Json::Object{{"String", "e"}}},
                                                 {"behavior", "MergedWithPrevious"},
                                                 {"invert", false}})
                                   .Line(),
                               "t");
  const auto ids = [&](const std::string& text) {
    const std::vector<std::int32_t> all = tokenizer.Encode(text).ids;  // the first and the last token are special
    return std::vector<std::int32_t>(all.begin() + 1, all.end() - 1);
  };
  std::vector<std::int32_t> expected;
  for (const char* word : {"de", "e", "the", "x"})
    for (const std::int32_t id : ids(word)) expected.push_back(id);
  EXPECT_EQ(ids("deethex"), expected);
}

TEST(PipelineTokenizer, RefusesBadSentencePieceFolders) {
  const TemporaryFolder temporary;
  const auto error = [&](const char* file, const std::string& model, const Json& config, const Json& added = Json()) {
    const std::string folder = temporary.File("folder");
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    WriteFile(folder + "/" + file, model);
    WriteFile(folder + "/tokenizer_config.json", config.Text());
    if (!added.is_null()) WriteFile(folder + "/added_tokens.json", added.Text());
    return ErrorOf([&] { PipelineTokenizer::Load(folder); });
  };
  const std::string t5 = ReadFile(TestData("spm_t5.model")), fairseq = ReadFile(TestData("spm_fairseq.model"));
  const Json is_t5 = R"({"tokenizer_class": "T5Tokenizer"})"_json,
             is_mbart = R"({"tokenizer_class": "MBartTokenizer"})"_json;
  const auto with = [](Json config, const char* key, const Json& value) {
    config.Set(key, value);
    return config;
  };
  EXPECT_EQ(error("spiece.model", t5, is_t5), "");
  EXPECT_EQ(error("spiece.model", t5, is_t5, R"({"dogs": 200})"_json), "");
  EXPECT_EQ(PipelineTokenizer::Load(temporary.File("folder")).Find("dogs"), 190);
  EXPECT_THAT(error("spiece.model", t5, Json::Object{}), HasSubstr("spiece.model: neither tokenizer_config.json"));
  EXPECT_THAT(error("spiece.model", t5, R"({"tokenizer_class": "AlbertTokenizer"})"_json),
              HasSubstr("which family this vocabulary"));
  EXPECT_THAT(error("spiece.model", "x", is_t5), HasSubstr("spiece.model: byte"));
  EXPECT_THAT(error("spiece.model", t5, with(is_t5, "extra_ids", -1)), HasSubstr("key 'extra_ids'"));
  EXPECT_THAT(error("spiece.model", t5, with(is_t5, "extra_ids", 1 << 30)), HasSubstr("got 1073741824"));
  EXPECT_THAT(error("spiece.model", t5, with(is_t5, "eos_token", 5)), HasSubstr("tokenizer_config.json"));
  EXPECT_THAT(error("spiece.model", t5, with(is_t5, "added_tokens_decoder", R"({"-7": {"content": "x"}})"_json)),
              HasSubstr("'-7' is not an id"));
  EXPECT_THAT(error("spiece.model", t5, with(is_t5, "added_tokens_decoder", R"({"7": {"content": "x"}})"_json)),
              HasSubstr("its id 7 is"));
  EXPECT_THAT(error("spiece.model", t5, is_t5, R"({"x": 1073741824})"_json), HasSubstr("got 1073741824"));
  EXPECT_THAT(error("spiece.model", t5, is_t5, R"({"x": 4})"_json), HasSubstr("its id 4 is"));
  EXPECT_THAT(error("sentencepiece.bpe.model", t5, is_mbart), HasSubstr("the first of at least"));
  EXPECT_THAT(error("sentencepiece.bpe.model", fairseq, with(is_mbart, "src_lang", "tlh")),
              HasSubstr("'tlh' is not in"));
  EXPECT_THAT(error("sentencepiece.bpe.model", fairseq, with(is_mbart, "pad_token", "</s>")),
              HasSubstr("'</s>' occurs twice"));
}

std::string RefusalOf(const Json& file) {
  return ErrorOf([&] { PipelineTokenizer::Parse(file.Line(), "tokenizer.json"); });
}

// Checks that each error names the unknown key or type, at every level of the file.
TEST(PipelineTokenizer, RefusesUnknownKeysAndTypes) {
  const auto changed = [](const char* family, const char* pointer, const Json& value) {
    return RefusalOf(With(JsonOf(family), pointer, value));
  };
  EXPECT_EQ(changed("gpt2", "/truncation", R"({"max_length": 5})"_json), "");
  EXPECT_THAT(changed("gpt2", "/chat", 1), HasSubstr("unknown key: 'chat'"));
  EXPECT_THAT(changed("bert_cased", "/normalizer/fold", true), HasSubstr("key 'normalizer': unknown key: 'fold'"));
  EXPECT_EQ(
      changed("bert_cased", "/normalizer/type", "ByteLevel"),
      "tokenizer.json: key 'normalizer': type 'ByteLevel' is not supported; BertNormalizer, Lowercase, NFC, NFD, NFKC, "
      "NFKD, Nmt, Precompiled, Prepend, Replace, Sequence, Strip and StripAccents are");
  EXPECT_THAT(changed("gpt2", "/pre_tokenizer/type", "UnicodeScripts"),
              HasSubstr("type 'UnicodeScripts' is not supported"));
  EXPECT_THAT(changed("gpt2", "/model/type", "Characters"),
              HasSubstr("type 'Characters' is not supported; BPE, Unigram, WordLevel and"));
  EXPECT_THAT(changed("gpt2", "/model/dropout", 0.1), HasSubstr("dropout is not supported"));
  EXPECT_THAT(changed("gpt2", "/model/byte_fallback", true), HasSubstr("byte_fallback with ByteLevel"));
  EXPECT_THAT(changed("gpt2", "/model/merges/0", "a b c"), HasSubstr("merge 0 is not"));
  EXPECT_THAT(changed("gpt2", "/model/merges/0", Json::Array{"a", "\u00e4\u00f6"}), HasSubstr("not in the vocabulary"));
  EXPECT_THAT(changed("gpt2", "/decoder/type", "CTC"), HasSubstr("type 'CTC' is not supported"));
  EXPECT_THAT(changed("roberta", "/post_processor/sep", Json::Array{"</s>", 99999}),
              HasSubstr("key 'post_processor.sep[1]'"));
  EXPECT_THAT(changed("bert_cased", "/post_processor/single/0/SpecialToken/id", "[X]"),
              HasSubstr("'[X]' is not among"));
  EXPECT_THAT(changed("bert_cased", "/post_processor/single/1/Sequence/id", "B"), HasSubstr("no second text"));
  EXPECT_THAT(changed("roberta", "/added_tokens/0/id", 7), HasSubstr("its id is 7"));
  EXPECT_THAT(changed("roberta", "/added_tokens/0/id", 1 << 30), HasSubstr("from 0 to 4194303, got"));
  EXPECT_THAT(changed("roberta", "/added_tokens/0/content", ""), HasSubstr("its content is empty"));
  EXPECT_THAT(changed("roberta", "/added_tokens/0/lstrip", 3), HasSubstr("key 'added_tokens[0].lstrip'"));
  EXPECT_THAT(changed("t5", "/model/unk_id", 5000), HasSubstr("key 'model.unk_id'"));
  EXPECT_THAT(changed("t5", "/model/vocab/5", "a"), HasSubstr("item 5: it must be"));
  EXPECT_THAT(changed("t5", "/model/vocab/5", Json::Array{"</s>", 0}), HasSubstr("'</s>' occurs twice"));
  EXPECT_THAT(changed("t5", "/normalizer/precompiled_charsmap", "AAAA"), HasSubstr("charsmap is broken"));
  EXPECT_THAT(changed("t5", "/pre_tokenizer/pretokenizers/1/prepend_scheme", "last"),
              HasSubstr("'always', 'first', 'never', got 'last'"));
  EXPECT_THAT(changed("t5", "/pre_tokenizer/pretokenizers/1/replacement", "ab"), HasSubstr("must be one character"));
  EXPECT_THAT(changed("deberta", "/normalizer/normalizers/0/pattern/Regex", "a("),
              HasSubstr("regular expression 'a('"));
  EXPECT_THAT(changed("deberta", "/pre_tokenizer/pretokenizers/0/behavior", "Kept"), HasSubstr("got 'Kept'"));
  EXPECT_THAT(changed("bert_cased", "/model/unk_token", "[x]"), HasSubstr("'[x]' is not in"));
  EXPECT_THAT(changed("bert_cased", "/model/vocab", Json::Object{}), HasSubstr("the vocabulary is empty"));
  EXPECT_THAT(changed("bert_cased", "/model", Json()), HasSubstr("key 'model': expected an object"));
}

TEST(PipelineTokenizer, LabelsByteLevelTokensWithTheirCharacters) {
  const auto labels = [](const PipelineTokenizer& tokenizer, std::string_view text) {
    return tokenizer.Labels(tokenizer.Encode(text).ids);
  };
  EXPECT_THAT(labels(Small("gpt2"), "a \u00e9\n"), ElementsAre("a", "▁", "é(1/2)", "é(2/2)", "\n"));
  EXPECT_THAT(labels(Small("byte_fallback"), "a🙂"),
              ElementsAre("</s>", "▁a", "🙂(1/4)", "🙂(2/4)", "🙂(3/4)", "🙂(4/4)"));
  EXPECT_THAT(labels(Small("bert_cased"), "a"), ElementsAre("[CLS]", "a", "[SEP]"));
}

TEST(PipelineTokenizer, RefusesBadCalls) {
  const PipelineTokenizer tokenizer = Small("gpt2");
  EXPECT_THROW(tokenizer.Encode("a\xff"), Error);
  EXPECT_THROW(tokenizer.Decode(Ids{-1}), Error);
  EXPECT_EQ(tokenizer.Piece(tokenizer.size()), "");
  EXPECT_EQ(tokenizer.Find("no such piece"), std::nullopt);
  EXPECT_THROW(PipelineTokenizer::Load("/nowhere"), Error);
  // Each token represents one byte of the two-byte character.
  const Encoding encoding = tokenizer.Encode("\u00e9");
  ASSERT_EQ(encoding.ids.size(), 2u);
  EXPECT_EQ(tokenizer.Decode(Ids{encoding.ids[0]}), "\uFFFD");
}

}  // namespace
}  // namespace headlight::pipeline_tokenizer_test
