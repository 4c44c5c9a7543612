// Builds the components of a tokenizer from a `tokenizer.json`.
#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/base/in_file.h"
#include "headlight/text/tokenizers/base64.h"
#include "headlight/text/tokenizers/tokenizer_json.h"

namespace headlight {
namespace {

// These limits bound the cost of hostile files. Published files have at most 12 steps and 10 tokens around a text.
constexpr std::size_t kMostSteps = 64;
constexpr std::size_t kMostAroundTexts = 256;
constexpr std::size_t kLongestReplacement = 256;  // bytes

void CheckSteps(const JsonView& part, std::size_t steps) {
  Check(steps <= kMostSteps, "{}: there are more than {} steps", part.location(), kMostSteps);
}

std::string ShortString(const JsonView& text) {
  std::string given = text.String();
  Check(given.size() <= kLongestReplacement, "{}: {} bytes, but at most {} are allowed", text.location(), given.size(),
        kLongestReplacement);
  return given;
}

TextPattern PatternOf(const JsonView& pattern) {
  const bool regular = pattern["Regex"].present();
  const JsonView given = pattern[regular ? "Regex" : "String"];
  const std::string text = given.String();
  Check(!text.empty(), "{}: it is empty", given.location());
  pattern.RefuseUnread({});
  return regular ? TextPattern::Regular(text, given.location()) : TextPattern(text);
}

void AddNormalizers(const JsonView& part, std::vector<Normalizer>& normalizers) {
  const auto type = part["type"].String();
  if (type == "Sequence") {
    for (const JsonView& step : part["normalizers"].Items()) AddNormalizers(step, normalizers);
  } else if (type == "BertNormalizer") {
    BertNormalizer normalizer;
    normalizer.clean_text = part.Get("clean_text", true).Bool();
    normalizer.handle_chinese_chars = part.Get("handle_chinese_chars", true).Bool();
    normalizer.lowercase = part.Get("lowercase", true).Bool();
    normalizer.strip_accents = part.Get("strip_accents", normalizer.lowercase).Bool();
    normalizers.emplace_back(normalizer);
  } else if (type == "Lowercase") {
    normalizers.emplace_back(Lowercase);
  } else if (type == "NFD" || type == "NFKD" || type == "NFC" || type == "NFKC") {
    const NormalForm form = type == "NFD"    ? NormalForm::nfd
                            : type == "NFKD" ? NormalForm::nfkd
                            : type == "NFC"  ? NormalForm::nfc
                                             : NormalForm::nfkc;
    normalizers.emplace_back([form](NormalizedText& text) { Normalize(form, text); });
  } else if (type == "StripAccents") {
    normalizers.emplace_back(StripAccents);
  } else if (type == "Strip") {
    if (part["strip_left"].Bool()) normalizers.emplace_back(StripLeft);
    if (part["strip_right"].Bool()) normalizers.emplace_back(StripRight);
  } else if (type == "Prepend") {
    normalizers.emplace_back(Prepend{ShortString(part["prepend"])});
  } else if (type == "Replace") {
    TextPattern pattern = PatternOf(part["pattern"]);
    normalizers.emplace_back(Replace{std::move(pattern), ShortString(part["content"])});
  } else if (type == "Nmt") {
    normalizers.emplace_back(NormalizeForTranslation);
  } else if (type == "Precompiled") {
    if (const JsonView rules = part["precompiled_charsmap"]; rules.present())
      normalizers.emplace_back(Precompiled(DecodeBase64(rules.String()), part.location()));
  } else {
    RefuseType(
        part, type,
        "BertNormalizer, Lowercase, NFC, NFD, NFKC, NFKD, Nmt, Precompiled, Prepend, Replace, Sequence, Strip and "
        "StripAccents");
  }
  CheckSteps(part, normalizers.size());
  part.RefuseUnread({});
}

std::string Character(const JsonView& given) {
  const std::string text = given.String();
  Check(!text.empty() && DecodeUtf8(text).bytes == static_cast<int>(text.size()), "{}: it must be one character",
        given.location());
  return text;
}

Metaspace::Prepend PrependScheme(const JsonView& part) {
  const bool older = part.Get("add_prefix_space", true).Bool();
  const auto scheme = part.Get("prepend_scheme", older ? "always" : "never").String({"always", "first", "never"});
  if (scheme == "always") return Metaspace::Prepend::always;
  return scheme == "first" ? Metaspace::Prepend::first : Metaspace::Prepend::never;
}

SplitBehavior BehaviorOf(const JsonView& given) {
  const std::string name = given.String({"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"});
  if (name == "Removed") return SplitBehavior::removed;
  if (name == "Isolated") return SplitBehavior::isolated;
  if (name == "MergedWithPrevious") return SplitBehavior::merged_with_previous;
  return name == "MergedWithNext" ? SplitBehavior::merged_with_next : SplitBehavior::contiguous;
}

void AddPreTokenizers(const JsonView& part, PipelineState& state) {
  const auto type = part["type"].String();
  if (type == "Sequence") {
    for (const JsonView& step : part["pretokenizers"].Items()) AddPreTokenizers(step, state);
  } else if (type == "BertPreTokenizer") {
    state.pre_tokenizers.emplace_back(SplitAtSpaces);
    state.pre_tokenizers.emplace_back(SplitPunctuation{});
  } else if (type == "WhitespaceSplit") {
    state.pre_tokenizers.emplace_back(SplitAtSpaces);
  } else if (type == "Whitespace") {
    state.pre_tokenizers.emplace_back(SplitAtWords);
  } else if (type == "Punctuation") {
    state.pre_tokenizers.emplace_back(SplitPunctuation{BehaviorOf(part.Get("behavior", "Isolated"))});
  } else if (type == "Digits") {
    state.pre_tokenizers.emplace_back(Digits{part.Get("individual_digits", false).Bool()});
  } else if (type == "Split") {
    TextPattern pattern = PatternOf(part["pattern"]);
    state.pre_tokenizers.emplace_back(
        Split{std::move(pattern), BehaviorOf(part["behavior"]), part.Get("invert", false).Bool()});
  } else if (type == "CharDelimiterSplit") {
    state.pre_tokenizers.emplace_back(Split{TextPattern(Character(part["delimiter"])), SplitBehavior::removed});
  } else if (type == "Metaspace") {
    part["str_rep"];  // only in older files; has the value of `replacement`
    Metaspace metaspace;
    metaspace.replacement = Character(part.Get("replacement", "\u2581"));
    metaspace.prepend = PrependScheme(part);
    metaspace.split = part.Get("split", true).Bool();
    state.pre_tokenizers.emplace_back(std::move(metaspace));
  } else if (type == "ByteLevel") {
    Check(!state.byte_level, "{}: it follows another ByteLevel", part.location());
    state.byte_level = true;
    part["trim_offsets"];  // only the post-processor's value is used
    state.pre_tokenizers.emplace_back(
        ByteLevelPreTokenizer{part["add_prefix_space"].Bool(), part.Get("use_regex", true).Bool()});
  } else {
    RefuseType(part, type,
               "BertPreTokenizer, ByteLevel, CharDelimiterSplit, Digits, Metaspace, Punctuation, Sequence, Split, "
               "Whitespace and WhitespaceSplit");
  }
  // A later pre-tokenizer would process ByteLevel's characters instead of the text.
  Check(!state.byte_level || type == "ByteLevel" || type == "Sequence", "{}: nothing may follow ByteLevel",
        part.location());
  CheckSteps(part, state.pre_tokenizers.size());
  part.RefuseUnread({});
}

void SetAddedTokens(const std::vector<JsonView>& parts, bool all_raw, PipelineState& state) {
  std::vector<AddedToken> special, others;
  for (const JsonView& part : parts) {
    AddedToken token;
    token.content = part["content"].String();
    token.special = part.Get("special", false).Bool();
    token.normalized = part.Get("normalized", !token.special).Bool() && !all_raw;
    token.single_word = part.Get("single_word", false).Bool();
    token.lstrip = part.Get("lstrip", false).Bool();
    token.rstrip = part.Get("rstrip", false).Bool();
    const std::int64_t id = part["id"].Integer(0, kMostIds - 1);
    part.RefuseUnread({});
    Check(!token.content.empty(), "{}: its content is empty", part.location());
    token.id = static_cast<std::int32_t>(id);
    if (id >= static_cast<std::int64_t>(state.pieces.size())) state.pieces.resize(id + 1);
    const auto known = state.ids.Insert(token.content, token.id);
    Check(known == token.id, "{}: its id is {}, but \"{}\" has the id {}", part.location(), id, token.content, known);
    std::string& piece = state.pieces[id];
    Check(piece.empty() || piece == token.content, "{}: its id {} is that of \"{}\"", part.location(), id, piece);
    piece = token.content;
    state.special.resize(state.pieces.size());
    state.special[id] = token.special;
    (token.special ? special : others).push_back(std::move(token));
  }
  state.special.resize(state.pieces.size());
  std::vector<AddedToken> raw, normalized;
  for (std::vector<AddedToken>* tokens : {&special, &others}) {
    for (AddedToken& token : *tokens) {
      if (!token.normalized) {
        raw.push_back(std::move(token));
        continue;
      }
      NormalizedText content(token.content, {0, static_cast<std::int32_t>(token.content.size())});
      for (const Normalizer& normalize : state.normalizers) normalize(content);
      if (content.text != token.content) state.written[token.id] = content.text;
      token.content = std::move(content.text);
      if (!token.content.empty()) normalized.push_back(std::move(token));
    }
  }
  state.raw = AddedTokens(std::move(raw));
  state.normalized = AddedTokens(std::move(normalized));
}

// Returns a file's `added_tokens` and the tokens that other files of the folder declare.
std::vector<JsonView> WithDeclared(const TokenizerSettings& settings, const std::vector<JsonView>& added, EntriesOf of,
                                   PipelineState& state) {
  TokenTable table;
  table.ids = std::move(state.ids);
  // The next id is the number of pieces, as in the tokenizers library, even if a piece has a larger id.
  table.size = static_cast<std::int32_t>(table.ids.size());
  AddDeclaredTokens(settings, added, UsualTokens(settings.builds_parts ? settings.family : TokenizerFamily::unknown),
                    table, of);
  state.ids = std::move(table.ids);
  std::vector<JsonView> tokens;
  for (std::size_t i = 0; i < table.added.size(); ++i) tokens.emplace_back(std::move(table.added[i]), table.places[i]);
  return tokens;
}

std::int32_t ToId(const JsonView& id, const PipelineState& state) {
  return static_cast<std::int32_t>(id.Integer(0, std::ssize(state.pieces) - 1));
}

// Parses a token with its id, such as ["[SEP]", 102].
std::vector<std::int32_t> NamedId(const JsonView& part, const PipelineState& state) {
  const std::vector<JsonView> pair = part.Items();
  Check(pair.size() == 2, "{}: it must be a token and its id", part.location());
  return {ToId(pair[1], state)};
}

Template ParseTemplate(const JsonView& part, const char* key, const PipelineState& state) {
  const JsonView special = part["special_tokens"];
  Template result;
  const auto too_many = [&](std::size_t count) {
    Check(count <= kMostAroundTexts, "{}: puts more than {} tokens around a text", part[key].location(),
          kMostAroundTexts);
  };
  const std::vector<JsonView> items = part[key].Items();
  too_many(items.size());
  std::size_t ids = 0;
  for (const JsonView& item : items) {
    const bool is_text = item["Sequence"].present();
    const JsonView inner = item[is_text ? "Sequence" : "SpecialToken"];
    item.RefuseUnread({});
    TemplatePart added;
    const auto id = inner["id"].String();
    added.type_id = static_cast<std::int32_t>(inner["type_id"].Integer(0, 1 << 16));
    inner.RefuseUnread({});
    if (is_text) {
      Check(id == "A" || id == "B", "{}: there is no text \"{}\", only A and B", inner.location(), id);
      added.text = id == "B" ? 1 : 0;
      Check(id == "A" || key == std::string_view("pair"), "{}: there is no second text", inner.location());
    } else {
      const JsonView named = special[id];
      Check(named.present(), "{}: {} is not among the special_tokens", inner.location(), Quoted(id));
      const std::vector<JsonView> tokens = named["ids"].Items();
      too_many(ids += tokens.size());
      for (const JsonView& token : tokens) added.ids.push_back(ToId(token, state));
    }
    result.push_back(std::move(added));
  }
  return result;
}

void SetPostProcessor(const JsonView& part, PipelineState& state) {
  const auto type = part["type"].String();
  PostProcessor& processor = state.post_processor;
  const auto surround = [&](std::int32_t second_type, bool twice) {
    const std::vector<std::int32_t> cls = NamedId(part["cls"], state), sep = NamedId(part["sep"], state);
    processor.single = {{-1, cls, 0}, {0, {}, 0}, {-1, sep, 0}};
    processor.pair = processor.single;
    if (twice) processor.pair.push_back({-1, sep, 0});
    processor.pair.push_back({1, {}, second_type});
    processor.pair.push_back({-1, sep, second_type});
  };
  const auto trim = [&] {
    const bool add_prefix_space = part.Get("add_prefix_space", true).Bool();
    if (part.Get("trim_offsets", true).Bool()) processor.trim_offsets = add_prefix_space;
  };
  if (type == "Sequence") {
    const std::vector<JsonView> steps = part["processors"].Items();
    CheckSteps(part, steps.size());
    for (const JsonView& step : steps) SetPostProcessor(step, state);
  } else if (type == "TemplateProcessing") {
    processor.single = ParseTemplate(part, "single", state);
    processor.pair = ParseTemplate(part, "pair", state);
  } else if (type == "BertProcessing") {
    surround(1, false);
  } else if (type == "RobertaProcessing") {
    trim();
    surround(0, true);  // with another </s> between the texts
  } else if (type == "ByteLevel") {
    part["use_regex"];  // only the pre-tokenizer's value is used
    trim();
  } else {
    RefuseType(part, type, "BertProcessing, ByteLevel, RobertaProcessing, Sequence and TemplateProcessing");
  }
  part.RefuseUnread({});
}

void AddDecoders(const JsonView& part, std::vector<TokenDecoder>& decoders) {
  const auto type = part["type"].String();
  if (type == "Sequence") {
    for (const JsonView& step : part["decoders"].Items()) AddDecoders(step, decoders);
  } else if (type == "WordPiece") {
    decoders.emplace_back(WordPieceDecoder{part.Get("prefix", "##").String(), part.Get("cleanup", true).Bool()});
  } else if (type == "ByteLevel") {
    for (const char* key : {"add_prefix_space", "trim_offsets", "use_regex"}) part[key];  // used by other components
    decoders.emplace_back(DecodeByteLevel);
  } else if (type == "Metaspace") {
    for (const char* key : {"str_rep", "split"}) part[key];  // used by other components
    const bool drop_first = PrependScheme(part) != Metaspace::Prepend::never;
    decoders.emplace_back(MetaspaceDecoder{Character(part.Get("replacement", "\u2581")), drop_first});
  } else if (type == "BPEDecoder") {
    decoders.emplace_back(BytePairDecoder{part.Get("suffix", "</w>").String()});
  } else if (type == "ByteFallback") {
    decoders.emplace_back(DecodeBytePieces);
  } else if (type == "Fuse") {
    decoders.emplace_back(FusePieces);
  } else if (type == "Replace") {
    TextPattern pattern = PatternOf(part["pattern"]);
    decoders.emplace_back(ReplaceDecoder{std::move(pattern), ShortString(part["content"])});
  } else if (type == "Strip") {
    constexpr std::int64_t most = 1 << 20;
    StripDecoder strip{part["content"].String(), part["start"].Integer(0, most), part["stop"].Integer(0, most)};
    Check(!strip.content.empty(), "{}: its content is empty", part.location());
    decoders.emplace_back(std::move(strip));
  } else {
    RefuseType(part, type,
               "BPEDecoder, ByteFallback, ByteLevel, Fuse, Metaspace, Replace, Sequence, Strip and WordPiece");
  }
  CheckSteps(part, decoders.size());
  part.RefuseUnread({});
}

PipelineState Make(const JsonView& file, ScoresAre scores_are, const TokenizerSettings* settings) {
  PipelineState state;
  state.source = file.location();
  if (const JsonView part = file["normalizer"]; part.present()) AddNormalizers(part, state.normalizers);
  if (const JsonView part = file["pre_tokenizer"]; part.present()) AddPreTokenizers(part, state);
  SetModel(file["model"], scores_are, state);
  std::vector<JsonView> added;
  if (const JsonView tokens = file["added_tokens"]; tokens.present()) added = tokens.Items();
  if (settings != nullptr) {
    const EntriesOf of = scores_are == ScoresAre::exact ? EntriesOf::vocabulary : EntriesOf::tokenizer_json;
    added = WithDeclared(*settings, added, of, state);
    const JsonView& config = settings->config;
    state.split_special = config.Get("split_special_tokens", false).Bool();
    state.cuts_beginning = config.Get("truncation_side", "right").String({"right", "left"}) == "left";
    // Cleaning up would damage the output of BPE, whose pieces contain the spaces.
    state.cleans_up = config.Get("clean_up_tokenization_spaces", false).Bool() && !state.is_bpe;
  }
  // The original SigLIP tokenizer matches all added tokens in the raw text.
  const bool own = settings != nullptr && scores_are == ScoresAre::exact;
  SetAddedTokens(added, own && settings->family == TokenizerFamily::siglip, state);
  if (const JsonView part = file["post_processor"]; part.present()) SetPostProcessor(part, state);
  if (const JsonView part = file["decoder"]; part.present()) AddDecoders(part, state.decoders);
  file.RefuseUnread({"version", "truncation", "padding"});  // see PipelineTokenizer
  return state;
}

}  // namespace

PipelineState MakePipelineState(const JsonView& file, ScoresAre scores_are, const TokenizerSettings* settings) {
  return InFile(file.location(), [&] { return Make(file, scores_are, settings); });
}

}  // namespace headlight
