// The models of a `tokenizer.json`: BPE, Unigram, WordLevel and WordPiece.
#include <algorithm>
#include <array>
#include <cmath>

#include "headlight/base/error.h"
#include "headlight/text/tokenizers/tokenizer_json.h"

namespace headlight {
namespace {

// Returns the bytes of each piece by id, or an empty string for pieces that represent no bytes.
std::vector<std::string> PiecesAsBytes(const std::vector<std::string>& pieces) {
  std::vector<std::string> bytes;
  for (const std::string& piece : pieces) bytes.push_back(BytesOfPiece(piece).value_or(""));
  return bytes;
}

std::int32_t SetUnknown(const JsonView& token, PipelineState& state) {
  const std::int32_t found = state.ids.Find(token.String());
  Check(found >= 0, "{}: {} is not in the vocabulary", token.location(), Quoted(token.String()));
  return state.unknown = found;
}

WordPieceSegmenter ParseWordPiece(const JsonView& part, PipelineState& state) {
  WordPieceOptions options;
  options.continuing_subword_prefix = part.Get("continuing_subword_prefix", "##").String();
  state.continuing_prefix = options.continuing_subword_prefix;
  if (const JsonView most = part["max_input_chars_per_word"]; most.present())
    options.max_input_chars_per_word = most.Integer(1, std::int64_t{1} << 32);
  options.unknown = SetUnknown(part.Get("unk_token", "[UNK]"), state);
  Check(!state.byte_level, "{}: a WordPiece model after a ByteLevel pre-tokenizer is not supported", part.location());
  return WordPieceSegmenter(state.pieces, options);
}

// Parses merges. A merge is an array of two pieces or, in older files, one text with a space between the pieces.
std::vector<std::pair<std::string, std::string>> Merges(const JsonView& given) {
  std::vector<std::pair<std::string, std::string>> merges;
  for (const Json& merge : given.Array()) {
    const auto* both = merge.As<std::string>();
    const auto* pair = merge.As<Json::Array>();
    const std::string *left = nullptr, *right = nullptr;
    if (pair != nullptr && pair->size() == 2) {
      left = pair->front().As<std::string>();
      right = pair->back().As<std::string>();
    }
    const std::size_t space = both != nullptr ? both->find(' ') : std::string::npos;
    if (left != nullptr && right != nullptr) {
      merges.emplace_back(*left, *right);
    } else if (space != std::string::npos && both->find(' ', space + 1) == std::string::npos) {
      merges.emplace_back(both->substr(0, space), both->substr(space + 1));
    } else {
      Fail("{}: merge {} is not two pieces with a space between", given.location(), merges.size());
    }
  }
  return merges;
}

BytePairSegmenter ParseBytePair(const JsonView& part, PipelineState& state) {
  BytePairOptions options;
  options.bytes = state.byte_level;
  options.fuse_unknown = part.Get("fuse_unk", false).Bool();
  options.continuing_subword_prefix = part.Get("continuing_subword_prefix", "").String();
  state.continuing_prefix = options.continuing_subword_prefix;
  options.end_of_word_suffix = part.Get("end_of_word_suffix", "").String();
  options.ignore_merges = part.Get("ignore_merges", false).Bool();
  Check(part.Get("dropout", 0).Number() == 0, "{}: dropout is not supported", part.location());
  options.byte_fallback = part.Get("byte_fallback", false).Bool();
  const bool plain = !options.bytes && options.continuing_subword_prefix.empty() && options.end_of_word_suffix.empty();
  Check(plain || !options.byte_fallback, "{}: byte_fallback with ByteLevel, a prefix or a suffix is not supported",
        part.location());
  if (const JsonView unknown = part["unk_token"]; unknown.present()) options.unknown = SetUnknown(unknown, state);
  std::vector<std::pair<std::string, std::string>> merges = Merges(part["merges"]);
  if (!state.byte_level) return BytePairSegmenter(state.pieces, merges, options, part.location());
  for (auto& [left, right] : merges) {
    for (std::string* piece : {&left, &right}) {
      std::optional<std::string> bytes = BytesOfPiece(*piece);
      Check(bytes.has_value(), "{}: merge of {}: one of its characters represents no byte", part.location(),
            Quoted(*piece));
      *piece = std::move(*bytes);
    }
  }
  return BytePairSegmenter(PiecesAsBytes(state.pieces), merges, options, part.location());
}

// Applies a unigram model as in the tokenizers library. Consecutive unknown characters become one unknown piece, or
// byte pieces if each of their bytes has a piece.
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
        // Several unknown characters may form a piece of the vocabulary.
        const std::int32_t found = ids.Find(word.substr(begin, path[i].end - begin));
        if (found >= 0) {
          path[i].piece = found;
        } else if (bytes) {
          const std::string_view text = word.substr(begin, path[i].end - begin);
          const auto piece_of = [&](char byte) { return (*bytes)[static_cast<unsigned char>(byte)]; };
          if (std::all_of(text.begin(), text.end(), [&](char byte) { return piece_of(byte) >= 0; })) {
            for (const char byte : text) segments.push_back({piece_of(byte), path[i].end});
            begin = path[i].end;
            continue;
          }
        }
        Check(path[i].piece >= 0, "{}: it has no piece for {} and no unknown token", place,
              Quoted(word.substr(begin, path[i].end - begin)));
      }
      segments.push_back(path[i]);
      begin = path[i].end;
    }
  }

  UnigramSegmenter<double> segmenter;
  std::int32_t unknown;
  WordTable ids;
  std::optional<std::array<std::int32_t, 256>> bytes;  // result of BytePieces, if byte_fallback is set
  std::string place;                                   // for error messages
};

