#include "headlight/text/tokenizers/pipeline_tokenizer.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/test_support.h"

namespace headlight {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<std::int32_t>;
using testing::ElementsAre;
using testing::HasSubstr;

std::string TestData(const std::string& name) {
  return HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/" + name;
}
std::string FileOf(const std::string& family) { return ReadFile(TestData("family_" + family + ".json")); }
PipelineTokenizer Small(const std::string& family) { return PipelineTokenizer::Parse(FileOf(family), family); }
const Json& Goldens() {
  static const Json goldens = Json::parse(ReadFile(HEADLIGHT_SOURCE_DIR "/tests/testdata/tokenizers.json"));
  return goldens;
}

std::vector<TextSpan> Spans(const Json& given) {
  std::vector<TextSpan> spans;
  for (std::size_t i = 0; i + 1 < given.size(); i += 2) spans.push_back({given[i], given[i + 1]});
  return spans;
}

// In characters, as the goldens have them; those of added tokens are empty.
std::vector<TextSpan> CharactersOf(const Encoding& encoding, const std::string& first, const std::string& second = "") {
  std::vector<TextSpan> spans;
  for (std::size_t i = 0; i < encoding.ids.size(); ++i)
    spans.push_back(CharacterSpans(encoding.texts[i] == 1 ? second : first, {&encoding.spans[i], 1})[0]);
  return spans;
}

class Family : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, Family,
                         testing::Values("bert_uncased", "bert_cased", "gpt2", "roberta", "roberta_prefix", "gpt1",
                                         "added", "t5", "deberta", "first"),
                         [](const auto& which) { return which.param; });

TEST_P(Family, GivesTheTokenizersLibrarysTokens) {
  const PipelineTokenizer tokenizer = Small(GetParam());
  const Json& texts = Goldens()["texts"];
  const Json& cases = Goldens()["cases"][GetParam()]["texts"];
  ASSERT_GT(texts.size(), 150u);
  ASSERT_EQ(cases.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string text = texts[i];
    const Encoding encoding = tokenizer.Encode(text);
    EXPECT_EQ(encoding.ids, cases[i]["ids"].get<Ids>()) << texts[i];
    EXPECT_EQ(CharactersOf(encoding, text), Spans(cases[i]["spans"])) << texts[i];
    EXPECT_EQ(tokenizer.Decode(encoding.ids), cases[i]["decoded"].get<std::string>()) << texts[i];
  }
}

TEST_P(Family, PutsTwoTextsTogether) {
  const PipelineTokenizer tokenizer = Small(GetParam());
  const Json& pairs = Goldens()["pairs"];
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::string first = pairs[i][0], second = pairs[i][1];
    const Json& golden = Goldens()["cases"][GetParam()]["pairs"][i];
    const Encoding encoding = tokenizer.EncodePair(first, second);
    EXPECT_EQ(encoding.ids, golden["ids"].get<Ids>()) << pairs[i];
    EXPECT_EQ(encoding.type_ids, golden["type_ids"].get<Ids>()) << pairs[i];
    EXPECT_EQ(CharactersOf(encoding, first, second), Spans(golden["spans"])) << pairs[i];
    for (std::size_t token = 0; token < encoding.ids.size(); ++token)
      EXPECT_EQ(encoding.texts[token] < 0, golden["special"][token] == 1) << pairs[i];
  }
}

