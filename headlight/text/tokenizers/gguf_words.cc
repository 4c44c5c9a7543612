#include "headlight/text/tokenizers/gguf_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

// The word splitting of byte-level tokenizers: the regular expressions of published tokenizer.json files, applied in
// order.
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

constexpr const char* kDeepSeek3Words =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kSeedWords =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kBailingWords =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr const char* kBloomWords = R"( ?[^\(\s\|.,!?…。，、।۔،\)]+)";
// The cased letters, as listed in the tokenizer of DeepSeek's first models.
constexpr const char* kDeepSeekLetters =
    R"(\s?[)"
    R"(A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅ)"
    R"(ὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-)"
    R"(ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃)"
    R"(]+)";

struct NamedWords {
  std::vector<const char*> names;  // values of tokenizer.ggml.pre
  GgufWords words;
};

const std::vector<NamedWords>& KnownWords() {
  static const std::vector<NamedWords> known = {
      {{"gpt-2", "phi-2", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de", "jina-v1-en", "jina-v2-code", "roberta-bpe",
        "gigachat", "a.x-4.0", "mellum", "modern-bert", "jais", "trillion", "granite-docling", "exaone4"},
       {.patterns = {kGpt2Words}}},
      {{"mpt", "olmo"}, {.patterns = {kGpt2Words}, .composed = true}},
      {{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"},
       {.patterns = {kLlama3Words}, .whole_pieces = true, .begins = true}},
      {{"dbrx", "smaug-bpe", "chatglm-bpe"}, {.patterns = {kLlama3Words}}},
      {{"glm4", "glm5"}, {.patterns = {kLlama3Words}, .whole_pieces = true}},
      {{"qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "megrez"}, {.patterns = {kQwenWords}, .composed = true}},
      {{"stablelm2", "hunyuan", "solar-open", "grok-2"}, {.patterns = {kQwenWords}}},
      {{"qwen35"}, {.patterns = {kQwen35Words}}},
      {{"tekken"}, {.patterns = {kTekkenWords}, .whole_pieces = true, .begins = true}},
      {{"gpt-4o", "llama4", "kanana2", "minimax-m2"}, {.patterns = {kGpt4oWords}}},
      {{"smollm", "starcoder", "refact", "codeshell", "exaone", "minerva-7b", "mellum2"},
       {.patterns = {R"(\p{N})", kGpt2Words}}},
      {{"command-r"}, {.patterns = {R"(\p{N})", kGpt2Words}, .composed = true}},
      {{"falcon"}, {.patterns = {R"([\p{P}\$\+<=>\^~\|`]+)", kGpt2Words, "[0-9][0-9][0-9]"}}},
      {{"bloom", "poro-chat", "gpt3-finnish"}, {.patterns = {kBloomWords}}},
      {{"viking"}, {.patterns = {kBloomWords, R"(\p{N})"}}},
      {{"seed-coder"}, {.patterns = {kSeedWords}}},
      {{"bailingmoe", "bailingmoe2", "llada-moe"}, {.patterns = {kBailingWords}}},
      {{"deepseek-llm"},
       {.patterns = {R"([\r\n])", kDeepSeekLetters, R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)", R"(\s+$)",
                     "[一-龥ࠀ-一가-퟿]+", R"(\p{N}+)"}}},
      {{"deepseek-coder"},
       {.patterns = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", "[一-龥ࠀ-一가-퟿]+", R"(\p{N})"}}},
      {{"deepseek-v3", "hunyuan-dense", "joyai-llm"},
       {.patterns = {R"(\p{N}{1,3})", "[一-龥぀-ゟ゠-ヿ]+", kDeepSeek3Words}}}};
  return known;
}

}  // namespace

const GgufWords& GgufWordsOf(const Gguf& file) {
  constexpr const char* key = "tokenizer.ggml.pre";
  const std::string name = file.Text(key);
  std::vector<std::string_view> names;
  for (const NamedWords& known : KnownWords()) {
    if (std::ranges::find(known.names, std::string_view(name)) != known.names.end()) return known.words;
    names.insert(names.end(), known.names.begin(), known.names.end());
  }
  std::ranges::sort(names);
  Fail("{}: {} is not known; known are: {}", file.Place(key), Quoted(name), fmt::join(names, ", "));
}

std::string GgufWordsName(const JsonView& tokenizer) {
  const auto steps = [](const JsonView& part, const char* name) -> std::vector<JsonView> {
    if (!part.present()) return {};
    return part["type"].String() == "Sequence" ? part[name].Items() : std::vector{part};
  };
  GgufWords wanted = {.whole_pieces = tokenizer["model"].Get("ignore_merges", false).Bool()};
  for (const JsonView& step : steps(tokenizer["normalizer"], "normalizers")) {
    Check(step["type"].String() == "NFC", "{}: {} has no counterpart in GGUF", step.location(),
          Quoted(step["type"].String()));
    wanted.composed = true;
  }
  std::vector<std::string> patterns;
  for (const JsonView& step : steps(tokenizer["pre_tokenizer"], "pretokenizers")) {
    const std::string type = step["type"].String();
    Check(type != "ByteLevel" || !step.Get("add_prefix_space", true).Bool(),
          "{}: is true, and GGUF has no space before a text in this kind", step["add_prefix_space"].location());
    if (type == "Split")
      patterns.push_back(step["pattern"]["Regex"].String());
    else if (type == "Digits" && step.Get("individual_digits", false).Bool())
      patterns.emplace_back(R"(\p{N})");
    else if (type == "ByteLevel" && step.Get("use_regex", true).Bool())
      patterns.emplace_back(kGpt2Words);
    else
      Check(type == "ByteLevel", "{}: {} has no counterpart in GGUF", step.location(), Quoted(type));
  }
  for (const NamedWords& known : KnownWords())
    if (std::ranges::equal(known.words.patterns, patterns) && known.words.whole_pieces == wanted.whole_pieces &&
        known.words.composed == wanted.composed)
      return known.names.front();
  Fail("{}: no known name of tokenizer.ggml.pre divides words in this way", tokenizer["pre_tokenizer"].location());
}

}  // namespace headlight
