#include "headlight/text/tokenizers/gguf_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/text/tokenizers/sentencepiece_model.h"
#include "headlight/text/tokenizers/tokenizer_json.h"

namespace headlight {
namespace {

using Type = SentencePiece::Type;

constexpr const char *kTokens = "tokenizer.ggml.tokens", *kTypes = "tokenizer.ggml.token_type",
                     *kScores = "tokenizer.ggml.scores", *kMerges = "tokenizer.ggml.merges",
                     *kPre = "tokenizer.ggml.pre", *kModel = "tokenizer.ggml.model";

// Words of byte-level tokenizers: the regular expressions of published tokenizer.json files, one behind the other.
constexpr const char* kGpt2Words = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr const char* kLlama3Words =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kQwenWords =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kQwen35Words =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kTekkenWords =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kGpt4oWords =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

struct Words {
  const char* name;  // in tokenizer.ggml.pre
  std::vector<const char*> patterns;
  bool whole_pieces = false;  // a word that is a piece is not merged (`ignore_merges`)
};

const std::vector<Words>& KnownWords() {
  static const std::vector<Words> known = {
      {"gpt-2", {kGpt2Words}},
      {"phi-2", {kGpt2Words}},
      {"mpt", {kGpt2Words}},
      {"olmo", {kGpt2Words}},
      {"llama-bpe", {kLlama3Words}, true},
      {"llama3", {kLlama3Words}, true},
      {"llama-v3", {kLlama3Words}, true},
      {"falcon3", {kLlama3Words}, true},
      {"dbrx", {kLlama3Words}},
      {"smaug-bpe", {kLlama3Words}},
      {"glm4", {kLlama3Words}},
      {"qwen2", {kQwenWords}},
      {"deepseek-r1-qwen", {kQwenWords}},
      {"qwen35", {kQwen35Words}},
      {"stablelm2", {kQwenWords}},
      {"tekken", {kTekkenWords}, true},
      {"gpt-4o", {kGpt4oWords}},
      {"llama4", {kGpt4oWords}},
      {"smollm", {R"(\p{N})", kGpt2Words}},
      {"starcoder", {R"(\p{N})", kGpt2Words}},
      {"refact", {R"(\p{N})", kGpt2Words}},
      {"command-r", {R"(\p{N})", kGpt2Words}},
      {"codeshell", {R"(\p{N})", kGpt2Words}},
      {"falcon", {R"([\p{P}\$\+<=>\^~\|`]+)", kGpt2Words, "[0-9][0-9][0-9]"}},
      {"deepseek-coder", {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", "[一-龥ࠀ-一가-퟿]+", R"(\p{N})"}},
      {"deepseek-v3",
       {R"(\p{N}{1,3})", "[一-龥぀-ゟ゠-ヿ]+",
        R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}}};
  return known;
}

const Words& WordsOf(const Gguf& file) {
  const std::string name = file.contains(kPre) ? file.Text(kPre) : "gpt-2";
  const auto& known = KnownWords();
  const auto found = std::ranges::find(known, name, [](const Words& words) { return std::string_view(words.name); });
  if (found != known.end()) return *found;
  std::vector<std::string> names;
  for (const Words& words : known) names.emplace_back(words.name);
  Fail("{}: {} is not known; known are: {}", file.Place(kPre), Quoted(name), fmt::join(names, ", "));
}

// The vocabulary by id. Types of unused pieces (5) are those of normal ones.
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
    const bool normal = types[id] == 0 || types[id] == 5;
    pieces.push_back({std::string(texts[id]), scores[id], normal ? Type::normal : static_cast<Type>(types[id])});
  }
  return pieces;
}

Json AddedTokensJson(const std::vector<SentencePiece>& pieces) {
  Json::Array added;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const Type type = pieces[id].type;
    if (type != Type::control && type != Type::user_defined && type != Type::unknown) continue;
    Json token =
        R"({"id": 0, "content": "", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
                     "special": true})"_json;
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

// SentencePiece's BPE: pairs merge in the order of their scores, and characters without a piece become bytes.
void SetLlamaParts(const Gguf& file, const std::vector<SentencePiece>& pieces, Json& json) {
  constexpr const char* prefix_key = "tokenizer.ggml.add_space_prefix";
  const bool prefix = !file.contains(prefix_key) || file.Flag(prefix_key);
  const auto unknown = std::ranges::find(pieces, Type::unknown, &SentencePiece::type);
  json.Set("model", Json::Object{{"type", "BPE"},
                                 {"unk_token", unknown == pieces.end() ? Json() : Json(unknown->text)},
                                 {"fuse_unk", true},
                                 {"byte_fallback", true},
                                 {"vocab", VocabularyOf(pieces)},
                                 {"merges", MergesJson(pieces)}});
  const Json spaces = ReplaceJson("String", " ", kSpaceSymbol);
  json.Set("normalizer",
           SequenceJson("normalizers", {prefix ? R"({"type": "Prepend", "prepend": "\u2581"})"_json : Json(), spaces}));
  json.Set(
      "decoder",
      SequenceJson("decoders", {ReplaceJson("String", kSpaceSymbol, " "), R"({"type": "ByteFallback"})"_json,
                                R"({"type": "Fuse"})"_json,
                                prefix ? R"({"type": "Strip", "content": " ", "start": 1, "stop": 0})"_json : Json()}));
}

void SetGpt2Parts(const Gguf& file, const std::vector<SentencePiece>& pieces, Json& json) {
  const Words& words = WordsOf(file);
  std::vector<Json> splits;
  for (const char* pattern : words.patterns)
    splits.emplace_back(Json::Object{
        {"type", "Split"}, {"pattern", Json::Object{{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}});
  const Json bytes =
      R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false})"_json;
  splits.push_back(bytes);
  Json::Array merges;
  for (const std::string_view merge : file.Array(kMerges).Strings()) {
    const std::size_t space = merge.find(' ', 1);
    Check(space != std::string_view::npos && space + 1 < merge.size(), "{}: {} is not two pieces with a space between",
          file.Place(kMerges), Quoted(merge));
    merges.emplace_back(std::vector{merge.substr(0, space), merge.substr(space + 1)});
  }
  json.Set("model", Json::Object{{"type", "BPE"},
                                 {"ignore_merges", words.whole_pieces},
                                 {"vocab", VocabularyOf(pieces)},
                                 {"merges", std::move(merges)}});
  json.Set("pre_tokenizer", SequenceJson("pretokenizers", std::move(splits)));
  json.Set("decoder", bytes);
}

// The tokens before and after a text.
Json AffixesJson(const Gguf& file, const std::vector<SentencePiece>& pieces, bool begins) {
  const auto token = [&](const char* add, const char* id, bool fallback) -> std::vector<std::string> {
    const bool added = file.contains(add) ? file.Flag(add) : fallback;
    if (!added || !file.contains(id)) return {};
    const std::int64_t number = file.Integer(id, 0, std::ssize(pieces) - 1);
    return {pieces[static_cast<std::size_t>(number)].text};
  };
  std::vector<std::string> single = token("tokenizer.ggml.add_bos_token", "tokenizer.ggml.bos_token_id", begins);
  const std::vector<std::string> end = token("tokenizer.ggml.add_eos_token", "tokenizer.ggml.eos_token_id", false);
  if (single.empty() && end.empty()) return {};
  std::vector<std::string> pair = single;
  for (const char* text : {"$A", "$B"}) {
    if (text[1] == 'A') single.emplace_back(text);
    pair.emplace_back(text);
    pair.insert(pair.end(), end.begin(), end.end());
  }
  single.insert(single.end(), end.begin(), end.end());
  return TemplateProcessorJson(single, pair, 0, [&](const std::string& text) {
    return static_cast<std::uint64_t>(std::ranges::find(pieces, text, &SentencePiece::text) - pieces.begin());
  });
}

}  // namespace

