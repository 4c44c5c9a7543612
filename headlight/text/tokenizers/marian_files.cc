#include "headlight/text/tokenizers/marian_files.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "headlight/base/error.h"
#include "headlight/text/tokenizers/base64.h"
#include "headlight/text/tokenizers/tokenizer_json.h"

namespace headlight {
namespace {

using Type = SentencePiece::Type;

constexpr std::string_view kSpaceRuns = " {2,}";

// TextNormalizer in the tokenizers library's terms. Its Precompiled step looks at one grapheme at a time, where
// SentencePiece looks at the text: rare sequences of combining marks come out differently there, a known defect of it.
Json NormalizerJson(const SentencePieceModel& model) {
  std::vector<Json> steps;
  if (!model.charsmap.empty())
    steps.push_back(Json::Object{{"precompiled_charsmap", EncodeBase64(model.charsmap)}, {"type", "Precompiled"}});
  if (model.remove_extra_whitespaces) {
    steps.push_back(ReplaceJson("Regex", "\\A +", ""));
    steps.push_back(ReplaceJson("Regex", kSpaceRuns, " "));
  }
  if (model.add_dummy_prefix) steps.push_back(Json::Object{{"prepend", kSpaceSymbol}, {"type", "Prepend"}});
  steps.push_back(ReplaceJson("String", " ", kSpaceSymbol));
  if (model.remove_extra_whitespaces) steps.push_back(ReplaceJson("Regex", "\u2581+\\z", ""));
  return SequenceJson("normalizers", std::move(steps));
}

// Every way to make a piece of two others, those of the highest score first.
Json MergesJson(const SentencePieceModel& model) {
  std::vector<const SentencePiece*> ordered;
  std::unordered_set<std::string_view> pieces;
  for (const SentencePiece& piece : model.pieces) {
    if (piece.type != Type::normal) continue;
    ordered.push_back(&piece);
    pieces.insert(piece.text);
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) { return a->score > b->score; });
  Json::Array merges;
  for (const SentencePiece* piece : ordered) {
    const std::string_view text = piece->text;
    for (std::size_t at = 1; at < text.size(); ++at) {
      if (!pieces.contains(text.substr(0, at)) || !pieces.contains(text.substr(at))) continue;
      merges.emplace_back(std::vector{text.substr(0, at), text.substr(at)});
    }
  }
  return merges;
}

Json BpeModelJson(const SentencePieceModel& model, const SpecialTokens& special) {
  Json::Object vocabulary;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) vocabulary.push_back({model.pieces[id].text, id});
  std::ranges::sort(vocabulary, {}, &Json::Member::name);
  Json json =
      R"({"byte_fallback": false, "continuing_subword_prefix": null, "dropout": null, "end_of_word_suffix": null,
                  "fuse_unk": true, "ignore_merges": false})"_json;
  json.Set("merges", MergesJson(model));
  json.Set("type", "BPE");
  json.Set("unk_token", special.unk);
  json.Set("vocab", std::move(vocabulary));
  return json;
}

Json UnigramModelJson(const SentencePieceModel& model) {
  // The tokenizers library would find a special token's spelling in the text; a score below any other way to write it
  // keeps that from happening.
  double least = 0;
  for (const SentencePiece& piece : model.pieces) least = std::min<double>(least, piece.score);
  Json::Array vocabulary;
  std::size_t unknown = 0;
  for (const SentencePiece& piece : model.pieces) {
    if (piece.type == Type::unknown) unknown = vocabulary.size();
    const double score = piece.type == Type::normal ? piece.score : 10 * (least - 10);
    vocabulary.emplace_back(Json::Array{piece.text, score});
  }
  Json json = R"({"byte_fallback": false, "type": "Unigram"})"_json;
  json.Set("unk_id", unknown);
  json.Set("vocab", std::move(vocabulary));
  return json;
}

Json FileJson(const SentencePieceModel& model, const SpecialTokens& special) {
  Json::Array added;
  std::size_t eos = 0;
  bool words_stand_alone = true;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    const SentencePiece& piece = model.pieces[id];
    if (piece.text == special.eos) eos = id;
    if (piece.type == Type::normal) {
      words_stand_alone = words_stand_alone && piece.text.find(kSpaceSymbol, 1) == std::string::npos;
    } else {
      added.push_back(AddedTokenJson(id, piece.text));
    }
  }
  Json file = Json::Object{};
  file.Set("added_tokens", std::move(added));
  file.Set("decoder", SequenceJson("decoders", {ReplaceJson("String", kSpaceSymbol, " "), R"({"type": "Fuse"})"_json,
                                                R"({"content": " ", "start": 1, "stop": 0, "type": "Strip"})"_json}));
  file.Set("model", model.algorithm == SubwordAlgorithm::bpe ? BpeModelJson(model, special) : UnigramModelJson(model));
  file.Set("normalizer", NormalizerJson(model));
  file.Set("padding", Json());
  file.Set("post_processor", TemplateProcessorJson({"$A", special.eos}, {"$A", "$B", special.eos}, 0,
                                                   [&](const std::string&) { return eos; }));
  file.Set("pre_tokenizer", words_stand_alone ? R"({"behavior": "MergedWithNext", "invert": false,
                                                    "pattern": {"String": "\u2581"}, "type": "Split"})"_json
                                              : Json());
  file.Set("truncation", Json());
  file.Set("version", "1.0");
  return file;
}

