#include "headlight/text/tokenizers/marian_files.h"

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/text/tokenizers/base64.h"
#include "headlight/text/tokenizers/tokenizer_json.h"

namespace headlight {
namespace {

using Type = SentencePiece::Type;

constexpr std::string_view kSpaceRuns = " {2,}";

// Returns TextNormalizer's steps as normalizers of the tokenizers library. The library's Precompiled normalizer
// processes one grapheme at a time, but SentencePiece processes the whole text. Rare sequences of combining marks
// therefore give different results. This is a known defect of the library.
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

Json BpeModelJson(const SentencePieceModel& model, const SpecialTokens& special) {
  Json::Object vocabulary;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) vocabulary.push_back({model.pieces[id].text, id});
  std::ranges::sort(vocabulary, {}, &Json::Member::name);
  Json json =
      R"({"byte_fallback": false, "continuing_subword_prefix": null, "dropout": null, "end_of_word_suffix": null,
                  "fuse_unk": true, "ignore_merges": false})"_json;
  json.Set("merges", MergesJson(model.pieces));
  json.Set("type", "BPE");
  json.Set("unk_token", special.unk);
  json.Set("vocab", std::move(vocabulary));
  return json;
}

Json UnigramModelJson(const SentencePieceModel& model) {
  // A special token's score must be below the score of any other segmentation of its spelling, so that the tokenizers
  // library never matches the token in a text.
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

}  // namespace

std::string VocabularyJson(const std::vector<std::string>& pieces) {
  Json::Object vocabulary;
  for (std::size_t id = 0; id < pieces.size(); ++id) vocabulary.push_back({pieces[id], id});
  return Json(std::move(vocabulary)).Text();
}

std::vector<std::string> ParseVocabularyJson(std::string_view text, const std::string& name) {
  const JsonView vocabulary(ParseJson(text, name), name);
  std::vector<std::string> pieces = PiecesById(vocabulary);
  Check(pieces.size() == vocabulary.Object().size(), "{}: {} pieces have ids up to {}, so some ids are missing", name,
        vocabulary.Object().size(), pieces.size() - 1);
  return pieces;
}

std::string TokenizerConfigJson(const SpecialTokens& special, std::int64_t longest) {
  // With split_special_tokens, "</s>" in a text is treated as text.
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

SpecialTokens SpecialTokensOf(const JsonView& config) {
  const SpecialTokens usual;
  const auto read = [&](const char* key, const std::string& fallback) {
    return TextOfToken(config.Get(key, fallback));
  };
  const JsonView separate = config.Get("separate_vocabs", false);
  Check(!separate.Bool(), "{}: separate vocabularies are not supported", separate.location());
  return {read("eos_token", usual.eos), read("unk_token", usual.unk), read("pad_token", usual.pad)};
}

std::string TokenizerJson(const SentencePieceModel& model, const SpecialTokens& special) {
  return FileJson(model, special).Line() + "\n";
}

}  // namespace headlight