Json TokenizerJsonOfGguf(const Gguf& file) {
  const std::string kind = file.Text(kModel);
  Check(kind == "llama" || kind == "gpt2", "{}: {} is not supported; llama and gpt2 are", file.Place(kModel),
        Quoted(kind));
  const bool scored = kind == "llama";
  const std::vector<SentencePiece> pieces = PiecesOf(file, scored);
  Json json = Json::Object{};
  if (scored)
    SetLlamaParts(file, pieces, json);
  else
    SetGpt2Parts(file, pieces, json);
  if (Json processor = AffixesJson(file, pieces, scored); !processor.is_null())
    json.Set("post_processor", std::move(processor));
  json.Set("added_tokens", AddedTokensJson(pieces));
  return json;
}

std::string GgufWordsName(const JsonView& pre_tokenizer, bool ignore_merges) {
  const bool sequence = pre_tokenizer.Get("type", "").String() == "Sequence";
  std::vector<std::string> patterns;
  for (const JsonView& step : sequence ? pre_tokenizer["pretokenizers"].Items() : std::vector{pre_tokenizer}) {
    const std::string type = step["type"].String();
    if (type == "Split")
      patterns.push_back(step["pattern"]["Regex"].String());
    else if (type == "Digits" && step.Get("individual_digits", false).Bool())
      patterns.emplace_back(R"(\p{N})");
    else if (type == "ByteLevel" && step.Get("use_regex", true).Bool())
      patterns.emplace_back(kGpt2Words);
    else
      Check(type == "ByteLevel", "{}: {} has no counterpart in GGUF", step.place(), Quoted(type));
  }
  for (const auto& words : KnownWords())
    if (std::ranges::equal(words.patterns, patterns) && words.whole_pieces == ignore_merges) return words.name;
  Fail("{}: no known name of tokenizer.ggml.pre divides words in this way", pre_tokenizer.place());
}

}  // namespace headlight
