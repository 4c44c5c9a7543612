// From a `tokenizer.json` to what runs.
#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

#include "headlight/text/json_files-inl.h"
#include "headlight/text/tokenizer_state.h"

namespace headlight {
namespace {

using Json = nlohmann::json;

constexpr std::int32_t kMostIds = 1 << 22;  // the largest vocabularies have a quarter of a million

// An object of the file, whose members are asked for by name. What could change the result and is not known here is
// refused: once it has been read, with CheckAllRead.
class Part {
 public:
  Part(const Json& json, std::string place) : json_(json), place_(std::move(place)) {
    Check(json.is_object(), "{}: it must be an object", place_);
  }

  bool Has(const char* key) {
    read_.insert(key);
    const auto found = json_.find(key);
    return found != json_.end() && !found->is_null();
  }
  const Json& At(const char* key) {
    Check(Has(key), "{}: \"{}\" is missing", place_, key);
    return json_[key];
  }
  template <typename T>
  T Get(const char* key) {
    try {
      return At(key).get<T>();
    } catch (const Json::exception& error) {
      Fail("{}: \"{}\": {}", place_, key, error.what());
    }
  }
  template <typename T>
  T Get(const char* key, T fallback) {
    return Has(key) ? Get<T>(key) : fallback;
  }
  std::int64_t Integer(const char* key, std::int64_t least, std::int64_t most) {
    Check(At(key).is_number_integer(), "{}: \"{}\" must be a whole number", place_, key);
    const auto value = At(key).get<std::int64_t>();
    Check(value >= least && value <= most, "{}: \"{}\" is {}, it must be from {} to {}", place_, key, value, least,
          most);
    return value;
  }
  Part Object(const char* key) { return Part(At(key), Place(key)); }
  // The objects of an array.
  std::vector<Part> Objects(const char* key) {
    Check(At(key).is_array(), "{}: \"{}\" must be an array", place_, key);
    std::vector<Part> objects;
    for (const Json& item : At(key)) objects.emplace_back(item, fmt::format("{}[{}]", Place(key), objects.size()));
    return objects;
  }
  void CheckAllRead() const {
    for (const auto& [key, value] : json_.items())
      Check(value.is_null() || read_.contains(key), "{}: \"{}\" is not supported", place_, key);
  }

  std::string Place(const char* key) const { return place_ + ": " + key; }
  const std::string& place() const { return place_; }
  const Json& json() const { return json_; }

