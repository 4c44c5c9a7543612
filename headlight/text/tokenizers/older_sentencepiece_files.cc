// Converts the SentencePiece models of T5, XLM-RoBERTa, mBART, DeBERTa-v2 and SigLIP folders as in Transformers.
#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/text/tokenizers/base64.h"
#include "headlight/text/tokenizers/sentencepiece_model.h"
#include "headlight/text/tokenizers/tokenizer_json.h"

namespace headlight {
namespace {

using Type = SentencePiece::Type;

constexpr std::uint64_t kLargestModel = std::uint64_t{1} << 25;  // bytes; a model with 256,000 pieces has 5 million
constexpr std::int64_t kMostExtraIds = 1 << 16;

// The languages of mBART in the order of their tokens. The original mBART has only the first kFirstLanguages.
constexpr std::array<const char*, 52> kLanguages = {
    "ar_AR", "cs_CZ", "de_DE", "en_XX", "es_XX", "et_EE", "fi_FI", "fr_XX", "gu_IN", "hi_IN", "it_IT",
    "ja_XX", "kk_KZ", "ko_KR", "lt_LT", "lv_LV", "my_MM", "ne_NP", "nl_XX", "ro_RO", "ru_RU", "si_LK",
    "tr_TR", "vi_VN", "zh_CN", "af_ZA", "az_AZ", "bn_IN", "fa_IR", "he_IL", "hr_HR", "id_ID", "ka_GE",
    "km_KH", "mk_MK", "ml_IN", "mn_MN", "mr_IN", "pl_PL", "ps_AF", "pt_XX", "sv_SE", "sw_KE", "ta_IN",
    "te_IN", "th_TH", "tl_XX", "uk_UA", "ur_PK", "xh_ZA", "gl_ES", "sl_SI"};
constexpr std::size_t kFirstLanguages = 25;

// The components of a vocabulary from which a `tokenizer.json` is built.
struct Vocabulary {
  const TokenizerSettings& settings;
  std::string path;  // the model's file
  SentencePieceModel model;
  std::vector<SentencePiece> pieces;  // by id
  TokenTable tokens;

  void Append(const std::string& piece, Type type) { pieces.push_back({piece, 0, type}); }
  std::string Special(const char* name, const char* fallback) const { return settings.Special(name, fallback); }

