#include "headlight/text/tokenizers/gguf_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/gguf_end_tokens.h"
#include "headlight/text/tokenizers/base64.h"
#include "headlight/text/tokenizers/gguf_words.h"
#include "headlight/text/tokenizers/sentencepiece_model.h"
#include "headlight/text/tokenizers/tokenizer_json.h"
#include "headlight/text/utf8.h"

namespace headlight {
namespace {

using Type = SentencePiece::Type;

constexpr const char *kTokens = "tokenizer.ggml.tokens", *kTypes = "tokenizer.ggml.token_type",
                     *kScores = "tokenizer.ggml.scores", *kMerges = "tokenizer.ggml.merges",
                     *kModel = "tokenizer.ggml.model";

constexpr std::size_t kLongestScoredPiece = 512;  // as in SentencePiece
constexpr std::int64_t kUnused = 5;               // type of unused pieces

// Returns the vocabulary by id. Unused pieces (type 5) become normal pieces.
std::vector<SentencePiece> PiecesOf(const Gguf& file, bool scored) {
  const std::vector<std::string_view> texts = file.Array(kTokens).Strings();
  std::vector<std::int64_t> types(texts.size(), 1);
  std::vector<float> scores(texts.size(), 0);
  if (file.contains(kTypes)) types = file.Array(kTypes).Integers();
  if (scored) scores = file.Array(kScores).Floats();
  Check(types.size() == texts.size() && scores.size() == texts.size(),
        "{}: {} tokens, {} types and {} scores do not fit together", file.path(), texts.size(), types.size(),
        scores.size());
  std::vector<SentencePiece> pieces;
  pieces.reserve(texts.size());
  for (std::size_t id = 0; id < texts.size(); ++id) {
    Check(types[id] >= 0 && types[id] <= 6, "{}: token {} has the unknown type {}", file.Place(kTypes), id, types[id]);
    Check(std::isfinite(scores[id]), "{}: token {} has the score {}, which is not finite", file.Place(kScores), id,
          scores[id]);
    CheckUtf8(texts[id], fmt::format("{}: token {}", file.Place(kTokens), id));
    // Limits the length, since all ways to divide a piece are tried to find its merges.
    Check(!scored || texts[id].size() <= kLongestScoredPiece, "{}: token {} has {} bytes; at most {} are allowed",
          file.Place(kTokens), id, texts[id].size(), kLongestScoredPiece);
    const bool normal = types[id] == 0 || types[id] == 5;
    pieces.push_back({std::string(texts[id]), scores[id], normal ? Type::normal : static_cast<Type>(types[id])});
  }
  return pieces;
}

Json AddedTokensJson(const std::vector<SentencePiece>& pieces) {
  const Json usual =
      R"({"id": 0, "content": "", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
          "special": true})"_json;
  Json::Array added;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const Type type = pieces[id].type;
    if (type != Type::control && type != Type::user_defined && type != Type::unknown) continue;
    Json token = usual;
    token.Set("id", id);
    token.Set("content", pieces[id].text);
    token.Set("special", type != Type::user_defined);
    added.push_back(std::move(token));
  }
  return added;
}

Json VocabularyOf(const std::vector<SentencePiece>& pieces) {
  Json::Object numbered;
  numbered.reserve(pieces.size());
  for (const SentencePiece& piece : pieces) numbered.push_back({piece.text, numbered.size()});
  return numbered;
}

bool FlagOr(const Gguf& file, const char* key, bool fallback) { return file.contains(key) ? file.Flag(key) : fallback; }

Json MergesOf(const Gguf& file) {
  Json::Array merges;
  for (const std::string_view merge : file.Array(kMerges).Strings()) {
    CheckUtf8(merge, file.Place(kMerges));
    const std::size_t space = merge.find(' ', 1);
    Check(space != std::string_view::npos && space + 1 < merge.size(), "{}: {} is not two pieces with a space between",
          file.Place(kMerges), Quoted(merge));
    merges.emplace_back(std::vector{merge.substr(0, space), merge.substr(space + 1)});
  }
  return merges;
}

// Sets the model with the vocabulary and the merges. Both are moved, since an initializer list would copy millions of
// values.
void SetModelOf(Json model, Json vocabulary, Json merges, Json& json) {
  model.Set("vocab", std::move(vocabulary));
  if (!merges.is_null()) model.Set("merges", std::move(merges));
  json.Set("model", std::move(model));
}