 private:
  const Json& json_;
  std::string place_;
  std::unordered_set<std::string> read_;
};

[[noreturn]] void RefuseType(const Part& part, const std::string& type, std::string_view known) {
  Fail("{}: type {} is not supported; {} are", part.place(), type, known);
}

void AddNormalizers(Part part, std::vector<Normalizer>& normalizers) {
  const auto type = part.Get<std::string>("type");
  if (type == "Sequence") {
    for (Part& step : part.Objects("normalizers")) AddNormalizers(std::move(step), normalizers);
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
    Part pattern = part.Object("pattern");
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

std::string Replacement(Part& part) {
  const auto replacement = part.Get<std::string>("replacement", "\u2581");
  Check(!replacement.empty() && DecodeUtf8(replacement).bytes == static_cast<int>(replacement.size()),
        "{}: its replacement must be one character", part.place());
  return replacement;
}

Metaspace::Prepend PrependScheme(Part& part) {
  const bool older = part.Get("add_prefix_space", true);
  const auto scheme = part.Get<std::string>("prepend_scheme", older ? "always" : "never");
  if (scheme == "always") return Metaspace::Prepend::always;
  if (scheme == "first") return Metaspace::Prepend::first;
  Check(scheme == "never", "{}: there is no prepend_scheme {}, only always, first and never", part.place(), scheme);
  return Metaspace::Prepend::never;
}

void AddPreTokenizers(Part part, TokenizerState& state) {
  const auto type = part.Get<std::string>("type");
  if (type == "Sequence") {
    for (Part& step : part.Objects("pretokenizers")) AddPreTokenizers(std::move(step), state);
  } else if (type == "BertPreTokenizer") {
    state.pre_tokenizers.emplace_back(SplitAtSpaces);
    state.pre_tokenizers.emplace_back(SplitPunctuation);
  } else if (type == "WhitespaceSplit") {
    state.pre_tokenizers.emplace_back(SplitAtSpaces);
  } else if (type == "Punctuation") {
    const auto behavior = part.Get<std::string>("behavior", "Isolated");
    Check(behavior == "Isolated", "{}: behavior {} is not supported, only Isolated is", part.place(), behavior);
    state.pre_tokenizers.emplace_back(SplitPunctuation);
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
    RefuseType(part, type, "BertPreTokenizer, ByteLevel, Metaspace, Punctuation, Sequence and WhitespaceSplit");
  }
  // What comes after would see the characters that stand for bytes.
  Check(!state.byte_level || type == "ByteLevel" || type == "Sequence", "{}: nothing may follow ByteLevel",
        part.place());
  part.CheckAllRead();
}

// By id; what has no bytes to stand for is empty.
std::vector<std::string> PiecesAsBytes(const std::vector<std::string>& pieces) {
  std::vector<std::string> bytes;
  for (const std::string& piece : pieces) bytes.push_back(BytesOfPiece(piece).value_or(""));
  return bytes;
}

WordPieceSegmenter ParseWordPiece(Part& part, const TokenizerState& state) {
  WordPieceOptions options;
  options.continuing_subword_prefix = part.Get<std::string>("continuing_subword_prefix", "##");
  if (part.Has("max_input_chars_per_word"))
    options.max_input_chars_per_word = part.Integer("max_input_chars_per_word", 1, std::int64_t{1} << 32);
  const auto unknown = part.Get<std::string>("unk_token", "[UNK]");
  const auto found = state.ids.find(unknown);
  Check(found != state.ids.end(), "{}: the vocabulary lacks its unk_token \"{}\"", part.place(), unknown);
  options.unknown = found->second;
  Check(!state.byte_level, "{}: a WordPiece model after a ByteLevel pre-tokenizer is not supported", part.place());
  return WordPieceSegmenter(state.pieces, options);
}

// A merge is an array of two pieces or, in older files, both in one text with a space between.
std::vector<std::pair<std::string, std::string>> Merges(Part& part) {
  std::vector<std::pair<std::string, std::string>> merges;
  const Json& given = part.At("merges");
  Check(given.is_array(), "{}: it must be an array", part.Place("merges"));
  for (const Json& merge : given) {
    if (merge.is_array() && merge.size() == 2) {
      merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
      continue;
    }
    const auto both = merge.get<std::string>();
    const std::size_t space = both.find(' ');
    Check(space != std::string::npos && both.find(' ', space + 1) == std::string::npos,
          "{}: merge {} is not two pieces with a space between", part.place(), merges.size());
    merges.emplace_back(both.substr(0, space), both.substr(space + 1));
  }
  return merges;
}

BytePairSegmenter ParseBytePair(Part& part, const TokenizerState& state) {
  BytePairOptions options;
  options.bytes = state.byte_level;
  options.fuse_unknown = part.Get("fuse_unk", false);
  options.continuing_subword_prefix = part.Get<std::string>("continuing_subword_prefix", "");
  options.end_of_word_suffix = part.Get<std::string>("end_of_word_suffix", "");
  options.ignore_merges = part.Get("ignore_merges", false);
  Check(part.Get("dropout", 0.0) == 0, "{}: dropout is not supported", part.place());
  options.byte_fallback = part.Get("byte_fallback", false);
  const bool plain = !options.bytes && options.continuing_subword_prefix.empty() && options.end_of_word_suffix.empty();
  Check(plain || !options.byte_fallback, "{}: byte_fallback with ByteLevel, a prefix or a suffix is not supported",
        part.place());
  if (part.Has("unk_token")) {
    const auto unknown = part.Get<std::string>("unk_token");
    const auto found = state.ids.find(unknown);
    Check(found != state.ids.end(), "{}: the vocabulary lacks its unk_token \"{}\"", part.place(), unknown);
    options.unknown = found->second;
  }
  std::vector<std::pair<std::string, std::string>> merges = Merges(part);
  if (!state.byte_level) return BytePairSegmenter(state.pieces, merges, options, part.place());
  for (auto& [left, right] : merges) {
    for (std::string* piece : {&left, &right}) {
      std::optional<std::string> bytes = BytesOfPiece(*piece);
      Check(bytes.has_value(), "{}: merge of \"{}\": a character of it stands for no byte", part.place(), *piece);
      *piece = std::move(*bytes);
    }
  }
  return BytePairSegmenter(PiecesAsBytes(state.pieces), merges, options, part.place());
}

// Unigram in the tokenizers library's way: characters that no piece is are one unknown piece where they follow another,
// or their bytes' pieces, where there are all of them.
struct Unigram {
  void operator()(std::string_view word, std::vector<Segment>& segments) const {
    const std::size_t before = segments.size();
    segmenter.Append(word, segments);
    const auto first = segments.begin() + static_cast<std::ptrdiff_t>(before);
    if (std::none_of(first, segments.end(), [&](const Segment& segment) { return segment.piece == unknown; })) return;
    std::vector<Segment> path(first, segments.end());
    segments.resize(before);
    std::int32_t begin = 0;
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (path[i].piece == unknown) {
        while (i + 1 < path.size() && path[i + 1].piece == unknown) ++i;
        // Together they may be a piece after all.
        const auto found = ids.find(std::string(word.substr(begin, path[i].end - begin)));
        if (found != ids.end()) {
          path[i].piece = found->second;
        } else if (bytes) {
          const std::string_view text = word.substr(begin, path[i].end - begin);
          const auto piece_of = [&](char byte) { return (*bytes)[static_cast<unsigned char>(byte)]; };
          if (std::all_of(text.begin(), text.end(), [&](char byte) { return piece_of(byte) >= 0; })) {
            for (const char byte : text) segments.push_back({piece_of(byte), path[i].end});
            begin = path[i].end;
            continue;
          }
        }
      }
      segments.push_back(path[i]);
      begin = path[i].end;
    }
  }

  UnigramSegmenter<double> segmenter;
  std::int32_t unknown;
  std::unordered_map<std::string, std::int32_t> ids;
  std::optional<std::array<std::int32_t, 256>> bytes;  // with byte_fallback: see BytePieces
};

// As the tokenizers library reads it: the digits as a whole number, over a power of ten. That rounds twice, and decides
// between ways to cut a word that are all but equal.
double ScoreAsRead(double score) {
  const std::string text = fmt::format("{}", std::abs(score));
  const std::size_t exponent_at = std::min(text.find('e'), text.size());
  int exponent = exponent_at < text.size() ? std::stoi(text.substr(exponent_at + 1)) : 0;
  std::uint64_t digits = 0;
  bool after_point = false;
  for (const char c : text.substr(0, exponent_at)) {
    after_point = after_point || c == '.';
    if (c == '.') continue;
    digits = 10 * digits + static_cast<std::uint64_t>(c - '0');
    if (after_point) --exponent;
  }
  const auto whole = static_cast<double>(digits);
  const double value = exponent < 0 ? whole / std::pow(10.0, -exponent) : whole * std::pow(10.0, exponent);
  return std::copysign(value, score);
}

void SetUnigram(Part& part, ScoresAre scores_are, TokenizerState& state) {
  Check(!state.byte_level, "{}: a Unigram model after a ByteLevel pre-tokenizer is not supported", part.place());
  const bool byte_fallback = part.Get("byte_fallback", false);
  const Json& vocabulary = part.At("vocab");
  Check(vocabulary.is_array() && !vocabulary.empty(), "{}: it must be an array that is not empty", part.Place("vocab"));
  std::vector<double> scores;
  for (const Json& entry : vocabulary) {
    const bool fits = entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_number();
    Check(fits, "{}[{}]: it must be a piece and its score", part.Place("vocab"), scores.size());
    state.pieces.push_back(entry[0].get<std::string>());
    const auto score = entry[1].get<double>();
    Check(std::abs(score) < 1e9, "{}[{}]: the score is {}, it must be between -1e9 and 1e9", part.Place("vocab"),
          scores.size(), score);
    scores.push_back(scores_are == ScoresAre::text ? ScoreAsRead(score) : score);
    Check(!state.pieces.back().empty(), "{}[{}]: the piece is empty", part.Place("vocab"), scores.size() - 1);
    const bool is_new = state.ids.emplace(state.pieces.back(), static_cast<std::int32_t>(scores.size() - 1)).second;
    Check(is_new, "{}: \"{}\" is there twice", part.Place("vocab"), state.pieces.back());
  }
  const auto last = static_cast<std::int64_t>(scores.size()) - 1;
  const auto unknown = static_cast<std::int32_t>(part.Integer("unk_id", 0, last));
  std::vector<std::pair<std::string_view, std::int32_t>> pieces;
  for (const std::string& piece : state.pieces) pieces.emplace_back(piece, static_cast<std::int32_t>(pieces.size()));
  std::optional<std::array<std::int32_t, 256>> bytes;
  if (byte_fallback) bytes = BytePieces({pieces.begin(), pieces.end()});
  state.model =
      Unigram{UnigramSegmenter<double>(std::move(pieces), std::move(scores), unknown), unknown, state.ids, bytes};
  part.CheckAllRead();
}

// Sets the pieces, their ids and the model.
void SetModel(Part part, ScoresAre scores_are, TokenizerState& state) {
  // Older files do not say which one it is.
  const auto type = part.Get<std::string>("type", part.json().contains("merges")   ? "BPE"
                                                  : part.json().contains("unk_id") ? "Unigram"
                                                                                   : "WordPiece");
  if (type == "Unigram") return SetUnigram(part, scores_are, state);
  if (type != "BPE" && type != "WordPiece") RefuseType(part, type, "BPE, Unigram and WordPiece");
  state.pieces = PiecesById(part.At("vocab"), part.place());
  Check(!state.pieces.empty(), "{}: the vocabulary is empty", part.place());
  for (std::size_t id = 0; id < state.pieces.size(); ++id) state.ids.emplace(state.pieces[id], id);
  if (type == "BPE") {
    state.model = ParseBytePair(part, state);
  } else {
    state.model = ParseWordPiece(part, state);
  }
  part.CheckAllRead();
}

void SetAddedTokens(std::vector<Part> parts, TokenizerState& state) {
  std::vector<AddedToken> special, others;
  for (Part& part : parts) {
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
std::vector<std::int32_t> NamedId(Part& part, const char* key, const TokenizerState& state) {
  const Json& pair = part.At(key);
  Check(pair.is_array() && pair.size() == 2, "{}: it must be a token and its id", part.Place(key));
  return {ToId(pair[1], state, part.Place(key))};
}

Template ParseTemplate(Part& part, const char* key, const TokenizerState& state) {
  const Json& special = part.At("special_tokens");
  Template result;
  for (Part& item : part.Objects(key)) {
    const bool is_text = item.Has("Sequence");
    Part inner = item.Object(is_text ? "Sequence" : "SpecialToken");
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
      for (const Json& token : Part(*found, part.Place("special_tokens")).At("ids"))
        added.ids.push_back(ToId(token, state, inner.place()));
    }
    result.push_back(std::move(added));
  }
  return result;
}

void SetPostProcessor(Part part, TokenizerState& state) {
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
    for (Part& step : part.Objects("processors")) SetPostProcessor(std::move(step), state);
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

void AddDecoders(Part part, std::vector<Decoder>& decoders) {
  const auto type = part.Get<std::string>("type");
  if (type == "Sequence") {
    for (Part& step : part.Objects("decoders")) AddDecoders(std::move(step), decoders);
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
    Part pattern = part.Object("pattern");
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
  Part file(json, name);
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
