#include "headlight/text/tokenizers/pipeline_tokenizer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/gguf.h"
#include "headlight/base/in_file.h"
#include "headlight/text/token_label.h"
#include "headlight/text/tokenizers/gguf_tokenizer.h"
#include "headlight/text/tokenizers/older_tokenizer_files.h"
#include "headlight/text/tokenizers/tokenizer_json.h"

namespace headlight {
namespace {

constexpr std::uint64_t kLargestPipeline = std::uint64_t{1} << 26;  // bytes; 500,000 pieces take about half of this
constexpr std::size_t kMostDecoderGrowth = 32;                      // limit on how much decoders lengthen a text
constexpr std::size_t kLongestTokenizedText = std::size_t{1}
                                              << 28;  // bytes, so that offsets in the normalized text fit 32 bits

// The white space at the ends of a piece, in characters.
struct EdgeSpaces {
  std::int32_t leading, trailing;
};

// Counts the white space at the ends of a piece. In a byte-level piece, only the space counts as white space.
EdgeSpaces SpacesAround(std::string_view piece, bool byte_level) {
  if (byte_level) {
    const std::size_t begin = std::min(piece.find_first_not_of(' '), piece.size());
    const std::size_t end = piece.find_last_not_of(' ') + 1;  // npos + 1 is 0
    return {static_cast<std::int32_t>(begin), static_cast<std::int32_t>(piece.size() - end)};
  }
  EdgeSpaces spaces{0, 0};
  if (ValidUtf8(piece) != piece.size()) return spaces;  // the piece is an incomplete character
  bool all = true;
  ForEachCharacter(piece, [&](char32_t character, std::size_t, std::size_t) {
    const bool space = IsWhiteSpace(character);
    all = all && space;
    if (all) ++spaces.leading;
    spaces.trailing = space ? spaces.trailing + 1 : 0;
  });
  return spaces;
}

// Removes the white space at the ends of a token from its span, as in GPT-2's and RoBERTa's tokenizers.
void TrimSpan(std::string_view text, EdgeSpaces spaces, bool first, bool add_prefix_space, TextSpan& span) {
  const auto is_middle = [&](std::int32_t byte) {
    return byte < static_cast<std::int64_t>(text.size()) && (text[byte] & 0xC0) == 0x80;
  };
  const bool added = (first || span.begin == 0) && add_prefix_space && spaces.leading == 1;
  for (std::int32_t i = added ? spaces.leading : 0; i < spaces.leading && span.begin < span.end; ++i) {
    do ++span.begin;
    while (is_middle(span.begin));
  }
  std::int32_t end = span.end;
  for (std::int32_t i = 0; i < spaces.trailing; ++i) {
    if (end == 0) return;
    do --end;
    while (is_middle(end));
  }
  span.end = std::max(end, span.begin);
}

// Applies a tokenizer's components to a text.
class Encoder {
 public:
  Encoder(const PipelineState& state, bool read_special) : state_(state), read_special_(read_special) {}

  struct Token {
    std::int32_t id;
    TextSpan span;
    EdgeSpaces spaces;
    std::int32_t word;
  };

  std::vector<Token> Run(std::string_view text) {
    std::vector<AddedTokens::Part> stretches = state_.raw.Split(text, read_special_);
    // Even an empty text begins with U+2581.
    if (state_.siglip && (stretches.empty() || stretches[0].id >= 0)) stretches.insert(stretches.begin(), {-1, {0, 0}});
    for (const AddedTokens::Part& part : stretches) {
      NormalizedText stretch(text, part.span);
      if (part.id >= 0) {
        const bool lone = state_.siglip && tokens_.size() == 1 && state_.pieces[tokens_[0].id] == kSpaceSymbol;
        if (lone && state_.special[part.id]) tokens_.clear();
        Add(part.id, stretch, {0, stretch.size()});
        continue;
      }
      if (state_.siglip) (*state_.siglip)(stretch, part.span.begin == 0);
      for (const Normalizer& normalize : state_.normalizers) normalize(stretch);
      const std::vector<AddedTokens::Part> parts = state_.normalized.Split(stretch.text, read_special_);
      if (parts.size() == 1 && parts[0].id < 0) {  // the usual case
        AddWords(std::move(stretch));
        continue;
      }
      for (const AddedTokens::Part& inner : parts) {
        if (inner.id >= 0)
          Add(inner.id, stretch, inner.span);
        else
          AddWords(stretch.Part(inner.span));
      }
    }
    return std::move(tokens_);
  }

 private:
  void Add(std::int32_t id, const NormalizedText& text, TextSpan bytes) {
    const std::string_view piece = std::string_view(text.text).substr(bytes.begin, bytes.end - bytes.begin);
    tokens_.push_back({id, text.Origin(bytes), Spaces(piece, false), word_++});
  }

