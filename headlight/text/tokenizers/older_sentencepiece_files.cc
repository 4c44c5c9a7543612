// SentencePiece models in the folders of T5, XLM-RoBERTa, mBART and DeBERTa-v2: what Transformers makes of them.
#include <algorithm>
#include <array>
#include <filesystem>
#include <unordered_map>

#include "headlight/base/file.h"
#include "headlight/text/characters.h"
#include "headlight/text/tokenizers/json_files-inl.h"
#include "headlight/text/tokenizers/older_tokenizer_settings-inl.h"
#include "headlight/text/tokenizers/sentencepiece_model.h"

namespace headlight {
namespace {

using Json = nlohmann::json;
using Type = SentencePiece::Type;

constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 25;  // bytes; those of 256,000 pieces have 5 million
constexpr std::int64_t kMostExtraIds = 1 << 16;

// The languages that an mBART is trained on, in the order of their tokens: of all, and of mBART-50.
constexpr std::array<const char*, 52> kLanguages = {
    "ar_AR", "cs_CZ", "de_DE", "en_XX", "es_XX", "et_EE", "fi_FI", "fr_XX", "gu_IN", "hi_IN", "it_IT",
    "ja_XX", "kk_KZ", "ko_KR", "lt_LT", "lv_LV", "my_MM", "ne_NP", "nl_XX", "ro_RO", "ru_RU", "si_LK",
    "tr_TR", "vi_VN", "zh_CN", "af_ZA", "az_AZ", "bn_IN", "fa_IR", "he_IL", "hr_HR", "id_ID", "ka_GE",
    "km_KH", "mk_MK", "ml_IN", "mn_MN", "mr_IN", "pl_PL", "ps_AF", "pt_XX", "sv_SE", "sw_KE", "ta_IN",
    "te_IN", "th_TH", "tl_XX", "uk_UA", "ur_PK", "xh_ZA", "gl_ES", "sl_SI"};
constexpr std::size_t kFirstLanguages = 25;

// A vocabulary on its way to a `tokenizer.json`.
struct Vocabulary {
  const TokenizerSettings& settings;
  SentencePieceModel model;
  std::vector<SentencePiece> pieces;                 // numbered as the model that reads them has them
  std::unordered_map<std::string, std::size_t> ids;  // of those, and of tokens that were added
  std::size_t size = 0;                              // the largest id and one
  Json added = Json::array();

  void Append(const std::string& piece, Type type) { pieces.push_back({piece, 0, type}); }
  std::string Special(const char* name, const char* usual) const { return SpecialToken(settings.config, name, usual); }

