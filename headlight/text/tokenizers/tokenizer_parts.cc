// From a `tokenizer.json` to what runs.
#include <algorithm>

#include "headlight/text/tokenizers/json_part-inl.h"
#include "headlight/text/tokenizers/tokenizer_state.h"

namespace headlight {
namespace {

using Json = nlohmann::json;

constexpr std::int32_t kMostIds = 1 << 22;  // the largest vocabularies have a quarter of a million

void AddNormalizers(JsonPart part, std::vector<Normalizer>& normalizers) {
  const auto type = part.Get<std::string>("type");
  if (type == "Sequence") {
    for (JsonPart& step : part.Objects("normalizers")) AddNormalizers(std::move(step), normalizers);
  } else if (type == "BertNormalizer") {
    BertNormalizer normalizer;
    normalizer.clean_text = part.Get("clean_text", true);
    normalizer.handle_chinese_chars = part.Get("handle_chinese_chars", true);
    normalizer.lowercase = part.Get("lowercase", true);
    normalizer.strip_accents = part.Get("strip_accents", normalizer.lowercase);
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
    if (part.Get<bool>("strip_left")) normalizers.emplace_back(StripLeft);
    if (part.Get<bool>("strip_right")) normalizers.emplace_back(StripRight);
  } else if (type == "Prepend") {
    normalizers.emplace_back(Prepend{part.Get<std::string>("prepend")});
  } else if (type == "Replace") {
    JsonPart pattern = part.Object("pattern");
    const bool regular = pattern.Has("Regex");
    Replace replace{pattern.Get<std::string>(regular ? "Regex" : "String"), part.Get<std::string>("content"),
                    Replace::Kind::text};
    pattern.CheckAllRead();
    Check(!replace.pattern.empty(), "{}: it is empty", pattern.place());
    if (regular) {
      const std::optional<Replace::Kind> kind = KindOfRegularExpression(replace.pattern);
      Check(kind.has_value(), "{}: the regular expression {} is not supported", pattern.place(),
            Json(replace.pattern).dump());
      replace.kind = *kind;
    }
    normalizers.emplace_back(std::move(replace));
  } else if (type == "Precompiled") {
    if (part.Has("precompiled_charsmap"))
      normalizers.emplace_back(Precompiled(DecodeBase64(part.Get<std::string>("precompiled_charsmap")), part.place()));
  } else {
    RefuseType(part, type,
               "BertNormalizer, Lowercase, NFC, NFD, NFKC, NFKD, Precompiled, Prepend, Replace, Sequence, Strip and "
               "StripAccents");
  }
  part.CheckAllRead();
}

std::string Replacement(JsonPart& part) {
  const auto replacement = part.Get<std::string>("replacement", "\u2581");
  Check(!replacement.empty() && DecodeUtf8(replacement).bytes == static_cast<int>(replacement.size()),
        "{}: its replacement must be one character", part.place());
  return replacement;
}

Metaspace::Prepend PrependScheme(JsonPart& part) {
  const bool older = part.Get("add_prefix_space", true);
  const auto scheme = part.Get<std::string>("prepend_scheme", older ? "always" : "never");
  if (scheme == "always") return Metaspace::Prepend::always;
  if (scheme == "first") return Metaspace::Prepend::first;
  Check(scheme == "never", "{}: there is no prepend_scheme {}, only always, first and never", part.place(), scheme);
  return Metaspace::Prepend::never;
}

void AddPreTokenizers(JsonPart part, TokenizerState& state) {
  const auto type = part.Get<std::string>("type");
  if (type == "Sequence") {
    for (JsonPart& step : part.Objects("pretokenizers")) AddPreTokenizers(std::move(step), state);
  } else if (type == "BertPreTokenizer") {
    state.pre_tokenizers.emplace_back(SplitAtSpaces);
    state.pre_tokenizers.emplace_back(SplitPunctuation);
  } else if (type == "WhitespaceSplit") {
    state.pre_tokenizers.emplace_back(SplitAtSpaces);
  } else if (type == "Punctuation") {
    const auto behavior = part.Get<std::string>("behavior", "Isolated");
    Check(behavior == "Isolated", "{}: behavior {} is not supported, only Isolated is", part.place(), behavior);
    state.pre_tokenizers.emplace_back(SplitPunctuation);
  } else if (type == "Digits") {
    state.pre_tokenizers.emplace_back(Digits{part.Get("individual_digits", false)});
  } else if (type == "Metaspace") {
    part.Has("str_rep");  // an older file's; the replacement again
    Metaspace metaspace;
    metaspace.replacement = Replacement(part);
    metaspace.prepend = PrependScheme(part);
    metaspace.split = part.Get("split", true);
    state.pre_tokenizers.emplace_back(std::move(metaspace));
  } else if (type == "ByteLevel") {
    Check(!state.byte_level, "{}: there is another ByteLevel before it", part.place());
    state.byte_level = true;
    part.Has("trim_offsets");  // only the post-processor's counts
    state.pre_tokenizers.emplace_back(
        ByteLevelPreTokenizer{part.Get<bool>("add_prefix_space"), part.Get("use_regex", true)});
  } else {
    RefuseType(part, type, "BertPreTokenizer, ByteLevel, Digits, Metaspace, Punctuation, Sequence and WhitespaceSplit");
  }
  // What comes after would see the characters that stand for bytes.
  Check(!state.byte_level || type == "ByteLevel" || type == "Sequence", "{}: nothing may follow ByteLevel",
        part.place());
  part.CheckAllRead();
}

void SetAddedTokens(std::vector<JsonPart> parts, TokenizerState& state) {
  std::vector<AddedToken> special, others;
  for (JsonPart& part : parts) {
    AddedToken token;
    token.content = part.Get<std::string>("content");
    token.special = part.Get("special", false);
    token.normalized = part.Get("normalized", !token.special);
    token.single_word = part.Get("single_word", false);
    token.lstrip = part.Get("lstrip", false);
    token.rstrip = part.Get("rstrip", false);
    const std::int64_t id = part.Integer("id", 0, kMostIds - 1);
    part.CheckAllRead();
    Check(!token.content.empty(), "{}: its content is empty", part.place());
    token.id = static_cast<std::int32_t>(id);
    if (id >= static_cast<std::int64_t>(state.pieces.size())) state.pieces.resize(id + 1);
    const auto known = state.ids.emplace(token.content, token.id).first->second;
    Check(known == token.id, "{}: its id is {}, but \"{}\" has the id {}", part.place(), id, token.content, known);
    std::string& piece = state.pieces[id];
    Check(piece.empty() || piece == token.content, "{}: its id {} is that of \"{}\"", part.place(), id, piece);
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

std::int32_t ToId(const Json& id, const TokenizerState& state, const std::string& place) {
  Check(id.is_number_unsigned() && id.get<std::uint64_t>() < state.pieces.size(),
        "{}: {} is not the id of a token in the vocabulary of {}", place, id.dump(), state.pieces.size());
  return id.get<std::int32_t>();
}

// ["[SEP]", 102]
std::vector<std::int32_t> NamedId(JsonPart& part, const char* key, const TokenizerState& state) {
  const Json& pair = part.At(key);
  Check(pair.is_array() && pair.size() == 2, "{}: it must be a token and its id", part.Place(key));
  return {ToId(pair[1], state, part.Place(key))};
}

Template ParseTemplate(JsonPart& part, const char* key, const TokenizerState& state) {
  const Json& special = part.At("special_tokens");
  Template result;
  for (JsonPart& item : part.Objects(key)) {
    const bool is_text = item.Has("Sequence");
    JsonPart inner = item.Object(is_text ? "Sequence" : "SpecialToken");
    item.CheckAllRead();
    TemplatePart added;
    const auto id = inner.Get<std::string>("id");
    added.type_id = static_cast<std::int32_t>(inner.Integer("type_id", 0, 1 << 16));
    inner.CheckAllRead();
    if (is_text) {
      Check(id == "A" || id == "B", "{}: there is no text \"{}\", only A and B", inner.place(), id);
      added.text = id == "B" ? 1 : 0;
      Check(id == "A" || key == std::string_view("pair"), "{}: there is no second text", inner.place());
    } else {
      const auto found = special.find(id);
      Check(found != special.end(), "{}: \"{}\" is not among the special_tokens", inner.place(), id);
      for (const Json& token : JsonPart(*found, part.Place("special_tokens")).At("ids"))
        added.ids.push_back(ToId(token, state, inner.place()));
    }
    result.push_back(std::move(added));
  }
  return result;
}

void SetPostProcessor(JsonPart part, TokenizerState& state) {
  const auto type = part.Get<std::string>("type");
  PostProcessor& processor = state.post_processor;
  const auto surround = [&](std::int32_t second_type, bool twice) {
    const std::vector<std::int32_t> cls = NamedId(part, "cls", state), sep = NamedId(part, "sep", state);
    processor.single = {{-1, cls, 0}, {0, {}, 0}, {-1, sep, 0}};
    processor.pair = processor.single;
    if (twice) processor.pair.push_back({-1, sep, 0});
    processor.pair.push_back({1, {}, second_type});
    processor.pair.push_back({-1, sep, second_type});
  };
  const auto trim = [&] {
    const bool add_prefix_space = part.Get("add_prefix_space", true);
    if (part.Get("trim_offsets", true)) processor.trim_offsets = add_prefix_space;
  };
  if (type == "Sequence") {
    for (JsonPart& step : part.Objects("processors")) SetPostProcessor(std::move(step), state);
  } else if (type == "TemplateProcessing") {
    processor.single = ParseTemplate(part, "single", state);
    processor.pair = ParseTemplate(part, "pair", state);
  } else if (type == "BertProcessing") {
    surround(1, false);
  } else if (type == "RobertaProcessing") {
    trim();
    surround(0, true);  // with another </s> between the texts
  } else if (type == "ByteLevel") {
    part.Has("use_regex");
    trim();
  } else {
    RefuseType(part, type, "BertProcessing, ByteLevel, RobertaProcessing, Sequence and TemplateProcessing");
  }
  part.CheckAllRead();
}

void AddDecoders(JsonPart part, std::vector<Decoder>& decoders) {
  const auto type = part.Get<std::string>("type");
  if (type == "Sequence") {
    for (JsonPart& step : part.Objects("decoders")) AddDecoders(std::move(step), decoders);
  } else if (type == "WordPiece") {
    decoders.emplace_back(WordPieceDecoder{part.Get<std::string>("prefix", "##"), part.Get("cleanup", true)});
  } else if (type == "ByteLevel") {
    for (const char* key : {"add_prefix_space", "trim_offsets", "use_regex"}) part.Has(key);  // say nothing here
    decoders.emplace_back(DecodeByteLevel);
  } else if (type == "Metaspace") {
    for (const char* key : {"str_rep", "split"}) part.Has(key);  // say nothing here
    const bool drop_first = PrependScheme(part) != Metaspace::Prepend::never;
    decoders.emplace_back(MetaspaceDecoder{Replacement(part), drop_first});
  } else if (type == "BPEDecoder") {
    decoders.emplace_back(BytePairDecoder{part.Get<std::string>("suffix", "</w>")});
  } else if (type == "ByteFallback") {
    decoders.emplace_back(DecodeBytePieces);
  } else if (type == "Fuse") {
    decoders.emplace_back(FusePieces);
  } else if (type == "Replace") {
    JsonPart pattern = part.Object("pattern");
    ReplaceDecoder replace{pattern.Get<std::string>("String"), part.Get<std::string>("content")};
    pattern.CheckAllRead();
    Check(!replace.pattern.empty(), "{}: it is empty", pattern.place());
    decoders.emplace_back(std::move(replace));
  } else if (type == "Strip") {
    constexpr std::int64_t most = 1 << 20;
    StripDecoder strip{part.Get<std::string>("content"), part.Integer("start", 0, most), part.Integer("stop", 0, most)};
    Check(!strip.content.empty(), "{}: its content is empty", part.place());
    decoders.emplace_back(std::move(strip));
  } else {
    RefuseType(part, type,
               "BPEDecoder, ByteFallback, ByteLevel, Fuse, Metaspace, Replace, Sequence, Strip and WordPiece");
  }
  part.CheckAllRead();
}

}  // namespace

TokenizerState MakeTokenizerState(const Json& json, const std::string& name, ScoresAre scores_are) {
  JsonPart file(json, name);
  TokenizerState state;
  for (const char* key : {"version", "truncation", "padding"}) file.Has(key);  // see TokenizerPipeline
  if (file.Has("normalizer")) AddNormalizers(file.Object("normalizer"), state.normalizers);
  if (file.Has("pre_tokenizer")) AddPreTokenizers(file.Object("pre_tokenizer"), state);
  SetModel(file.Object("model"), scores_are, state);
  if (file.Has("added_tokens")) SetAddedTokens(file.Objects("added_tokens"), state);
  state.special.resize(state.pieces.size());
  if (file.Has("post_processor")) SetPostProcessor(file.Object("post_processor"), state);
  if (file.Has("decoder")) AddDecoders(file.Object("decoder"), state.decoders);
  file.CheckAllRead();
  return state;
}

TokenizerState ParseTokenizerState(std::string_view json, const std::string& name) {
  return WithJson(json, name, [&](const Json& parsed) { return MakeTokenizerState(parsed, name, ScoresAre::text); });
}

}  // namespace headlight