  // Counts the white space of a piece only if spans are trimmed.
  EdgeSpaces Spaces(std::string_view piece, bool byte_level) const {
    return state_.post_processor.trim_offsets ? SpacesAround(piece, byte_level) : EdgeSpaces{0, 0};
  }

  void AddWords(NormalizedText text) {
    Words words{std::move(text), {}};
    words.words = {{0, words.text.size()}};
    for (const PreTokenizer& pre_tokenize : state_.pre_tokenizers) pre_tokenize(words);
    const std::string_view bytes = words.text.text;
    for (const TextSpan word : words.words) {
      segments_.clear();
      state_.model(bytes.substr(word.begin, word.end - word.begin), segments_);
      std::int32_t begin = word.begin, next = word.begin;
      for (const Segment& segment : segments_) {
        const std::int32_t end = word.begin + segment.end;
        if (end > next) begin = std::exchange(next, end);  // otherwise the token has the span of the previous token
        const std::string_view piece = bytes.substr(begin, end - begin);
        tokens_.push_back({segment.piece, words.text.Origin({begin, end}), Spaces(piece, state_.byte_level), word_});
      }
      ++word_;
    }
  }

  const PipelineState& state_;
  bool read_special_;
  std::vector<Token> tokens_;
  std::vector<Segment> segments_;
  std::int32_t word_ = 0;
};

// Joins the texts' tokens with special tokens.
Encoding Assemble(const PipelineState& state, const Template& parts, std::span<const std::string_view> texts,
                  const EncodeOptions& options) {
  std::vector<std::vector<Encoder::Token>> tokens;
  for (const std::string_view text : texts) {
    Check(text.size() <= kLongestTokenizedText, "a text of {} bytes is too long: the limit is {}", text.size(),
          kLongestTokenizedText);
    CheckUtf8(text, "text");
    tokens.push_back(
        InFile(state.source, [&] { return Encoder(state, options.read_special && !state.split_special).Run(text); }));
  }
  Encoding encoding;
  const auto add = [&](std::int32_t id, std::int32_t type_id, std::int32_t text, TextSpan span, std::int32_t word) {
    encoding.ids.push_back(id);
    encoding.type_ids.push_back(type_id);
    encoding.texts.push_back(text);
    encoding.spans.push_back(span);
    encoding.words.push_back(word);
  };
  const std::optional<bool>& trim = state.post_processor.trim_offsets;
  std::int32_t ended = -1;  // id of the last token of a SigLIP text; the template does not add it again
  for (const TemplatePart& part : parts) {
    if (part.text < 0) {
      if (!options.add_special) continue;
      for (const std::int32_t id : part.ids)
        if (std::exchange(ended, -1) != id) add(id, part.type_id, -1, {}, -1);
      continue;
    }
    const std::vector<Encoder::Token>& given = tokens[part.text];
    ended = state.siglip && !given.empty() ? given.back().id : -1;
    for (std::size_t i = 0; i < given.size(); ++i) {
      TextSpan span = given[i].span;
      if (trim) TrimSpan(texts[part.text], given[i].spaces, i == 0, *trim, span);
      add(given[i].id, part.type_id, part.text, span, given[i].word);
    }
  }
  return encoding;
}

std::string WithVisibleSpaces(std::string_view bytes) {
  std::string visible;
  for (const char byte : bytes) byte == ' ' ? visible += "\u2581" : visible += byte;
  return visible;
}

// Sets a member of a component of a tokenizer.json if the component has the given type.
void SetMember(const char* part, std::string_view type, const char* member, Json value, Json& file) {
  const Json* const old = file.Find(part);
  const Json* const of_type = old != nullptr ? old->Find("type") : nullptr;
  if (of_type == nullptr || *of_type != Json(type)) return;
  Json changed = *old;
  changed.Set(member, std::move(value));
  file.Set(part, std::move(changed));
}

// Builds LlamaTokenizer's components. From a character-based tokenizer.json, this class uses only the vocabulary and
// the merges. The settings determine how spaces become parts of tokens. A space is added to every text between special
// tokens (legacy), only to the first text, or to no text, depending on the settings. Llama 3's byte-level file is used
// unchanged.
void BuildLlamaParts(const TokenizerSettings& settings, Json& file) {
  const Json* const model = file.Find("model");
  const Json* const type = model != nullptr ? model->Find("type") : nullptr;
  if (type == nullptr || *type != Json("BPE")) return;
  for (const char* part : {"normalizer", "pre_tokenizer", "post_processor", "decoder"})
    if (const Json* const found = file.Find(part);
        found != nullptr && found->Line().find("\"ByteLevel\"") != std::string::npos)
      return;
  const bool prefix = settings.config.Get("add_prefix_space", true).Bool();
  const bool every = settings.config.Get("legacy", false).Bool();
  Json metaspace = Json::Object{{"type", "Metaspace"}, {"replacement", "\u2581"}, {"split", false}};
  metaspace.Set("prepend_scheme", !prefix ? "never" : every ? "always" : "first");
  Json decoder = R"({"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "\u2581"},
                     "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]})"_json;
  if (prefix)
    decoder = R"({"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "\u2581"},
                  "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
                  {"type": "Strip", "content": " ", "start": 1, "stop": 0}]})"_json;
  Json bpe = *model;
  bpe.Set("unk_token", Json());
  for (const char* key : {"fuse_unk", "byte_fallback"}) bpe.Set(key, true);
  bpe.Set("ignore_merges", false);
  file.Set("model", std::move(bpe));
  file.Set("normalizer", Json());
  file.Set("pre_tokenizer", std::move(metaspace));
  file.Set("decoder", std::move(decoder));
}

}  // namespace