// Sets the components of a character-based BPE tokenizer in which spaces are symbols. Characters without a piece become
// bytes.
void SetCharacterParts(const std::vector<SentencePiece>& pieces, Json merges, bool prefix, Json& json) {
  const auto unknown = std::ranges::find(pieces, Type::unknown, &SentencePiece::type);
  SetModelOf(Json::Object{{"type", "BPE"},
                          {"unk_token", unknown == pieces.end() ? Json() : Json(unknown->text)},
                          {"fuse_unk", true},
                          {"byte_fallback", true}},
             VocabularyOf(pieces), std::move(merges), json);
  const Json spaces = ReplaceJson("String", " ", kSpaceSymbol);
  json.Set("normalizer",
           SequenceJson("normalizers", {prefix ? R"({"type": "Prepend", "prepend": "\u2581"})"_json : Json(), spaces}));
  json.Set(
      "decoder",
      SequenceJson("decoders", {ReplaceJson("String", kSpaceSymbol, " "), R"({"type": "ByteFallback"})"_json,
                                R"({"type": "Fuse"})"_json,
                                prefix ? R"({"type": "Strip", "content": " ", "start": 1, "stop": 0})"_json : Json()}));
}

void SetGpt2Parts(const Gguf& file, const std::vector<SentencePiece>& pieces, const GgufWords& words, Json& json) {
  std::vector<Json> splits;
  for (const char* pattern : words.patterns)
    splits.emplace_back(Json::Object{
        {"type", "Split"}, {"pattern", Json::Object{{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}});
  const Json bytes =
      R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false})"_json;
  splits.push_back(bytes);
  if (words.composed) json.Set("normalizer", R"({"type": "NFC"})"_json);
  SetModelOf(Json::Object{{"type", "BPE"}, {"ignore_merges", words.whole_pieces}}, VocabularyOf(pieces), MergesOf(file),
             json);
  json.Set("pre_tokenizer", SequenceJson("pretokenizers", std::move(splits)));
  json.Set("decoder", bytes);
}

// Sets the components of a WordPiece tokenizer. In the file, pieces that begin a word are preceded by a space symbol,
// and pieces that continue a word have no prefix.
void SetBertParts(const Gguf& file, std::vector<SentencePiece>& pieces, const std::string& unknown, Json& json) {
  Check(!unknown.empty(), "{}: there is no token [UNK], and no key tokenizer.ggml.unknown_token_id", file.path());
  for (SentencePiece& piece : pieces) {
    if (piece.type == Type::control || piece.type == Type::unknown) continue;
    const bool begins = piece.text.starts_with(kSpaceSymbol);
    piece.text = begins ? piece.text.substr(kSpaceSymbol.size()) : "##" + piece.text;
  }
  std::unordered_set<std::string_view> distinct;
  for (const SentencePiece& piece : pieces)
    Check(distinct.insert(piece.text).second, "{}: {} is there twice", file.Place(kTokens), Quoted(piece.text));
  constexpr const char *lower_key = "tokenizer.ggml.normalizer.lowercase",
                       *accents_key = "tokenizer.ggml.normalizer.strip_accents";
  const bool lower = FlagOr(file, lower_key, true);
  Json normalizer = R"({"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true})"_json;
  normalizer.Set("lowercase", lower);
  normalizer.Set("strip_accents", FlagOr(file, accents_key, lower));
  json.Set("normalizer", std::move(normalizer));
  json.Set("pre_tokenizer", R"({"type": "BertPreTokenizer"})"_json);
  json.Set("decoder", R"({"type": "WordPiece"})"_json);
  SetModelOf(Json::Object{{"type", "WordPiece"}, {"unk_token", unknown}}, VocabularyOf(pieces), {}, json);
}

// Sets the components of SentencePiece's unigram model.
void SetUnigramParts(const Gguf& file, const std::vector<SentencePiece>& pieces, Json& json) {
  constexpr const char* charsmap_key = "tokenizer.ggml.precompiled_charsmap";
  std::vector<std::int64_t> types(pieces.size(), 1);
  if (file.contains(kTypes)) types = file.Array(kTypes).Integers();
  Json::Array scored;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    // Added tokens are matched earlier, and texts do not match unused pieces. The scores of these tokens and pieces
    // must not lower the score of unknown characters.
    const bool matched = pieces[id].type != Type::user_defined && types[id] != kUnused;
    scored.emplace_back(Json::Array{pieces[id].text, matched ? Json(static_cast<double>(pieces[id].score)) : Json()});
  }
  const auto unknown = std::ranges::find(pieces, Type::unknown, &SentencePiece::type);
  Check(unknown != pieces.end(), "{}: no token has the type of unknown ones, 2", file.Place(kTypes));
  SetModelOf(Json::Object{{"type", "Unigram"}, {"unk_id", unknown - pieces.begin()}}, std::move(scored), {}, json);
  if (file.contains(charsmap_key)) {
    std::string rules;
    for (const std::int64_t byte : file.Array(charsmap_key).Integers()) rules.push_back(static_cast<char>(byte));
    json.Set("normalizer", Json::Object{{"type", "Precompiled"}, {"precompiled_charsmap", EncodeBase64(rules)}});
  }
  Json metaspace = R"({"type": "Metaspace", "replacement": "\u2581"})"_json;
  metaspace.Set("prepend_scheme", FlagOr(file, "tokenizer.ggml.add_space_prefix", true) ? "always" : "never");
  const bool whole_spaces = FlagOr(file, "tokenizer.ggml.remove_extra_whitespaces", true);
  json.Set("pre_tokenizer",
           SequenceJson("pretokenizers", {whole_spaces ? R"({"type": "WhitespaceSplit"})"_json : Json(), metaspace}));
  json.Set("decoder", std::move(metaspace));
}

