#include "headlight/text/tokenizers/gguf_tokenizer_export.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/text/tokenizers/base64.h"
#include "headlight/text/tokenizers/gguf_words.h"
#include "headlight/text/tokenizers/older_tokenizer_files.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/text/tokenizers/sentencepiece_model.h"
#include "headlight/text/tokenizers/tokenizer_json.h"

namespace headlight {
namespace {

using Type = SentencePiece::Type;

constexpr std::int32_t kUnusedType = 5;
constexpr std::int64_t kLargestVocabulary = 1 << 22;

bool HasType(const JsonView& part, std::string_view type) { return part.Get("type", "").String() == type; }

// Returns the steps of a normalizer, pre-tokenizer or decoder. A component that is not a sequence has a single step.
std::vector<JsonView> StepsOf(const JsonView& part, const char* steps) {
  if (!part.present()) return {};
  return HasType(part, "Sequence") ? part[steps].Items() : std::vector{part};
}

std::pair<std::string, std::string> PairOf(const JsonView& merge) {
  if (merge.value().As<std::string>() == nullptr) {
    std::vector<std::string> pair = merge.Strings();
    Check(pair.size() == 2, "{}: is not a pair", merge.location());
    return {std::move(pair[0]), std::move(pair[1])};
  }
  const std::string text = merge.String();
  const std::size_t space = text.find(' ', 1);
  Check(space != std::string::npos, "{}: {} is not two pieces with a space between", merge.location(), Quoted(text));
  return {text.substr(0, space), text.substr(space + 1)};
}

using MergeList = std::vector<std::pair<std::string, std::string>>;

// Sets scores that give the order of the merges, since SentencePiece merges the pair whose piece has the highest score.
void SetScores(const MergeList& merges, const std::string& place, std::vector<SentencePiece>& pieces) {
  std::unordered_map<std::string_view, std::size_t> ids;
  for (std::size_t id = 0; id < pieces.size(); ++id) ids.emplace(pieces[id].text, id);
  for (SentencePiece& piece : pieces) piece.score = piece.type == Type::normal ? -1e9F : 0.0F;
  std::set<std::pair<std::string_view, std::string_view>> given;
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const auto& [left, right] = merges[rank];
    given.emplace(left, right);
    const auto found = ids.find(left + right);
    if (found == ids.end()) continue;
    SentencePiece& piece = pieces[found->second];
    piece.score = std::max(piece.score, -static_cast<float>(rank));
  }
  const Json all = MergesJson(pieces);
  for (const Json& merge : *all.As<Json::Array>()) {
    const auto& pair = *merge.As<Json::Array>();
    const auto &left = *pair[0].As<std::string>(), &right = *pair[1].As<std::string>();
    Check(given.contains({left, right}),
          "{}: {} and {} are pieces that do not merge, and SentencePiece in GGUF would merge them", place, Quoted(left),
          Quoted(right));
  }
}

// Returns true if a space is added before a text.
bool AddsPrefix(const JsonView& file) {
  for (const JsonView& step : StepsOf(file["normalizer"], "normalizers"))
    if (HasType(step, "Prepend")) return true;
  for (const JsonView& step : StepsOf(file["pre_tokenizer"], "pretokenizers"))
    if (HasType(step, "Metaspace"))
      return step.Get("prepend_scheme", step.Get("add_prefix_space", true).Bool() ? "always" : "never").String() !=
             "never";
  return false;
}

// Throws Error unless the key is missing, null or equal to `value`.
void OnlyInGguf(const JsonView& part, const char* key, const Json& value) {
  const JsonView given = part[key];
  Check(!given.present() || given.value() == value, "{}: is {}, and GGUF has only {} in this kind of tokenizer",
        given.location(), given.value().Line(), value.Line());
}

// Returns the component. Throws Error if it does not have this type.
JsonView PartOf(const JsonView& file, const char* name, const char* type) {
  JsonView part = file[name];
  Check(part.present() && HasType(part, type), "{}: must be {} in this kind of tokenizer of GGUF", part.location(),
        type);
  return part;
}

// Sets the WordPiece model. In GGUF, a space symbol precedes the pieces that begin a word, and pieces inside words
// have no prefix.
void SetWordPiece(const JsonView& file, std::vector<SentencePiece>& pieces, GgufMetadata& metadata) {
  const JsonView model = file["model"], normalizer = PartOf(file, "normalizer", "BertNormalizer");
  PartOf(file, "pre_tokenizer", "BertPreTokenizer");
  OnlyInGguf(model, "continuing_subword_prefix", "##");
  OnlyInGguf(model, "max_input_chars_per_word", 100);
  for (const char* key : {"clean_text", "handle_chinese_chars"}) OnlyInGguf(normalizer, key, true);
  OnlyInGguf(PartOf(file, "decoder", "WordPiece"), "cleanup", true);
  const bool lower = normalizer.Get("lowercase", true).Bool();
  metadata.SetText("tokenizer.ggml.model", "bert");
  metadata.SetFlag("tokenizer.ggml.normalizer.lowercase", lower);
  metadata.SetFlag("tokenizer.ggml.normalizer.strip_accents", normalizer.Get("strip_accents", lower).Bool());
  for (SentencePiece& piece : pieces)
    if (piece.type != Type::control && !piece.text.empty())
      piece.text = piece.text.starts_with("##") ? piece.text.substr(2) : std::string(kSpaceSymbol) + piece.text;
}

// Sets SentencePiece's unigram model.
void SetUnigramModel(const JsonView& file, std::vector<SentencePiece>& pieces, GgufMetadata& metadata) {
  const JsonView model = file["model"];
  OnlyInGguf(model, "byte_fallback", false);
  metadata.SetText("tokenizer.ggml.model", "t5");
  std::size_t id = 0;
  for (const JsonView& entry : model["vocab"].Items())
    pieces[id++].score = static_cast<float>(entry.Items().at(1).Number());
  pieces[static_cast<std::size_t>(model["unk_id"].Integer(0, std::ssize(pieces) - 1))].type = Type::unknown;

  const std::vector<JsonView> splits = StepsOf(file["pre_tokenizer"], "pretokenizers");
  const bool whole_spaces = splits.size() == 2 && HasType(splits.front(), "WhitespaceSplit");
  Check(splits.size() == (whole_spaces ? 2U : 1U) && HasType(splits.back(), "Metaspace"),
        "{}: must be Metaspace, also after WhitespaceSplit, in this kind of tokenizer of GGUF",
        file["pre_tokenizer"].location());
  OnlyInGguf(splits.back(), "replacement", kSpaceSymbol);
  OnlyInGguf(splits.back(), "split", true);
  const bool older = splits.back().Get("add_prefix_space", true).Bool();
  const std::string scheme = splits.back().Get("prepend_scheme", older ? "always" : "never").String();
  Check(scheme != "first", "{}: is first, and GGUF has only always and never",
        splits.back()["prepend_scheme"].location());
  metadata.SetFlag("tokenizer.ggml.add_space_prefix", scheme == "always");
  metadata.SetFlag("tokenizer.ggml.remove_extra_whitespaces", whole_spaces);
  for (const JsonView& step : StepsOf(file["normalizer"], "normalizers")) {
    const bool spaces = whole_spaces && HasType(step, "Replace") && step["pattern"]["Regex"].present() &&
                        step["pattern"]["Regex"].String() == " {2,}";
    if (spaces) continue;  // words are split at spaces anyway
    Check(HasType(step, "Precompiled"), "{}: {} has no counterpart in GGUF", step.location(),
          Quoted(step.Get("type", "").String()));
    if (step["precompiled_charsmap"].present())
      metadata.SetBytes("tokenizer.ggml.precompiled_charsmap", DecodeBase64(step["precompiled_charsmap"].String()));
  }
}

bool IsByteLevel(const JsonView& file) {
  for (const JsonView& step : StepsOf(file["pre_tokenizer"], "pretokenizers"))
    if (HasType(step, "ByteLevel")) return true;
  return false;
}

// Sets the merges of byte-level BPE or of SentencePiece's BPE.
void SetMerges(const JsonView& file, bool byte_level, std::vector<SentencePiece>& pieces, GgufMetadata& metadata) {
  const JsonView model = file["model"];
  MergeList merges;
  for (const JsonView& merge : model["merges"].Items()) merges.push_back(PairOf(merge));
  if (byte_level) {
    metadata.SetText("tokenizer.ggml.model", "gpt2");
    metadata.SetText("tokenizer.ggml.pre", GgufWordsName(file));
    std::vector<std::string> pairs;
    for (const auto& [left, right] : merges) pairs.push_back(left + " " + right);
    return metadata.SetTexts("tokenizer.ggml.merges", pairs);
  }
  Check(model.Get("byte_fallback", false).Bool(), "{}: is not true, and the tokenizer is not byte-level",
        model["byte_fallback"].location());
  metadata.SetText("tokenizer.ggml.model", "llama");
  SetScores(merges, model["merges"].location(), pieces);
  metadata.SetFlag("tokenizer.ggml.add_space_prefix", AddsPrefix(file));
}

void SetTokens(const std::vector<SentencePiece>& pieces, std::int64_t vocabulary, bool scored, GgufMetadata& metadata) {
  std::vector<std::string> texts;
  std::vector<std::int32_t> types;
  std::vector<float> scores;
  for (const SentencePiece& piece : pieces) {
    texts.push_back(piece.text);
    types.push_back(piece.text.empty() ? kUnusedType : static_cast<std::int32_t>(piece.type));
    scores.push_back(piece.score);
    if (piece.text.empty()) texts.back() = fmt::format("[PAD{}]", texts.size() - 1);
  }
  for (std::int64_t id = std::ssize(pieces); id < vocabulary; ++id) {
    texts.push_back(fmt::format("[PAD{}]", id));
    types.push_back(kUnusedType);
    scores.push_back(-1e9F);
  }
  metadata.SetTexts("tokenizer.ggml.tokens", texts);
  if (scored) metadata.SetNumbers("tokenizer.ggml.scores", scores);
  metadata.SetIntegers("tokenizer.ggml.token_type", types);
}

// Sets the token ids from config.json. If the file lists several end tokens, the first is used.
void SetIds(const JsonView& config, std::int64_t size, GgufMetadata& metadata) {
  const std::pair<const char*, const char*> ids[] = {{"bos_token_id", "tokenizer.ggml.bos_token_id"},
                                                     {"eos_token_id", "tokenizer.ggml.eos_token_id"},
                                                     {"pad_token_id", "tokenizer.ggml.padding_token_id"}};
  for (const auto& [name, key] : ids) {
    const JsonView given = config[name];
    if (!given.present()) continue;
    const bool several = given.value().As<Json::Array>() != nullptr;
    if (several && given.Array().empty()) continue;
    const JsonView one = several ? given.Items().front() : given;
    if (one.Integer() >= 0) metadata.SetInteger(key, one.Integer(0, size - 1));
  }
}

// Sets the special token that is added before or after every text.
void SetAffix(const std::string& name, const std::vector<std::int32_t>& ids, const std::string& path,
              GgufMetadata& metadata) {
  Check(ids.size() <= 1, "{}: adds {} special tokens before or after a text; GGUF allows at most one on each side",
        path, ids.size());
  metadata.SetFlag("tokenizer.ggml.add_" + name + "_token", !ids.empty());
  if (!ids.empty()) metadata.SetInteger("tokenizer.ggml." + name + "_token_id", ids.front());
}

// Sets the tokens that begin and end every text in BERT. llama.cpp reads the first token from a different key.
void SetBertAffixes(const PipelineTokenizer& tokenizer, const std::string& path, GgufMetadata& metadata) {
  Check(tokenizer.before().size() == 1 && tokenizer.after().size() == 1,
        "{}: puts {} special tokens before a text and {} after it, and GGUF has one each in this kind", path,
        tokenizer.before().size(), tokenizer.after().size());
  for (const char* key : {"tokenizer.ggml.cls_token_id", "tokenizer.ggml.bos_token_id"})
    metadata.SetInteger(key, tokenizer.before().front());
  metadata.SetInteger("tokenizer.ggml.seperator_token_id", tokenizer.after().front());
  if (const auto mask = tokenizer.FindSpecial("[MASK]")) metadata.SetInteger("tokenizer.ggml.mask_token_id", *mask);
}

// Sets the chat template from tokenizer_config.json, which may have several named templates, or from
// chat_template.jinja.
void SetChatTemplate(const std::string& folder, GgufMetadata& metadata) {
  constexpr const char* key = "tokenizer.chat_template";
  constexpr std::uint64_t largest = std::uint64_t{1} << 24;
  const std::string own = folder + "/chat_template.jinja", settings = folder + "/tokenizer_config.json";
  if (Exists(own)) return metadata.SetText(key, ReadFile(own, largest));
  if (!Exists(settings)) return;
  const JsonView given = ReadJson(settings)["chat_template"];
  if (!given.present()) return;
  if (given.value().As<Json::Array>() == nullptr) return metadata.SetText(key, given.String());
  for (const JsonView& named : given.Items())
    if (named["name"].String() == "default") metadata.SetText(key, named["template"].String());
}

// Returns the pieces by id with their types. `file` contains the added tokens.
std::vector<SentencePiece> TypedPieces(const PipelineTokenizer& tokenizer, const JsonView& file, bool scored) {
  std::vector<SentencePiece> pieces;
  for (std::int32_t id = 0; id < tokenizer.size(); ++id)
    pieces.push_back({tokenizer.Piece(id), 0, tokenizer.IsSpecial(id) ? Type::control : Type::normal});
  for (const JsonView& added : file.Get("added_tokens", Json::Array{}).Items())
    if (!added.Get("special", false).Bool())
      pieces[static_cast<std::size_t>(added["id"].Integer(0, tokenizer.size() - 1))].type = Type::user_defined;
  if (!scored) return pieces;
  const std::string unknown = file["model"].Get("unk_token", "").String();
  for (SentencePiece& piece : pieces) {
    const bool byte = piece.text.size() == 6 && piece.text.starts_with("<0x") && piece.text.ends_with('>');
    if (piece.text == unknown) piece.type = Type::unknown;
    if (byte && piece.type == Type::normal) piece.type = Type::byte;
  }
  return pieces;
}

}  // namespace