void FollowSettings(const TokenizerSettings& settings, Json& file) {
  if (!settings.builds_parts) return;
  const JsonView& config = settings.config;
  if (settings.family == TokenizerFamily::bert) {
    const auto set = [&](const char* member, Json value) {
      SetMember("normalizer", "BertNormalizer", member, std::move(value), file);
    };
    set("lowercase", config.Get("do_lower_case", true).Bool());
    set("strip_accents", config["strip_accents"].value());
    set("handle_chinese_chars", config.Get("tokenize_chinese_chars", true).Bool());
  }
  if (settings.family == TokenizerFamily::llama) BuildLlamaParts(settings, file);
  if (settings.family == TokenizerFamily::gpt2 || settings.family == TokenizerFamily::roberta ||
      settings.family == TokenizerFamily::deberta) {
    const bool prefix = config.Get("add_prefix_space", false).Bool();
    SetMember("pre_tokenizer", "ByteLevel", "add_prefix_space", prefix, file);
    SetMember("post_processor", "RobertaProcessing", "add_prefix_space", prefix, file);
    SetMember("post_processor", "RobertaProcessing", "trim_offsets", config.Get("trim_offsets", true).Bool(), file);
  }
}

namespace {

// Returns the ids before the first text of a template.
std::vector<std::int32_t> IdsBefore(std::span<const TemplatePart> parts) {
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < parts.size() && parts[i].text < 0; ++i)
    ids.insert(ids.end(), parts[i].ids.begin(), parts[i].ids.end());
  return ids;
}

std::vector<std::int32_t> IdsAfter(std::span<const TemplatePart> parts) {
  std::size_t first = parts.size();
  while (first > 0 && parts[first - 1].text < 0) --first;
  return IdsBefore(parts.subspan(first));
}

}  // namespace

PipelineTokenizer::PipelineTokenizer(std::shared_ptr<const PipelineState> state)
    : Tokenizer(IdsBefore(state->post_processor.single), IdsAfter(state->post_processor.single)),
      state_(std::move(state)) {}

PipelineTokenizer PipelineTokenizer::Load(const std::string& folder) {
  if (IsGguf(folder))
    return PipelineTokenizer(std::make_shared<PipelineState>(
        MakePipelineState(JsonView(TokenizerJsonOfGguf(Gguf(folder)), folder), ScoresAre::exact)));
  const std::string path = folder + "/tokenizer.json";
  if (!Exists(path) || ReadsModelFirst(folder)) {
    if (std::optional<PipelineState> state = LoadOlderTokenizer(folder))
      return PipelineTokenizer(std::make_shared<PipelineState>(std::move(*state)));
    Fail(
        "{} is missing; a tokenizer needs it, or vocab.txt, or vocab.json and merges.txt, or a SentencePiece model in "
        "spiece.model, sentencepiece.bpe.model or spm.model",
        path);
  }
  const TokenizerSettings settings = ReadTokenizerSettings(folder);
  Json file = ParseJson(ReadFile(path, kLargestPipeline), path);
  FollowSettings(settings, file);
  return PipelineTokenizer(
      std::make_shared<PipelineState>(MakePipelineState(JsonView(std::move(file), path), ScoresAre::text, &settings)));
}

PipelineTokenizer PipelineTokenizer::Parse(std::string_view json, const std::string& name) {
  return PipelineTokenizer(
      std::make_shared<PipelineState>(MakePipelineState(JsonView(ParseJson(json, name), name), ScoresAre::text)));
}

Encoding PipelineTokenizer::Encode(std::string_view text, const EncodeOptions& options) const {
  return Assemble(*state_, state_->post_processor.single, {&text, 1}, options);
}

Encoding PipelineTokenizer::EncodePair(std::string_view first, std::string_view second,
                                       const EncodeOptions& options) const {
  const std::string_view texts[] = {first, second};
  return Assemble(*state_, state_->post_processor.pair, texts, options);
}