  void Number() {
    for (; tokens.size < std::ssize(pieces); ++tokens.size) tokens.ids.Insert(pieces[tokens.size].text, tokens.size);
  }
};

// Adds the tokens that are matched in a text before segmentation: special and user-defined tokens.
void AddTokens(Vocabulary& vocabulary) {
  AddDeclaredTokens(vocabulary.settings, {}, UsualTokens(vocabulary.settings.family), vocabulary.tokens);
  for (const SentencePiece& piece : vocabulary.pieces)
    if (piece.type == Type::control || piece.type == Type::user_defined)
      vocabulary.tokens.Add({piece.text, vocabulary.path}, piece.type == Type::control, false, false);
}

Json ModelJson(const Vocabulary& vocabulary) {
  const auto& pieces = vocabulary.pieces;
  const auto unknown =
      std::find_if(pieces.begin(), pieces.end(), [](const auto& p) { return p.type == Type::unknown; });
  Json json = Json::Object{{"byte_fallback", vocabulary.model.byte_fallback}};
  if (vocabulary.model.algorithm == SubwordAlgorithm::unigram) {
    Json::Array list;
    for (const SentencePiece& piece : pieces)
      list.emplace_back(Json::Array{piece.text, static_cast<double>(piece.score)});
    json.Set("type", "Unigram");
    json.Set("unk_id", unknown - pieces.begin());
    json.Set("vocab", std::move(list));
    return json;
  }
  Json::Object numbered;
  std::unordered_set<std::string_view> seen;
  for (const SentencePiece& piece : pieces) {
    Check(seen.insert(piece.text).second, "{}: {} occurs twice", vocabulary.path, Quoted(piece.text));
    numbered.push_back({piece.text, numbered.size()});
  }
  json.Set("type", "BPE");
  json.Set("unk_token", unknown->text);
  json.Set("fuse_unk", true);
  json.Set("merges", MergesJson(pieces));
  json.Set("vocab", std::move(numbered));
  return json;
}

// Sets the components in which the families differ. For `single` and `pair`, see TemplateProcessorJson.
Json FamilyJson(const Vocabulary& vocabulary, Json normalizer, const std::vector<std::string>& single,
                const std::vector<std::string>& pair, int second_type = 0) {
  Json json = Json::Object{};
  json.Set("normalizer", std::move(normalizer));
  json.Set("post_processor", TemplateProcessorJson(single, pair, second_type, [&](const std::string& token) {
             const std::int32_t found = vocabulary.tokens.ids.Find(token);
             Check(found >= 0, "{}: {} is not in the vocabulary", vocabulary.settings.config.location(), Quoted(token));
             return static_cast<std::uint64_t>(found);
           }));
  return json;
}

// Numbers the pieces as in fairseq: <s>, <pad>, </s>, <unk>, then all pieces after the model's <unk>, <s> and </s>.
void NumberAsFairseq(Vocabulary& vocabulary) {
  const std::vector<SentencePiece>& given = vocabulary.model.pieces;
  Check(given.size() > 3 && given[0].type == Type::unknown, "{}: the first of at least four pieces must be <unk>",
        vocabulary.path);
  vocabulary.Append(vocabulary.Special("bos_token", "<s>"), Type::control);
  vocabulary.Append(vocabulary.Special("pad_token", "<pad>"), Type::control);
  vocabulary.Append(vocabulary.Special("eos_token", "</s>"), Type::control);
  vocabulary.Append(vocabulary.Special("unk_token", "<unk>"), Type::unknown);
  vocabulary.pieces.insert(vocabulary.pieces.end(), given.begin() + 3, given.end());
}

Json PrecompiledJson(const Vocabulary& vocabulary) {
  if (vocabulary.model.charsmap.empty()) return Json();
  return Json::Object{{"type", "Precompiled"}, {"precompiled_charsmap", EncodeBase64(vocabulary.model.charsmap)}};
}

Json T5(Vocabulary& vocabulary) {
  vocabulary.pieces = vocabulary.model.pieces;
  const std::int64_t extra = vocabulary.settings.config.Get("extra_ids", 100).Integer(0, kMostExtraIds);
  for (std::int64_t id = extra; id-- > 0;) vocabulary.Append(fmt::format("<extra_id_{}>", id), Type::control);
  vocabulary.Number();
  AddTokens(vocabulary);
  const std::string eos = vocabulary.Special("eos_token", "</s>");
  return FamilyJson(vocabulary, PrecompiledJson(vocabulary), {"$A", eos}, {"$A", eos, "$B", eos});
}

Json XlmRoberta(Vocabulary& vocabulary) {
  NumberAsFairseq(vocabulary);
  vocabulary.Append(vocabulary.Special("mask_token", "<mask>"), Type::control);
  vocabulary.Number();
  AddTokens(vocabulary);
  const std::string bos = vocabulary.Special("bos_token", "<s>"), eos = vocabulary.Special("eos_token", "</s>");
  return FamilyJson(vocabulary, PrecompiledJson(vocabulary), {bos, "$A", eos}, {bos, "$A", eos, eos, "$B", eos});
}

// Builds mBART's tokenizer. The language follows the text, or precedes it in mBART-50.
Json Mbart(Vocabulary& vocabulary, bool fifty) {
  NumberAsFairseq(vocabulary);
  for (std::size_t i = 0; i < (fifty ? kLanguages.size() : kFirstLanguages); ++i)
    vocabulary.Append(kLanguages[i], Type::control);
  vocabulary.Append(vocabulary.Special("mask_token", "<mask>"), Type::control);
  vocabulary.Number();
  AddTokens(vocabulary);
  const std::string language = vocabulary.Special("src_lang", "en_XX"), eos = vocabulary.Special("eos_token", "</s>");
  if (!fifty)
    return FamilyJson(vocabulary, PrecompiledJson(vocabulary), {"$A", eos, language}, {"$A", "$B", eos, language});
  return FamilyJson(vocabulary,
                    SequenceJson("normalizers", {PrecompiledJson(vocabulary), ReplaceJson("Regex", " {2,}", " ")}),
                    {language, "$A", eos}, {language, "$A", "$B", eos});
}

Json DebertaV2(Vocabulary& vocabulary) {
  vocabulary.pieces = vocabulary.model.pieces;
  vocabulary.Number();
  AddTokens(vocabulary);
  const std::string cls = vocabulary.Special("cls_token", "[CLS]"), sep = vocabulary.Special("sep_token", "[SEP]");
  const bool lower = vocabulary.settings.config.Get("do_lower_case", false).Bool();
  return FamilyJson(vocabulary,
                    SequenceJson("normalizers", {lower ? R"({"type": "Lowercase"})"_json : Json(),
                                                 R"({"type": "Strip", "strip_left": true, "strip_right": true})"_json,
                                                 PrecompiledJson(vocabulary), ReplaceJson("Regex", " {2,}", " ")}),
                    {cls, "$A", sep}, {cls, "$A", sep, "$B", sep}, 1);
}

// Builds SigLIP's tokenizer, which applies additional steps before SentencePiece (see SiglipText).
Json Siglip(Vocabulary& vocabulary) {
  vocabulary.pieces = vocabulary.model.pieces;
  vocabulary.Number();
  for (const SentencePiece& piece : vocabulary.pieces)
    Check(piece.type != Type::user_defined, "{}: the user-defined piece {} is not supported for SigLIP",
          vocabulary.path, Quoted(piece.text));
  const TokenizerSettings& settings = vocabulary.settings;
  // A tokenizer.json is only used for its added tokens, and only if the settings have none.
  std::vector<JsonView> entries;
  if (const std::string path = settings.folder + "/tokenizer.json"; Exists(path) && ReadsModelFirst(settings))
    if (const JsonView added = ReadJson(path)["added_tokens"];
        added.present() && !settings.config["added_tokens_decoder"].present())
      entries = added.Items();
  AddDeclaredTokens(settings, entries, UsualTokens(settings.family), vocabulary.tokens);
  for (std::size_t i = 0; i < vocabulary.tokens.added.size(); ++i)
    Check(*vocabulary.tokens.added[i].Find("single_word") == Json(false), "{}: single_word is not supported for SigLIP",
          vocabulary.tokens.places[i]);
  const std::string eos = vocabulary.Special("eos_token", "</s>");
  return FamilyJson(vocabulary, Json(), {"$A", eos}, {"$A", eos, "$B", eos});
}

}  // namespace

Json TokenizerJsonOfSentencePiece(const TokenizerSettings& settings, std::string_view model, const std::string& path) {
  Vocabulary vocabulary{settings, path, ParseSentencePieceModel(model, path), {}, {}};
  Json words = R"({"type": "WhitespaceSplit"})"_json, json;
  switch (settings.family) {
    case TokenizerFamily::xlm_roberta:
      json = XlmRoberta(vocabulary);
      break;
    case TokenizerFamily::mbart50:
      json = Mbart(vocabulary, true);
      words = Json();
      break;
    case TokenizerFamily::mbart:
      json = Mbart(vocabulary, false);
      break;
    case TokenizerFamily::deberta_v2:
      json = DebertaV2(vocabulary);
      words = settings.config.Get("split_by_punct", false).Bool() ? R"({"type": "Punctuation"})"_json : Json();
      break;
    case TokenizerFamily::siglip:
      json = Siglip(vocabulary);
      words = Json();
      break;
    case TokenizerFamily::t5:
      json = T5(vocabulary);
      break;
    default:
      Fail(
          "{}: neither tokenizer_config.json (tokenizer_class) nor config.json (model_type) says which family this "
          "vocabulary is of; known are T5, XLM-RoBERTa, mBART, DeBERTa-v2 and SigLIP",
          path);
  }
  Json metaspace = R"({"type": "Metaspace", "replacement": "\u2581"})"_json;
  metaspace.Set("prepend_scheme", settings.config.Get("add_prefix_space", true).Bool() ? "always" : "never");
  if (settings.family != TokenizerFamily::siglip)
    json.Set("pre_tokenizer", SequenceJson("pretokenizers", {std::move(words), metaspace}));
  const bool bytes = vocabulary.model.byte_fallback;
  json.Set("decoder", SequenceJson("decoders", {bytes ? R"({"type": "ByteFallback"})"_json : Json(), metaspace}));
  json.Set("model", ModelJson(vocabulary));
  json.Set("added_tokens", std::move(vocabulary.tokens.added));
  return json;
}

std::optional<Json> TokenizerJsonOfSentencePiece(const TokenizerSettings& settings) {
  constexpr std::array<const char*, 3> files = {"/spiece.model", "/sentencepiece.bpe.model", "/spm.model"};
  const auto* const file =
      std::ranges::find_if(files, [&](const char* name) { return Exists(settings.folder + name); });
  if (file == files.end()) return std::nullopt;
  const std::string path = settings.folder + *file;
  return TokenizerJsonOfSentencePiece(settings, ReadFile(path, kLargestModel), path);
}

}  // namespace headlight