void SetGgufTokenizer(const std::string& folder, const JsonView& config, GgufMetadata& metadata) {
  std::string path = folder + "/tokenizer.json";
  const std::int64_t vocabulary = config["vocab_size"].Integer(1, kLargestVocabulary);
  std::optional<Json> json;
  if (Exists(path) && !ReadsModelFirst(folder)) {
    json = ReadJson(path).value();
    FollowSettings(ReadTokenizerSettings(folder), *json);
  } else {
    json = OlderTokenizerJson(folder);
    path = folder;
  }
  if (!json) {
    metadata.SetText("tokenizer.ggml.model", "no_vocab");
    return SetIds(config, vocabulary, metadata);
  }
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(folder);
  Check(tokenizer.size() <= vocabulary, "{}: has {} tokens, more than the model's {}", path, tokenizer.size(),
        vocabulary);
  const JsonView file(std::move(*json), path);
  const JsonView model = file["model"];
  const std::string kind = model.Get("type", "").String();
  const bool byte_level = IsByteLevel(file), bert = kind == "WordPiece", unigram = kind == "Unigram",
             scored = !byte_level && !bert;
  Check(kind == "BPE" || bert || unigram, "{}: {} does not become GGUF; BPE, WordPiece and Unigram do",
        model["type"].location(), Quoted(kind));
  std::vector<SentencePiece> pieces = TypedPieces(tokenizer, file, scored && !unigram);
  metadata.SetText("tokenizer.ggml.pre", "default");
  if (bert) {
    SetWordPiece(file, pieces, metadata);
    metadata.SetInteger("tokenizer.ggml.unknown_token_id",
                        tokenizer.Find(model.Get("unk_token", "[UNK]").String()).value());
  } else if (unigram) {
    SetUnigramModel(file, pieces, metadata);
  } else {
    SetMerges(file, byte_level, pieces, metadata);
  }
  for (std::size_t id = 0; scored && id < pieces.size(); ++id)
    if (pieces[id].type == Type::unknown)
      metadata.SetInteger("tokenizer.ggml.unknown_token_id", static_cast<std::int64_t>(id));
  SetTokens(pieces, vocabulary, scored, metadata);
  SetIds(config, vocabulary, metadata);
  if (bert) {
    SetBertAffixes(tokenizer, path, metadata);
  } else {
    SetAffix("bos", tokenizer.before(), path, metadata);
    SetAffix("eos", tokenizer.after(), path, metadata);
  }
  SetChatTemplate(folder, metadata);
}

}  // namespace headlight