std::vector<std::int32_t> PipelineTokenizer::Encode(std::string_view text, Side, std::vector<TextSpan>* spans) const {
  Encoding encoding = Encode(text, {.add_special = false, .read_special = false});
  if (spans != nullptr) *spans = std::move(encoding.spans);
  return std::move(encoding.ids);
}

std::string PipelineTokenizer::Decode(std::span<const std::int32_t> ids, bool skip_special) const {
  std::vector<std::string> texts;
  for (const std::int32_t id : ids) {
    if (!Holds(id, size())) continue;
    const auto written = state_->written.find(id);
    const bool as_is = written == state_->written.end();
    if (skip_special && state_->special[id] && as_is) continue;  // as in the library, others are kept
    if (Piece(id).empty() && Find("") != id) continue;           // no token has this id
    texts.push_back(as_is ? state_->pieces[id] : written->second);
  }
  const auto bytes = [&] {
    std::size_t sum = 0;
    for (const std::string& text : texts) sum += text.size();
    return sum;
  };
  // Limits how much the decoders of a hostile file may lengthen the text by repeated replacements.
  const std::size_t before = bytes(), longest = kMostDecoderGrowth * (before + texts.size()) + kMostDecoderGrowth;
  for (const TokenDecoder& decode : state_->decoders) {
    decode(texts);
    Check(bytes() <= longest, "{}: the decoders lengthen a text of {} bytes to more than {}", state_->source, before,
          longest);
  }
  std::string text = fmt::format("{}", fmt::join(texts, state_->decoders.empty() ? " " : ""));
  return state_->cleans_up ? WithoutTokenizationSpaces(std::move(text)) : text;
}

const std::string& PipelineTokenizer::Piece(std::int32_t id) const {
  static const std::string none;
  return Holds(id, size()) ? state_->pieces[id] : none;
}

std::vector<std::string> PipelineTokenizer::Labels(std::span<const std::int32_t> ids) const {
  std::vector<std::string> texts;
  for (const std::int32_t id : ids) {
    std::optional<std::string> bytes;
    if (!IsSpecial(id)) bytes = state_->byte_level ? BytesOfPiece(Piece(id)) : ByteOfPiece(Piece(id));
    texts.push_back(bytes ? WithVisibleSpaces(*bytes) : Piece(id));
  }
  return JoinCharacters(texts);
}

std::optional<std::int32_t> PipelineTokenizer::Find(std::string_view piece) const {
  const std::int32_t found = state_->ids.Find(piece);
  return found < 0 ? std::nullopt : std::optional(found);
}

std::optional<std::int32_t> PipelineTokenizer::FindSpecial(std::string_view name) const {
  const std::optional<std::int32_t> found = Find(name);
  return found && IsSpecial(*found) ? found : std::nullopt;
}

CutAt PipelineTokenizer::cut_at() const { return state_->cuts_beginning ? CutAt::beginning : CutAt::end; }

bool PipelineTokenizer::IsSpecial(std::int32_t id) const { return Holds(id, size()) && state_->special[id]; }

bool PipelineTokenizer::ContinuesWord(std::string_view text, std::int32_t id, TextSpan span) const {
  if (id == state_->unknown) return false;
  if (!state_->continuing_prefix.empty()) return Piece(id).starts_with(state_->continuing_prefix);
  const std::string_view around = text.substr(0, static_cast<std::size_t>(span.begin) + 1);
  return span.begin > 0 && around.substr(static_cast<std::size_t>(span.begin) - 1).find(' ') == std::string_view::npos;
}

std::int32_t PipelineTokenizer::types() const {
  std::int32_t most = 0;
  for (const Template* parts : {&state_->post_processor.single, &state_->post_processor.pair})
    for (const TemplatePart& part : *parts) most = std::max(most, part.type_id + 1);
  return most;
}

std::int32_t PipelineTokenizer::size() const { return static_cast<std::int32_t>(state_->pieces.size()); }

std::vector<TextSpan> CharacterSpans(std::string_view text, std::span<const TextSpan> spans) {
  // For each byte, the number of characters that begin before it.
  std::vector<std::int32_t> characters(text.size() + 1);
  for (std::size_t byte = 0; byte < text.size(); ++byte) {
    characters[byte + 1] = characters[byte] + ((text[byte] & 0xC0) != 0x80 ? 1 : 0);
  }
  std::vector<TextSpan> result;
  for (const TextSpan span : spans) {
    Check(span.begin >= 0 && span.end <= static_cast<std::int64_t>(text.size()),
          "bytes {} to {} are out of range for a text of {}", span.begin, span.end, text.size());
    result.push_back({characters[span.begin], characters[span.end]});
  }
  return result;
}

}  // namespace headlight