// Returns the special token of the first key that is in the file, otherwise the token with the usual text. Returns an
// empty text if there is none.
std::string SpecialToken(const Gguf& file, const std::vector<SentencePiece>& pieces,
                         std::initializer_list<const char*> keys, std::string_view usual = "") {
  for (const char* key : keys)
    if (file.contains(key)) return pieces[static_cast<std::size_t>(file.Integer(key, 0, std::ssize(pieces) - 1))].text;
  return std::ranges::find(pieces, usual, &SentencePiece::text) == pieces.end() ? "" : std::string(usual);
}

// Returns the post-processor that adds `begin` before and `end` after a text. Empty tokens are left out.
Json AffixesJson(const std::vector<SentencePiece>& pieces, const std::string& begin, const std::string& end,
                 int second_type) {
  if (begin.empty() && end.empty()) return {};
  std::vector<std::string> single, pair;
  if (!begin.empty()) single.push_back(begin);
  pair = single;
  for (const char* text : {"$A", "$B"}) {
    if (text[1] == 'A') single.emplace_back(text);
    pair.emplace_back(text);
    if (!end.empty()) pair.push_back(end);
  }
  if (!end.empty()) single.push_back(end);
  return TemplateProcessorJson(single, pair, second_type, [&](const std::string& text) {
    return static_cast<std::uint64_t>(std::ranges::find(pieces, text, &SentencePiece::text) - pieces.begin());
  });
}

}  // namespace

Json TokenizerJsonOfGguf(const Gguf& file) {
  constexpr const char *bos = "tokenizer.ggml.bos_token_id", *eos = "tokenizer.ggml.eos_token_id";
  const std::string kind = file.Text(kModel);
  const bool llama = kind == "llama", bert = kind == "bert", t5 = kind == "t5", gemma4 = kind == "gemma4";
  Check(llama || bert || t5 || gemma4 || kind == "gpt2",
        "{}: {} is not supported; llama, gpt2, gemma4, bert and t5 are", file.Place(kModel), Quoted(kind));
  std::vector<SentencePiece> pieces = PiecesOf(file, llama || t5);
  // Some files mark the token <end_of_turn> as text.
  for (const std::int64_t end : GgufEndTokens(file)) pieces[static_cast<std::size_t>(end)].type = Type::control;
  const std::string unknown = SpecialToken(file, pieces, {"tokenizer.ggml.unknown_token_id"}, "[UNK]");
  Json json = Json::Object{};
  bool begins = llama || gemma4;
  if (llama) {
    SetCharacterParts(pieces, MergesJson(pieces), FlagOr(file, "tokenizer.ggml.add_space_prefix", true), json);
  } else if (gemma4) {
    SetCharacterParts(pieces, MergesOf(file), /*prefix=*/false, json);
  } else if (t5) {
    SetUnigramParts(file, pieces, json);
  } else if (bert) {
    SetBertParts(file, pieces, unknown, json);
  } else {
    const GgufWords& words = GgufWordsOf(file);
    SetGpt2Parts(file, pieces, words, json);
    begins = words.begins;
  }
  std::string begin, end;
  if (bert) {
    begin = SpecialToken(file, pieces, {"tokenizer.ggml.cls_token_id", bos}, "[CLS]");
    end = SpecialToken(file, pieces, {"tokenizer.ggml.seperator_token_id", eos}, "[SEP]");
  } else {
    // Files of Gemma 4 declare that no token begins a text, but the model expects one.
    if (gemma4 || FlagOr(file, "tokenizer.ggml.add_bos_token", begins)) begin = SpecialToken(file, pieces, {bos});
    if (FlagOr(file, "tokenizer.ggml.add_eos_token", t5)) end = SpecialToken(file, pieces, {eos});
  }
  if (Json processor = AffixesJson(pieces, begin, end, bert ? 1 : 0); !processor.is_null())
    json.Set("post_processor", std::move(processor));
  json.Set("added_tokens", AddedTokensJson(pieces));
  return json;
}

}  // namespace headlight
