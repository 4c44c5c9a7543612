// The models of a `tokenizer.json`: BPE, Unigram and WordPiece.
#include <algorithm>
#include <array>
#include <cmath>

#include "headlight/text/tokenizers/json_part-inl.h"

namespace headlight {
namespace {

using Json = nlohmann::json;

// By id; what has no bytes to stand for is empty.
std::vector<std::string> PiecesAsBytes(const std::vector<std::string>& pieces) {
  std::vector<std::string> bytes;
  for (const std::string& piece : pieces) bytes.push_back(BytesOfPiece(piece).value_or(""));
  return bytes;
}

WordPieceSegmenter ParseWordPiece(JsonPart& part, const TokenizerState& state) {
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
std::vector<std::pair<std::string, std::string>> Merges(JsonPart& part) {
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

BytePairSegmenter ParseBytePair(JsonPart& part, const TokenizerState& state) {
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

void SetUnigram(JsonPart& part, ScoresAre scores_are, TokenizerState& state) {
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

}  // namespace

void SetModel(JsonPart part, ScoresAre scores_are, TokenizerState& state) {
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

}  // namespace headlight
