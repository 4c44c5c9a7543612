#include "headlight/text/tokenizers/tokenizer_files.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "headlight/base/error.h"
#include "headlight/text/tokenizers/json_files-inl.h"

namespace headlight {

using Json = nlohmann::json;

namespace {

Json Replace(const char* kind, std::string_view pattern, std::string_view content) {
  return {{"type", "Replace"}, {"pattern", {{kind, pattern}}}, {"content", content}};
}

constexpr std::string_view kSpaceRuns = " {2,}";

// TextNormalizer in the tokenizers library's terms. Its Precompiled step looks at one grapheme at a time, where
// SentencePiece looks at the text: rare sequences of combining marks come out differently there, a known defect of it.
Json Normalizer(const SentencePieceModel& model) {
  Json steps = Json::array();
  if (!model.charsmap.empty()) {
    steps.push_back({{"type", "Precompiled"}, {"precompiled_charsmap", EncodeBase64(model.charsmap)}});
  }
  if (model.remove_extra_whitespaces) {
    steps.push_back(Replace("Regex", "\\A +", ""));
    steps.push_back(Replace("Regex", kSpaceRuns, " "));
  }
  if (model.add_dummy_prefix) steps.push_back({{"type", "Prepend"}, {"prepend", kSpaceSymbol}});
  steps.push_back(Replace("String", " ", kSpaceSymbol));
  if (model.remove_extra_whitespaces) steps.push_back(Replace("Regex", "\u2581+\\z", ""));
  return {{"type", "Sequence"}, {"normalizers", steps}};
}

// Every way to make a piece of two others, those of the highest score first.
Json Merges(const SentencePieceModel& model) {
  std::vector<const SentencePiece*> ordered;
  std::unordered_set<std::string_view> pieces;
  for (const SentencePiece& piece : model.pieces) {
    if (piece.type != SentencePiece::Type::normal) continue;
    ordered.push_back(&piece);
    pieces.insert(piece.text);
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) { return a->score > b->score; });
  Json merges = Json::array();
  for (const SentencePiece* piece : ordered) {
    const std::string_view text = piece->text;
    for (std::size_t at = 1; at < text.size(); ++at) {
      if (!pieces.contains(text.substr(0, at)) || !pieces.contains(text.substr(at))) continue;
      merges.push_back(Json::array({text.substr(0, at), text.substr(at)}));
    }
  }
  return merges;
}

Json BpeModel(const SentencePieceModel& model, const SpecialTokens& special) {
  Json vocabulary = Json::object();
  for (std::size_t id = 0; id < model.pieces.size(); ++id) vocabulary[model.pieces[id].text] = id;
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", special.unk},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", true},
          {"byte_fallback", false},
          {"ignore_merges", false},
          {"vocab", std::move(vocabulary)},
          {"merges", Merges(model)}};
}

Json UnigramModel(const SentencePieceModel& model) {
  // The tokenizers library would find a special token's spelling in the text; a score below any other way to write it
  // keeps that from happening.
  double least = 0;
  for (const SentencePiece& piece : model.pieces) least = std::min<double>(least, piece.score);
  Json vocabulary = Json::array();
  std::size_t unknown = 0;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    const SentencePiece& piece = model.pieces[id];
    if (piece.type == SentencePiece::Type::unknown) unknown = id;
    const bool normal = piece.type == SentencePiece::Type::normal;
    vocabulary.push_back(Json::array({piece.text, normal ? piece.score : 10 * (least - 10)}));
  }
  return {{"type", "Unigram"}, {"unk_id", unknown}, {"byte_fallback", false}, {"vocab", std::move(vocabulary)}};
}

Json Tokenizers(const SentencePieceModel& model, const SpecialTokens& special) {
  Json added = Json::array();
  std::size_t eos = 0;
  bool words_stand_alone = true;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    const SentencePiece& piece = model.pieces[id];
    if (piece.text == special.eos) eos = id;
    if (piece.type == SentencePiece::Type::normal) {
      words_stand_alone = words_stand_alone && piece.text.find(kSpaceSymbol, 1) == std::string::npos;
      continue;
    }
    added.push_back({{"id", id},
                     {"content", piece.text},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  const auto sequence = [](const char* id) { return Json{{"Sequence", {{"id", id}, {"type_id", 0}}}}; };
  const Json end = {{"SpecialToken", {{"id", special.eos}, {"type_id", 0}}}};
  const Json words = {
      {"type", "Split"}, {"pattern", {{"String", kSpaceSymbol}}}, {"behavior", "MergedWithNext"}, {"invert", false}};
  const Json decoders = Json::array({Replace("String", kSpaceSymbol, " "),
                                     {{"type", "Fuse"}},
                                     {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}});
  return {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", std::move(added)},
      {"normalizer", Normalizer(model)},
      {"pre_tokenizer", words_stand_alone ? words : Json()},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single", Json::array({sequence("A"), end})},
        {"pair", Json::array({sequence("A"), sequence("B"), end})},
        {"special_tokens",
         {{special.eos, {{"id", special.eos}, {"ids", Json::array({eos})}, {"tokens", Json::array({special.eos})}}}}}}},
      {"decoder", {{"type", "Sequence"}, {"decoders", decoders}}},
      {"model", model.algorithm == SubwordAlgorithm::bpe ? BpeModel(model, special) : UnigramModel(model)}};
}

using TypeOf = std::function<SentencePiece::Type(const std::string& piece)>;