  void Number() {
    for (; size < pieces.size(); ++size) ids.emplace(pieces[size].text, size);
  }
  // What a token's object says of how it is looked for is kept; one that the vocabulary lacks comes after all others.
  void Add(const std::string& content, bool special, const Json& token = Json(), bool lstrip = false) {
    if (std::any_of(added.begin(), added.end(), [&](const Json& other) { return other["content"] == content; })) return;
    const auto [found, is_new] = ids.emplace(content, size);
    if (is_new) ++size;
    Json entry = {{"id", found->second}, {"content", content}, {"special", special}, {"normalized", false}};
    entry["lstrip"] = lstrip;
    for (const char* flag : {"lstrip", "rstrip", "single_word", "normalized"})
      if (token.is_object() && token.contains(flag)) entry[flag] = token[flag];
    added.push_back(std::move(entry));
  }
  Json Named(const std::string& piece) const {
    const auto found = ids.find(piece);
    Check(found != ids.end(), "{}: the vocabulary lacks \"{}\"", settings.folder, piece);
    return {{"id", piece}, {"ids", Json::array({found->second})}, {"tokens", Json::array({piece})}};
  }
};

std::string TextOf(const Json& token) {
  return token.is_object() ? token.at("content").get<std::string>() : token.get<std::string>();
}

// The tokens that are looked for in a text: special ones, and those that somebody added.
void AddTokens(Vocabulary& vocabulary, bool mask_takes_space,
               const std::vector<std::pair<const char*, const char*>>& usual) {
  const Json& config = vocabulary.settings.config;
  if (const auto found = config.find("added_tokens_decoder"); found != config.end()) {
    for (const auto& [id, token] : found->items()) {
      const std::string content = TextOf(token);
      Check(!id.empty() && id.size() < 9 && id.find_first_not_of("0123456789") == std::string::npos,
            "{}: tokenizer_config.json: added_tokens_decoder: \"{}\" is no id", vocabulary.settings.folder, id);
      if (!vocabulary.ids.contains(content)) vocabulary.ids.emplace(content, std::stoul(id));
      vocabulary.size = std::max(vocabulary.size, vocabulary.ids.at(content) + 1);
      vocabulary.Add(content, token.value("special", false), token);
    }
  }
  std::vector<std::pair<std::int64_t, std::string>> more;
  for (const auto& [piece, id] : vocabulary.settings.added.items()) more.emplace_back(id.get<std::int64_t>(), piece);
  for (const auto& [id, piece] : more) {
    Check(id >= 0 && id < 1 << 22, "{}: added_tokens.json: the id of \"{}\" is {}", vocabulary.settings.folder, piece,
          id);
    if (vocabulary.ids.emplace(piece, id).second)
      vocabulary.size = std::max(vocabulary.size, static_cast<std::size_t>(id) + 1);
  }
  for (const auto& [name, text] : usual) {
    const Json token = config.contains(name) ? config[name] : Json();
    vocabulary.Add(SpecialToken(config, name, text), true, token,
                   mask_takes_space && name == std::string_view("mask_token"));
  }
  for (const char* name : {"additional_special_tokens", "extra_special_tokens"}) {
    const auto found = config.find(name);
    if (found == config.end() || found->is_null()) continue;
    for (const Json& token : *found) vocabulary.Add(TextOf(token), true, token);
  }
  std::sort(more.begin(), more.end());
  for (const auto& [id, piece] : more) vocabulary.Add(piece, false);
  for (const SentencePiece& piece : vocabulary.pieces) {
    if (piece.type == Type::control) vocabulary.Add(piece.text, true);
    if (piece.type == Type::user_defined) vocabulary.Add(piece.text, false);
  }
}

// By the order in which SentencePiece would merge: of pieces of one score, the merges with the shorter parts first.
Json MergesOf(const Vocabulary& vocabulary) {
  struct Merge {
    float score;
    std::string left, right;
  };
  std::vector<Merge> merges;
  const auto is_part = [&](const std::string& part) {
    const auto found = vocabulary.ids.find(part);
    return found != vocabulary.ids.end() && found->second < vocabulary.pieces.size() &&
           vocabulary.pieces[found->second].type == Type::normal;
  };
  for (const SentencePiece& piece : vocabulary.pieces) {
    if (piece.type != Type::normal) continue;
    ForEachCharacter(piece.text, [&](char32_t, std::size_t begin, std::size_t) {
      std::string left = piece.text.substr(0, begin), right = piece.text.substr(begin);
      if (begin > 0 && is_part(left) && is_part(right))
        merges.push_back({piece.score, std::move(left), std::move(right)});
    });
  }
  std::stable_sort(merges.begin(), merges.end(), [](const Merge& a, const Merge& b) { return a.score > b.score; });
  Json json = Json::array();
  for (Merge& merge : merges) json.push_back({std::move(merge.left), std::move(merge.right)});
  return json;
}

Json ModelOf(const Vocabulary& vocabulary) {
  const auto& pieces = vocabulary.pieces;
  const auto unknown =
      std::find_if(pieces.begin(), pieces.end(), [](const auto& p) { return p.type == Type::unknown; });
  Json json = {{"byte_fallback", vocabulary.model.byte_fallback}};
  if (vocabulary.model.algorithm == SubwordAlgorithm::unigram) {
    json["type"] = "Unigram";
    json["unk_id"] = unknown - pieces.begin();
    Json& list = json["vocab"] = Json::array();
    for (const SentencePiece& piece : pieces) list.push_back({piece.text, piece.score});
    return json;
  }
  json["type"] = "BPE";
  json["unk_token"] = unknown->text;
  json["fuse_unk"] = true;
  json["merges"] = MergesOf(vocabulary);
  Json& numbered = json["vocab"] = Json::object();
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    Check(!numbered.contains(pieces[id].text), "{}: \"{}\" is there twice", vocabulary.settings.folder,
          pieces[id].text);
    numbered[pieces[id].text] = id;
  }
  return json;
}

// A template such as {"<s>", "$A", "</s>"}; what follows $B is of the second part where `second_type` is 1.
Json TemplateOf(const std::vector<std::string>& parts, int second_type) {
  Json json = Json::array();
  int type = 0;
  for (const std::string& part : parts) {
    if (part == "$B") type = second_type;
    const bool text = part == "$A" || part == "$B";
    json.push_back({{text ? "Sequence" : "SpecialToken", {{"id", text ? part.substr(1) : part}, {"type_id", type}}}});
  }
  return json;
}

Json ProcessorOf(const Vocabulary& vocabulary, const std::vector<std::string>& single,
                 const std::vector<std::string>& pair, int second_type) {
  Json special = Json::object();
  for (const std::string& part : single)
    if (part != "$A") special[part] = vocabulary.Named(part);
  return {{"type", "TemplateProcessing"},
          {"single", TemplateOf(single, second_type)},
          {"pair", TemplateOf(pair, second_type)},
          {"special_tokens", std::move(special)}};
}

// The pieces without the model's first three, <unk>, <s> and </s>, behind <s>, <pad>, </s> and <unk>, as fairseq
// numbers them.
void NumberAsFairseq(Vocabulary& vocabulary) {
  const std::vector<SentencePiece>& given = vocabulary.model.pieces;
  Check(given.size() > 3 && given[0].type == Type::unknown, "{}: the first of at least four pieces must be <unk>",
        vocabulary.settings.folder);
  vocabulary.Append(vocabulary.Special("bos_token", "<s>"), Type::control);
  vocabulary.Append(vocabulary.Special("pad_token", "<pad>"), Type::control);
  vocabulary.Append(vocabulary.Special("eos_token", "</s>"), Type::control);
  vocabulary.Append(vocabulary.Special("unk_token", "<unk>"), Type::unknown);
  vocabulary.pieces.insert(vocabulary.pieces.end(), given.begin() + 3, given.end());
}

const std::vector<std::pair<const char*, const char*>> kFairseqTokens = {
    {"bos_token", "<s>"},   {"eos_token", "</s>"}, {"unk_token", "<unk>"},  {"sep_token", "</s>"},
    {"pad_token", "<pad>"}, {"cls_token", "<s>"},  {"mask_token", "<mask>"}};

Json PrecompiledOf(const Vocabulary& vocabulary) {
  if (vocabulary.model.charsmap.empty()) return Json();
  return {{"type", "Precompiled"}, {"precompiled_charsmap", EncodeBase64(vocabulary.model.charsmap)}};
}

Json SequenceOf(const char* name, Json steps) {
  Json present = Json::array();
  for (Json& step : steps)
    if (!step.is_null()) present.push_back(std::move(step));
  return {{"type", "Sequence"}, {name, std::move(present)}};
}

Json T5(Vocabulary& vocabulary) {
  const Json& config = vocabulary.settings.config;
  vocabulary.pieces = vocabulary.model.pieces;
  const auto extra = config.value("extra_ids", std::int64_t{100});
  Check(extra >= 0 && extra <= kMostExtraIds, "{}: tokenizer_config.json: \"extra_ids\" is {}, it must be from 0 to {}",
        vocabulary.settings.folder, extra, kMostExtraIds);
  for (std::int64_t id = extra; id-- > 0;) vocabulary.Append(fmt::format("<extra_id_{}>", id), Type::control);
  vocabulary.Number();
  AddTokens(vocabulary, false, {{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}});
  const std::string eos = vocabulary.Special("eos_token", "</s>");
  return {{"normalizer", PrecompiledOf(vocabulary)},
          {"post_processor", ProcessorOf(vocabulary, {"$A", eos}, {"$A", eos, "$B", eos}, 0)}};
}

Json XlmRoberta(Vocabulary& vocabulary) {
  NumberAsFairseq(vocabulary);
  vocabulary.Append(vocabulary.Special("mask_token", "<mask>"), Type::control);
  vocabulary.Number();
  AddTokens(vocabulary, true, kFairseqTokens);
  const std::string bos = vocabulary.Special("bos_token", "<s>"), eos = vocabulary.Special("eos_token", "</s>");
  return {{"normalizer", PrecompiledOf(vocabulary)},
          {"post_processor", ProcessorOf(vocabulary, {bos, "$A", eos}, {bos, "$A", eos, eos, "$B", eos}, 0)}};
}

// The language of the text stands behind it or, in mBART-50, before it.
Json Mbart(Vocabulary& vocabulary, bool fifty) {
  NumberAsFairseq(vocabulary);
  for (std::size_t i = 0; i < (fifty ? kLanguages.size() : kFirstLanguages); ++i)
    vocabulary.Append(kLanguages[i], Type::control);
  vocabulary.Append(vocabulary.Special("mask_token", "<mask>"), Type::control);
  vocabulary.Number();
  AddTokens(vocabulary, true, kFairseqTokens);
  const std::string language = vocabulary.Special("src_lang", "en_XX"), eos = vocabulary.Special("eos_token", "</s>");
  const Json spaces = {{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}};
  if (!fifty) {
    return {{"normalizer", PrecompiledOf(vocabulary)},
            {"post_processor", ProcessorOf(vocabulary, {"$A", eos, language}, {"$A", "$B", eos, language}, 0)}};
  }
  return {{"normalizer", SequenceOf("normalizers", {PrecompiledOf(vocabulary), spaces})},
          {"post_processor", ProcessorOf(vocabulary, {language, "$A", eos}, {language, "$A", "$B", eos}, 0)}};
}

Json DebertaV2(Vocabulary& vocabulary) {
  const Json& config = vocabulary.settings.config;
  vocabulary.pieces = vocabulary.model.pieces;
  vocabulary.Number();
  AddTokens(vocabulary, false,
            {{"bos_token", "[CLS]"},
             {"eos_token", "[SEP]"},
             {"unk_token", "[UNK]"},
             {"sep_token", "[SEP]"},
             {"pad_token", "[PAD]"},
             {"cls_token", "[CLS]"},
             {"mask_token", "[MASK]"}});
  const std::string cls = vocabulary.Special("cls_token", "[CLS]"), sep = vocabulary.Special("sep_token", "[SEP]");
  const Json lower = config.value("do_lower_case", false) ? Json::object({{"type", "Lowercase"}}) : Json();
  const Json strip = {{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}};
  const Json spaces = {{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}};
  return {{"normalizer", SequenceOf("normalizers", {lower, strip, PrecompiledOf(vocabulary), spaces})},
          {"post_processor", ProcessorOf(vocabulary, {cls, "$A", sep}, {cls, "$A", sep, "$B", sep}, 1)}};
}

}  // namespace