TEST_P(Family, MayBeUsedFromManyThreads) {
  const PipelineTokenizer tokenizer = Small(GetParam());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, copy = tokenizer] {
      const Json& texts = Goldens()["texts"];
      for (std::size_t i = 0; i < texts.size(); ++i) {
        const Ids expected = Goldens()["cases"][GetParam()]["texts"][i]["ids"];
        EXPECT_EQ(copy.Encode(texts[i].get<std::string>()).ids, expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(PipelineTokenizer, LeavesSpecialTokensOutOrUnread) {
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

// Both ways to cut have the same score, but for how the library rounds what it reads.
TEST(PipelineTokenizer, ReadsScoresAsTheLibraryDoes) {
  Json file = Json::parse(FileOf("t5"));
  file["normalizer"] = file["pre_tokenizer"] = file["post_processor"] = Json();
  file["added_tokens"] = Json::array();
  const auto cut = [&](double c, double one, double two) {
    file["model"]["unk_id"] = 0;
    file["model"]["vocab"] = Json::array();
    for (const auto& [piece, score] : {std::pair("<unk>", 0.0), {"c", c}, {"0", one}, {"00", two}})
      file["model"]["vocab"].push_back(Json::array({piece, score}));
    return PipelineTokenizer::Parse(file.dump(), "tokenizer.json").Encode("c000").ids;
  };
  EXPECT_THAT(cut(-13.806632197085177, -13.489631061747207, -11.157220670987705), ElementsAre(1, 3, 2));
  EXPECT_THAT(cut(-3.037214313117924, -12.711736998190766, -11.351587446511461), ElementsAre(1, 2, 3));
}

// Vertical tab, form feed and next line are white space and controls: to BERT controls.
TEST(PipelineTokenizer, CleansControlsFirst) {
  const PipelineTokenizer bert = Small("bert_cased");
  const Ids joined = bert.Encode("dogdog").ids;
  for (const char* between : {"\v", "\f", "\u0085"})
    EXPECT_EQ(bert.Encode(fmt::format("dog{}dog", between)).ids, joined) << between;
  EXPECT_NE(bert.Encode("dog\tdog").ids, joined);
}

// A word of a million characters must not take time that grows with its square.
TEST(PipelineTokenizer, CutsVeryLongWords) {
  std::string word;
  for (int i = 0; i < 1 << 18; ++i) word += "dogs";
  for (const char* family : {"gpt2", "gpt1", "roberta"}) {
    const PipelineTokenizer tokenizer = Small(family);
    EXPECT_EQ(tokenizer.Decode(tokenizer.Encode(word).ids), word) << family;
  }
  const PipelineTokenizer bert = Small("bert_uncased");
  EXPECT_THAT(bert.Encode(word, {.add_special = false}).ids, ElementsAre(*bert.Find("[UNK]")));
}

// The older files say the same as the goldens' tokenizer.json.
TEST(PipelineTokenizer, ReadsOlderFiles) {
  TemporaryFolder temporary;
  const auto folder_of = [&](const std::string& family) {
    std::filesystem::create_directories(temporary.File(family));
    return temporary.File(family);
  };
  const auto expect_goldens = [](const std::string& folder, const char* family) {
    const PipelineTokenizer tokenizer = PipelineTokenizer::Load(folder);
    const Json& texts = Goldens()["texts"];
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::string text = texts[i];
      const Json& golden = Goldens()["cases"][family]["texts"][i];
      const Encoding encoding = tokenizer.Encode(text);
      EXPECT_EQ(encoding.ids, golden["ids"].get<Ids>()) << family << texts[i];
      EXPECT_EQ(CharactersOf(encoding, text), Spans(golden["spans"])) << family << texts[i];
      EXPECT_EQ(tokenizer.Decode(encoding.ids), golden["decoded"].get<std::string>()) << family << texts[i];
    }
  };
  std::string folder = folder_of("bert");
  const Json vocabulary = Json::parse(FileOf("bert_uncased"))["model"]["vocab"];
  std::vector<std::string> pieces(vocabulary.size());
  for (const auto& [piece, id] : vocabulary.items()) pieces[id.get<std::size_t>()] = piece;
  WriteFile(folder + "/vocab.txt", fmt::format("{}\n", fmt::join(pieces, "\n")));
  expect_goldens(folder, "bert_uncased");

  const struct {
    const char *family, *config;
  } merged[] = {{"gpt1", R"({"tokenizer_class": "OpenAIGPTTokenizer"})"},
                {"gpt2", R"({"tokenizer_class": "GPT2Tokenizer"})"},
                {"roberta", R"({"tokenizer_class": "RobertaTokenizer"})"},
                {"roberta_prefix", R"({"tokenizer_class": "BartTokenizer", "add_prefix_space": true})"}};
  for (const auto& [family, config] : merged) {
    folder = folder_of(family);
    Json file = Json::parse(FileOf(family));
    for (const Json& added : file["added_tokens"]) file["model"]["vocab"][added["content"]] = added["id"];
    std::string merges = "#version: 0.2\n";
    for (const Json& merge : file["model"]["merges"])
      merges += merge[0].get<std::string>() + " " + merge[1].get<std::string>() + "\n";
    WriteFile(folder + "/vocab.json", file["model"]["vocab"].dump());
    WriteFile(folder + "/merges.txt", merges);
    EXPECT_THROW(PipelineTokenizer::Load(folder), Error);  // whose are they?
    WriteFile(folder + "/tokenizer_config.json", config);
    expect_goldens(folder, family);
  }
  // DeBERTa's are GPT-2's, with BERT's special tokens around.
  Json special = Json::parse(FileOf("gpt2"))["model"]["vocab"];
  for (const char* token : {"[CLS]", "[SEP]", "[MASK]"}) special[token] = special.size();
  folder = folder_of("deberta");
  WriteFile(folder + "/vocab.json", special.dump());
  WriteFile(folder + "/merges.txt", "#version: 0.2\n");
  WriteFile(folder + "/config.json", R"({"model_type": "deberta"})");
  const PipelineTokenizer deberta = PipelineTokenizer::Load(folder);
  const auto id = [&](const char* piece) { return *deberta.Find(piece); };
  const Encoding pair = deberta.EncodePair("a [MASK]", "b");
  EXPECT_THAT(pair.ids, ElementsAre(id("[CLS]"), id("a"), id("[MASK]"), id("[SEP]"), id("b"), id("[SEP]")));
  EXPECT_THAT(pair.type_ids, ElementsAre(0, 0, 0, 0, 1, 1));
  folder = temporary.File(merged[3].family);
  WriteFile(folder + "/merges.txt", merged[0].family);
  EXPECT_THROW(PipelineTokenizer::Load(folder), Error);
}

// A folder as it is published, with the files that a golden names.
void WriteFolder(const std::string& folder, const Json& golden) {
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(TestData(golden["model"]), folder + "/" + golden["file"].get<std::string>());
  for (const auto& [name, content] : golden["more"].items()) WriteFile(folder + "/" + name, content.dump());
}

// SentencePiece models without a tokenizer.json, and pieces for bytes.
TEST(PipelineTokenizer, ReadsSentencePieceFolders) {
  const Json goldens = Json::parse(ReadFile(HEADLIGHT_SOURCE_DIR "/tests/testdata/sentencepiece_folders.json"));
  std::vector<std::string> texts = goldens["more"];
  const auto places = goldens["places"].get<std::vector<std::size_t>>();
  for (std::size_t i = 0; i < places.size(); ++i)
    texts.insert(texts.begin() + static_cast<std::ptrdiff_t>(i), Goldens()["texts"][places[i]].get<std::string>());
  const TemporaryFolder temporary;
  for (const auto& [name, golden] : goldens["folders"].items()) {
    WriteFolder(temporary.File(name), golden);
    const PipelineTokenizer tokenizer = PipelineTokenizer::Load(temporary.File(name));
    ASSERT_EQ(golden["texts"].size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const Encoding encoding = tokenizer.Encode(texts[i]);
      EXPECT_EQ(encoding.ids, golden["texts"][i]["ids"].get<Ids>()) << name << Json(texts[i]);
      EXPECT_EQ(CharactersOf(encoding, texts[i]), Spans(golden["texts"][i]["spans"])) << name << Json(texts[i]);
      EXPECT_EQ(tokenizer.Decode(encoding.ids), golden["texts"][i]["decoded"].get<std::string>())
          << name << Json(texts[i]);
    }
    for (std::size_t i = 0; i < golden["pairs"].size(); ++i) {
      const Json& pair = Goldens()["pairs"][i];
      const Encoding encoding = tokenizer.EncodePair(pair[0].get<std::string>(), pair[1].get<std::string>());
      EXPECT_EQ(encoding.ids, golden["pairs"][i]["ids"].get<Ids>()) << name << pair;
      EXPECT_EQ(encoding.type_ids, golden["pairs"][i]["type_ids"].get<Ids>()) << name << pair;
    }
  }
}

TEST(PipelineTokenizer, RefusesBadSentencePieceFolders) {
  const TemporaryFolder temporary;
  const auto error = [&](const char* file, const std::string& model, const Json& config, const Json& added = Json()) {
    const std::string folder = temporary.File("folder");
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    WriteFile(folder + "/" + file, model);
    WriteFile(folder + "/tokenizer_config.json", config.dump());
    if (!added.is_null()) WriteFile(folder + "/added_tokens.json", added.dump());
    return ErrorOf([&] { PipelineTokenizer::Load(folder); });
  };
  const std::string t5 = ReadFile(TestData("spm_t5.model")), fairseq = ReadFile(TestData("spm_fairseq.model"));
  const Json is_t5 = {{"tokenizer_class", "T5Tokenizer"}}, is_mbart = {{"tokenizer_class", "MBartTokenizer"}};
  const auto with = [](Json config, const char* key, const Json& value) {
    config[key] = value;
    return config;
  };
  EXPECT_EQ(error("spiece.model", t5, is_t5), "");
  EXPECT_EQ(error("spiece.model", t5, is_t5, {{"dogs", 200}}), "");
  EXPECT_EQ(PipelineTokenizer::Load(temporary.File("folder")).Find("dogs"), 200);
  EXPECT_THAT(error("spiece.model", t5, Json::object()),
              HasSubstr("spiece.model: neither tokenizer_config.json (tokenizer_class) nor"));
  EXPECT_THAT(error("spiece.model", t5, {{"tokenizer_class", "AlbertTokenizer"}}),
              HasSubstr("which family this vocabulary is of"));
  EXPECT_THAT(error("spiece.model", "x", is_t5), HasSubstr("spiece.model: byte"));
  EXPECT_THAT(error("spiece.model", t5, with(is_t5, "extra_ids", -1)),
              HasSubstr("key 'extra_ids': expected an integer from 0 to 65536, got -1"));
  EXPECT_THAT(error("spiece.model", t5, with(is_t5, "extra_ids", 1 << 30)),
              HasSubstr("from 0 to 65536, got 1073741824"));
  EXPECT_THAT(error("spiece.model", t5, with(is_t5, "eos_token", 5)), HasSubstr("tokenizer_config.json"));
  EXPECT_THAT(error("spiece.model", t5, with(is_t5, "added_tokens_decoder", {{"-7", {{"content", "x"}}}})),
              HasSubstr("key 'added_tokens_decoder': '-7' is no id"));
  EXPECT_THAT(error("spiece.model", t5, with(is_t5, "added_tokens_decoder", {{"7", {{"content", "x"}}}})),
              HasSubstr("its id 7 is that of"));
  EXPECT_THAT(error("spiece.model", t5, is_t5, {{"x", 1 << 30}}),
              HasSubstr("key 'x': expected an integer from 0 to 4194303, got 1073741824"));
  EXPECT_THAT(error("spiece.model", t5, is_t5, {{"x", 4}}), HasSubstr("its id 4 is that of"));
  EXPECT_THAT(error("sentencepiece.bpe.model", t5, is_mbart), HasSubstr("the first of at least four pieces must be"));
  EXPECT_THAT(error("sentencepiece.bpe.model", fairseq, with(is_mbart, "src_lang", "tlh")),
              HasSubstr("the vocabulary lacks 'tlh'"));
  EXPECT_THAT(error("sentencepiece.bpe.model", fairseq, with(is_mbart, "pad_token", "</s>")),
              HasSubstr("'</s>' is there twice"));
}

std::string RefusalOf(const Json& file) {
  return ErrorOf([&] { PipelineTokenizer::Parse(file.dump(), "tokenizer.json"); });
}

// What a file says that is not known here is refused by name, at every level.
TEST(PipelineTokenizer, RefusesWhatItDoesNotKnow) {
  const auto changed = [](const char* family, const char* pointer, const Json& value) {
    Json file = Json::parse(FileOf(family));
    file[Json::json_pointer(pointer)] = value;
    return RefusalOf(file);
  };
  EXPECT_EQ(changed("gpt2", "/truncation", {{"max_length", 5}}), "");
  EXPECT_EQ(changed("gpt2", "/chat", 1),
            "tokenizer.json: unknown key: 'chat'; what this asks for would be missing from the result");
  EXPECT_THAT(changed("bert_cased", "/normalizer/fold", true), HasSubstr("key 'normalizer': unknown key: 'fold'"));
  EXPECT_EQ(
      changed("bert_cased", "/normalizer/type", "Nmt"),
      "tokenizer.json: key 'normalizer': type 'Nmt' is not supported; BertNormalizer, Lowercase, NFC, NFD, NFKC, NFKD, "
      "Precompiled, Prepend, Replace, Sequence, Strip and StripAccents are");
  EXPECT_THAT(changed("gpt2", "/pre_tokenizer/type", "Split"), HasSubstr("type 'Split' is not supported"));
  EXPECT_THAT(changed("gpt2", "/model/type", "WordLevel"),
              HasSubstr("type 'WordLevel' is not supported; BPE, Unigram and"));
  EXPECT_THAT(changed("gpt2", "/model/dropout", 0.1), HasSubstr("dropout is not supported"));
  EXPECT_THAT(changed("gpt2", "/model/byte_fallback", true), HasSubstr("byte_fallback with ByteLevel, a prefix or"));
  EXPECT_THAT(changed("gpt2", "/model/merges/0", "a b c"), HasSubstr("merge 0 is not two pieces"));
  EXPECT_THAT(changed("gpt2", "/model/merges/0", {"a", "\u00e4\u00f6"}), HasSubstr("which the vocabulary lacks"));
  EXPECT_THAT(changed("gpt2", "/decoder/type", "CTC"), HasSubstr("key 'decoder': type 'CTC' is not supported"));
  EXPECT_THAT(changed("roberta", "/post_processor/sep", {"</s>", 99999}),
              HasSubstr("key 'post_processor.sep[1]': expected an integer from 0 to"));
  EXPECT_THAT(changed("bert_cased", "/post_processor/single/0/SpecialToken/id", "[X]"),
              HasSubstr("single[0].SpecialToken': '[X]' is not among the special_tokens"));
  EXPECT_THAT(changed("bert_cased", "/post_processor/single/1/Sequence/id", "B"), HasSubstr("no second text"));
  EXPECT_THAT(changed("roberta", "/added_tokens/0/id", 7),
              HasSubstr("key 'added_tokens[0]': its id is 7, but \"<s>\" has"));
  EXPECT_THAT(changed("roberta", "/added_tokens/0/id", 1 << 30), HasSubstr("from 0 to 4194303, got"));
  EXPECT_THAT(changed("roberta", "/added_tokens/0/content", ""), HasSubstr("its content is empty"));
  EXPECT_THAT(changed("roberta", "/added_tokens/0/lstrip", 3),
              HasSubstr("key 'added_tokens[0].lstrip': expected true or false, got 3"));
  EXPECT_THAT(changed("t5", "/model/unk_id", 5000), HasSubstr("key 'model.unk_id': expected an integer from 0 to"));
  EXPECT_THAT(changed("t5", "/model/vocab/5", "a"),
              HasSubstr("key 'model.vocab': item 5: it must be a piece and its score"));
  EXPECT_THAT(changed("t5", "/model/vocab/5", {"</s>", 0}), HasSubstr("item 5: '</s>' is there twice"));
  EXPECT_THAT(changed("t5", "/normalizer/precompiled_charsmap", "AAAA"), HasSubstr("charsmap is broken"));
  EXPECT_THAT(changed("t5", "/pre_tokenizer/pretokenizers/1/prepend_scheme", "last"),
              HasSubstr("'always', 'first', 'never', got 'last'"));
  EXPECT_THAT(changed("t5", "/pre_tokenizer/pretokenizers/1/replacement", "ab"), HasSubstr("must be one character"));
  EXPECT_THAT(changed("deberta", "/normalizer/normalizers/0/pattern/Regex", "a+"),
              HasSubstr("pattern': the regular expression 'a+' is not supported"));
  EXPECT_THAT(changed("deberta", "/pre_tokenizer/pretokenizers/0/behavior", "Removed"),
              HasSubstr("expected 'Isolated', got 'Removed'"));
  EXPECT_THAT(changed("bert_cased", "/model/unk_token", "[x]"),
              HasSubstr("model.unk_token': the vocabulary lacks '[x]'"));
  EXPECT_THAT(changed("bert_cased", "/model/vocab", Json::object()), HasSubstr("key 'model': the vocabulary is empty"));
  EXPECT_THAT(changed("bert_cased", "/model", Json()), HasSubstr("key 'model': expected an object, but there is none"));
}

TEST(PipelineTokenizer, RefusesBadCalls) {
  const PipelineTokenizer tokenizer = Small("gpt2");
  EXPECT_THROW(tokenizer.Encode("a\xff"), Error);
  EXPECT_THROW(tokenizer.Decode(Ids{-1}), Error);
  EXPECT_EQ(tokenizer.Piece(tokenizer.size()), "");
  EXPECT_EQ(tokenizer.Find("no such piece"), std::nullopt);
  EXPECT_THROW(PipelineTokenizer::Load("/nowhere"), Error);
  // Half a character.
  const Encoding encoding = tokenizer.Encode("\u00e9");
  ASSERT_EQ(encoding.ids.size(), 2u);
  EXPECT_EQ(tokenizer.Decode(Ids{encoding.ids[0]}), "\uFFFD");
}

}  // namespace
}  // namespace headlight