// The scores of a BPE model matter by their order alone, which is that of the merges.
std::vector<SentencePiece> BpePieces(const Json& json, const TypeOf& type_of, const std::string& name) {
  std::vector<SentencePiece> pieces;
  std::unordered_map<std::string, float> scores;
  const auto score = [&](const std::string& piece) {
    return scores.emplace(piece, -static_cast<float>(scores.size())).first->second;
  };
  for (const Json& merge : json.at("merges")) score(merge.at(0).get<std::string>() + merge.at(1).get<std::string>());
  for (const std::string& text : PiecesById(json.at("vocab"), name)) {
    const SentencePiece::Type type = type_of(text);
    pieces.push_back({text, type == SentencePiece::Type::normal ? score(text) : 0, type});
  }
  return pieces;
}

std::vector<SentencePiece> UnigramPieces(const Json& json, const TypeOf& type_of) {
  std::vector<SentencePiece> pieces;
  for (const Json& piece : json.at("vocab")) {
    const std::string text = piece.at(0);
    const SentencePiece::Type type = type_of(text);
    pieces.push_back({text, type == SentencePiece::Type::normal ? piece.at(1).get<float>() : 0, type});
  }
  return pieces;
}

}  // namespace

std::string VocabularyJson(const std::vector<std::string>& pieces) {
  std::string text = "{";
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    text += fmt::format("{}\n  {}: {}", id > 0 ? "," : "", Json(pieces[id]).dump(), id);
  }
  return text + "\n}\n";
}

std::vector<std::string> ParseVocabularyJson(std::string_view text, const std::string& name) {
  return WithJson(text, name, [&](const Json& json) { return PiecesById(json, name); });
}

std::string TokenizerConfigJson(const SpecialTokens& special, std::int64_t longest) {
  // split_special_tokens: what stands in a text is text, even where it spells "</s>".
  const Json json = {{"tokenizer_class", "MarianTokenizer"},
                     {"eos_token", special.eos},
                     {"unk_token", special.unk},
                     {"pad_token", special.pad},
                     {"model_max_length", longest},
                     {"separate_vocabs", false},
                     {"split_special_tokens", true},
                     {"clean_up_tokenization_spaces", false}};
  return json.dump(2) + "\n";
}

std::string SpecialTokensMapJson(const SpecialTokens& special) {
  const Json json = {{"eos_token", special.eos}, {"unk_token", special.unk}, {"pad_token", special.pad}};
  return json.dump(2) + "\n";
}

SpecialTokens ParseTokenizerConfigJson(std::string_view text, const std::string& name) {
  return WithJson(text, name, [&](const Json& json) {
    SpecialTokens special;
    Check(json.is_object(), "{}: it must be an object", name);
    const auto read = [&](const char* key, std::string& token) {
      const auto found = json.find(key);
      if (found == json.end() || found->is_null()) return;
      // A token is its text, or an object that says how it is matched.
      token = found->is_object() ? found->at("content").get<std::string>() : found->get<std::string>();
    };
    read("eos_token", special.eos);
    read("unk_token", special.unk);
    read("pad_token", special.pad);
    Check(!json.value("separate_vocabs", false), "{}: separate_vocabs is not supported", name);
    return special;
  });
}

std::string TokenizerJson(const SentencePieceModel& model, const SpecialTokens& special) {
  return Tokenizers(model, special).dump() + "\n";
}

SentencePieceModel ParseTokenizerJson(std::string_view text, const SpecialTokens& special, const std::string& name) {
  return WithJson(text, name, [&](const Json& json) {
    Check(json.is_object(), "{}: it must be an object", name);
    SentencePieceModel model;
    const Json& tokenizer = json.at("model");
    const std::string type = tokenizer.value("type", "none");
    Check(type == "BPE" || type == "Unigram", "{}: model type {} is not supported, only BPE and Unigram are", name,
          type);
    std::unordered_set<std::string> added;
    for (const Json& token : json.at("added_tokens")) added.insert(token.at("content").get<std::string>());
    const auto type_of = [&](const std::string& piece) {
      if (piece == special.unk) return SentencePiece::Type::unknown;
      return added.contains(piece) ? SentencePiece::Type::control : SentencePiece::Type::normal;
    };
    model.algorithm = type == "BPE" ? SubwordAlgorithm::bpe : SubwordAlgorithm::unigram;
    model.pieces = type == "BPE" ? BpePieces(tokenizer, type_of, name) : UnigramPieces(tokenizer, type_of);
    model.add_dummy_prefix = model.remove_extra_whitespaces = false;
    for (const Json& step : json.at("normalizer").at("normalizers")) {
      const std::string kind = step.at("type");
      if (kind == "Precompiled") model.charsmap = DecodeBase64(step.at("precompiled_charsmap").get<std::string>());
      if (kind == "Prepend") model.add_dummy_prefix = true;
      if (step.value("/pattern/Regex"_json_pointer, "") == kSpaceRuns) model.remove_extra_whitespaces = true;
    }
    CheckPieces(model, name);
    // Is that all the file says?
    const Json expected = Tokenizers(model, special);
    for (const auto& [key, value] : expected.items()) {
      Check(json.contains(key) && json[key] == value, "{}: its \"{}\" is not one that headlight writes or supports",
            name, key);
    }
    for (const auto& [key, value] : json.items()) Check(expected.contains(key), "{}: \"{}\" is unknown", name, key);
    return model;
  });
}

}  // namespace headlight