Json TokenizerJsonOfSentencePiece(const TokenizerSettings& settings, std::string_view model, const std::string& path) {
  Vocabulary vocabulary{settings, ParseSentencePieceModel(model, path), {}, {}, 0, Json::array()};
  const auto is = [&](const char* name) { return settings.kind.find(name) != std::string::npos; };
  Json words = Json::object({{"type", "WhitespaceSplit"}}), json;
  if (is("XLMRoberta") || is("xlm-roberta")) {
    json = XlmRoberta(vocabulary);
  } else if (is("MBart50")) {
    json = Mbart(vocabulary, true);
    words = Json();
  } else if (is("MBart") || is("mbart")) {
    json = Mbart(vocabulary, false);
  } else if (is("DebertaV2") || is("deberta-v2")) {
    json = DebertaV2(vocabulary);
    words = settings.config.value("split_by_punct", false) ? Json::object({{"type", "Punctuation"}}) : Json();
  } else if (is("T5") || is("t5")) {  // after MBart50, which has it in its name
    json = T5(vocabulary);
  } else {
    Fail(
        "{}: whose vocabulary this is, neither tokenizer_config.json (tokenizer_class) nor config.json (model_type) "
        "says; known are those of T5, XLM-RoBERTa, mBART and DeBERTa-v2",
        path);
  }
  const char* const prepend = settings.config.value("add_prefix_space", true) ? "always" : "never";
  const Json metaspace = {{"type", "Metaspace"}, {"replacement", kSpaceSymbol}, {"prepend_scheme", prepend}};
  const Json bytes = vocabulary.model.byte_fallback ? Json::object({{"type", "ByteFallback"}}) : Json();
  json["pre_tokenizer"] = SequenceOf("pretokenizers", {words, metaspace});
  json["decoder"] = SequenceOf("decoders", {bytes, metaspace});
  json["model"] = ModelOf(vocabulary);
  json["added_tokens"] = std::move(vocabulary.added);
  return json;
}

std::optional<Json> TokenizerJsonOfSentencePiece(const TokenizerSettings& settings) {
  constexpr std::array<const char*, 3> files = {"/spiece.model", "/sentencepiece.bpe.model", "/spm.model"};
  std::error_code error;
  const auto* const file = std::find_if(files.begin(), files.end(), [&](const char* name) {
    return std::filesystem::exists(settings.folder + name, error) || error;
  });
  if (file == files.end()) return std::nullopt;
  const std::string path = settings.folder + *file;
  return TokenizerJsonOfSentencePiece(settings, ReadFile(path, kLargestFile), path);
}

}  // namespace headlight