using TypeOf = std::function<Type(const std::string& piece)>;

// The scores of a BPE model matter by their order alone, which is that of the merges.
std::vector<SentencePiece> BpePieces(const JsonView& json, const TypeOf& type_of) {
  std::vector<SentencePiece> pieces;
  std::unordered_map<std::string, float> scores;
  const auto score = [&](const std::string& piece) {
    return scores.emplace(piece, -static_cast<float>(scores.size())).first->second;
  };
  for (const JsonView& merge : json["merges"].Items()) {
    const std::vector<std::string> pair = merge.Strings();
    Check(pair.size() == 2, "{}: it must be two pieces", merge.place());
    score(pair[0] + pair[1]);
  }
  for (std::string& text : PiecesById(json["vocab"])) {
    const Type type = type_of(text);
    const float least = type == Type::normal ? score(text) : 0;
    pieces.push_back({std::move(text), least, type});
  }
  return pieces;
}

std::vector<SentencePiece> UnigramPieces(const JsonView& json, const TypeOf& type_of) {
  std::vector<SentencePiece> pieces;
  for (const JsonView& entry : json["vocab"].Items()) {
    const std::vector<JsonView> piece = entry.Items();
    Check(piece.size() == 2, "{}: it must be a piece and its score", entry.place());
    const std::string text = piece[0].String();
    const Type type = type_of(text);
    pieces.push_back({text, type == Type::normal ? static_cast<float>(piece[1].Number()) : 0, type});
  }
  return pieces;
}

}  // namespace

std::string VocabularyJson(const std::vector<std::string>& pieces) {
  Json::Object vocabulary;
  for (std::size_t id = 0; id < pieces.size(); ++id) vocabulary.push_back({pieces[id], id});
  return Json(std::move(vocabulary)).Text();
}

std::vector<std::string> ParseVocabularyJson(std::string_view text, const std::string& name) {
  return PiecesById(JsonView(ParseJson(text, name), name));
}

std::string TokenizerConfigJson(const SpecialTokens& special, std::int64_t longest) {
  // split_special_tokens: what stands in a text is text, even where it spells "</s>".
  Json json = R"({"clean_up_tokenization_spaces": false})"_json;
  json.Set("eos_token", special.eos);
  json.Set("model_max_length", longest);
  json.Set("pad_token", special.pad);
  json.Set("separate_vocabs", false);
  json.Set("split_special_tokens", true);
  json.Set("tokenizer_class", "MarianTokenizer");
  json.Set("unk_token", special.unk);
  return json.Text();
}

std::string SpecialTokensMapJson(const SpecialTokens& special) {
  return Json(Json::Object{{"eos_token", special.eos}, {"pad_token", special.pad}, {"unk_token", special.unk}}).Text();
}

SpecialTokens ParseTokenizerConfigJson(std::string_view text, const std::string& name) {
  const JsonView json(ParseJson(text, name), name);
  const SpecialTokens usual;
  const auto read = [&](const char* key, const std::string& fallback) { return TextOfToken(json.Get(key, fallback)); };
  Check(!json.Get("separate_vocabs", false).Bool(), "{}: separate_vocabs is not supported", name);
  return {read("eos_token", usual.eos), read("unk_token", usual.unk), read("pad_token", usual.pad)};
}

std::string TokenizerJson(const SentencePieceModel& model, const SpecialTokens& special) {
  return FileJson(model, special).Line() + "\n";
}

SentencePieceModel ParseTokenizerJson(std::string_view text, const SpecialTokens& special, const std::string& name) {
  const JsonView json(ParseJson(text, name), name);
  const JsonView given = json["model"];
  const bool bpe = given["type"].String({"BPE", "Unigram"}) == "BPE";
  std::unordered_set<std::string> added;
  for (const JsonView& token : json["added_tokens"].Items()) added.insert(token["content"].String());
  const auto type_of = [&](const std::string& piece) {
    if (piece == special.unk) return Type::unknown;
    return added.contains(piece) ? Type::control : Type::normal;
  };
  SentencePieceModel model;
  model.algorithm = bpe ? SubwordAlgorithm::bpe : SubwordAlgorithm::unigram;
  model.pieces = bpe ? BpePieces(given, type_of) : UnigramPieces(given, type_of);
  model.add_dummy_prefix = model.remove_extra_whitespaces = false;
  for (const JsonView& step : json["normalizer"]["normalizers"].Items()) {
    const std::string kind = step["type"].String();
    if (kind == "Precompiled") model.charsmap = DecodeBase64(step["precompiled_charsmap"].String());
    if (kind == "Prepend") model.add_dummy_prefix = true;
    if (kind == "Replace" && step["pattern"].Get("Regex", "").String() == kSpaceRuns)
      model.remove_extra_whitespaces = true;
  }
  CheckPieces(model, name);
  // The file must say what would be written, and nothing else.
  const Json expected = FileJson(model, special);
  for (const auto& [key, value] : *expected.As<Json::Object>()) {
    const Json* const found = json.value().Find(key);
    Check(found != nullptr && *found == value, "{}: its \"{}\" is not one that headlight writes or supports", name,
          key);
  }
  for (const auto& [key, value] : json.Object())
    Check(expected.Find(key) != nullptr, "{}: key {} is unknown", name, Quoted(key));
  return model;
}

}  // namespace headlight