// Parses a score as in the tokenizers library: the digits as an integer, divided by a power of ten. The result is
// rounded twice, which can change the segmentation if scores are nearly equal.
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

// Looks up whole words in the vocabulary.
struct WordLevel {
  void operator()(std::string_view word, std::vector<Segment>& segments) const {
    const std::int32_t found = ids.Find(word), id = found < 0 ? unknown : found;
    Check(id >= 0, "{}: it has no token for the word {} and no unknown token", place, Quoted(word));
    segments.push_back({id, static_cast<std::int32_t>(word.size())});
  }

  WordTable ids;
  std::int32_t unknown;
  std::string place;  // for error messages
};

WordLevel ParseWordLevel(const JsonView& part, PipelineState& state) {
  state.unknown = state.ids.Find(part.Get("unk_token", "<unk>").String());
  if (!state.byte_level) return {state.ids, state.unknown, part.location()};
  WordTable ids;
  for (const std::string& piece : state.pieces)
    if (const std::optional<std::string> bytes = BytesOfPiece(piece); bytes && state.ids.Find(piece) >= 0)
      ids.Insert(*bytes, state.ids.Find(piece));
  return {std::move(ids), state.unknown, part.location()};
}

std::optional<double> NumberOf(const Json& json) {
  if (const auto* integer = json.As<std::int64_t>()) return static_cast<double>(*integer);
  if (const auto* number = json.As<double>()) return *number;
  return std::nullopt;
}

void SetUnigram(const JsonView& part, ScoresAre scores_are, PipelineState& state) {
  Check(!state.byte_level, "{}: a Unigram model after a ByteLevel pre-tokenizer is not supported", part.location());
  const bool byte_fallback = part.Get("byte_fallback", false).Bool();
  const JsonView vocabulary = part["vocab"];
  std::vector<double> scores;
  std::vector<std::pair<std::string_view, std::int32_t>> pieces;
  for (const Json& entry : vocabulary.Array()) {
    const auto refuse = [&](std::string_view why) {
      Fail("{}: item {}: {}", vocabulary.location(), scores.size(), why);
    };
    const auto* pair = entry.As<Json::Array>();
    const auto* piece = pair != nullptr && pair->size() == 2 ? pair->front().As<std::string>() : nullptr;
    // Pieces without a score are never matched in a text. They do not occur in tokenizer.json, only in other formats.
    const bool matched = piece == nullptr || scores_are == ScoresAre::text || !pair->back().is_null();
    const std::optional<double> score = piece == nullptr ? std::nullopt : matched ? NumberOf(pair->back()) : 0;
    if (!score) refuse("it must be a piece and its score");
    if (!(std::abs(*score) < 1e9)) refuse("the score must be between -1e9 and 1e9");
    if (piece->empty()) refuse("the piece is empty");
    state.pieces.push_back(*piece);
    const auto id = static_cast<std::int32_t>(scores.size());
    if (matched) pieces.emplace_back(*piece, id);
    if (state.ids.Insert(*piece, id) != id) refuse(fmt::format("{} occurs twice", Quoted(*piece)));
    scores.push_back(scores_are == ScoresAre::text ? ScoreAsRead(*score) : *score);
  }
  Check(!pieces.empty(), "{}: it is empty", vocabulary.location());
  // The id is -1 if there is no unknown piece.
  const JsonView unknown_id = part["unk_id"];
  const auto unknown =
      static_cast<std::int32_t>(unknown_id.present() ? unknown_id.Integer(0, std::ssize(scores) - 1) : -1);
  state.unknown = unknown;
  WordTable numbers;
  for (const auto& [piece, id] : pieces) numbers.Insert(piece, id);
  std::optional<std::array<std::int32_t, 256>> bytes;
  if (byte_fallback) bytes = BytePieces(numbers);
  state.model = Unigram{UnigramSegmenter<double>(std::move(pieces), std::move(scores), unknown), unknown,
                        std::move(numbers), bytes, part.location()};
}

}  // namespace

void SetModel(const JsonView& part, ScoresAre scores_are, PipelineState& state) {
  const auto has = [&](const char* key) { return part.value().Find(key) != nullptr; };
  // Older files do not state the type.
  const std::string type = part.Get("type", has("merges") ? "BPE" : has("unk_id") ? "Unigram" : "WordPiece").String();
  if (type == "Unigram") {
    SetUnigram(part, scores_are, state);
  } else if (type == "BPE" || type == "WordLevel" || type == "WordPiece") {
    const JsonView vocabulary = part["vocab"];
    state.pieces = PiecesById(vocabulary);
    Check(!state.pieces.empty(), "{}: the vocabulary is empty", part.location());
    for (const auto& [piece, id] : vocabulary.Object())
      state.ids.Insert(piece, static_cast<std::int32_t>(*id.As<std::int64_t>()));
    state.is_bpe = type == "BPE";
    if (state.is_bpe) {
      state.model = ParseBytePair(part, state);
    } else if (type == "WordLevel") {
      state.model = ParseWordLevel(part, state);
    } else {
      state.model = ParseWordPiece(part, state);
    }
  } else {
    RefuseType(part, type, "BPE, Unigram, WordLevel and WordPiece");
  }
  part.RefuseUnread({});
}

}  // namespace headlight
