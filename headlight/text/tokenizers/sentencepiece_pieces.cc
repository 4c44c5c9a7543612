#include "headlight/text/tokenizers/sentencepiece_pieces.h"

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/text/tokenizers/sentencepiece_model.h"
#include "headlight/text/tokenizers/sentencepiece_normalizer.h"
#include "headlight/text/tokenizers/sentencepiece_segmenter.h"

namespace headlight {
namespace {

struct PieceReader {
  PieceReader(SentencePieceModel given, const std::string& name) : model(std::move(given)), normalizer(model, name) {
    for (const SentencePiece& piece : model.pieces)
      Check(piece.type != SentencePiece::Type::user_defined, "{}: piece \"{}\" is user-defined, which is not supported",
            name, piece.text);
    if (model.algorithm == SubwordAlgorithm::bpe)
      bpe.emplace(model);
    else
      unigram.emplace(UnigramSegmenterOf(model));
  }

  std::vector<std::string> operator()(std::string_view line) const {
    std::string text;
    normalizer.Normalize(line, text);
    std::vector<std::string> words;
    std::size_t begin = 0;
    bool after_unknown = false;  // consecutive unknown characters are one piece
    for (const Segment& segment : bpe ? bpe->Segments(text, nullptr, 0) : unigram->Segments(text)) {
      const std::string_view piece =
          std::string_view(text).substr(begin, static_cast<std::size_t>(segment.end) - begin);
      const bool unknown = model.pieces[static_cast<std::size_t>(segment.piece)].type == SentencePiece::Type::unknown;
      if (unknown && model.byte_fallback) {
        for (const char byte : piece) words.push_back(fmt::format("<0x{:02X}>", static_cast<unsigned char>(byte)));
      } else if (unknown && after_unknown) {
        words.back() += piece;
      } else {
        words.emplace_back(piece);
      }
      after_unknown = unknown;
      begin = static_cast<std::size_t>(segment.end);
    }
    return words;
  }

  SentencePieceModel model;
  TextNormalizer normalizer;
  std::optional<BpeSegmenter> bpe;
  std::optional<UnigramSegmenter<float>> unigram;
};

}  // namespace

std::function<std::vector<std::string>(std::string_view)> ReadSentencePieces(const std::string& path) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 28;
  const auto reader =
      std::make_shared<const PieceReader>(ParseSentencePieceModel(ReadFile(path, kMostBytes), path), path);
  return [reader](std::string_view text) { return (*reader)(text); };
}

}  // namespace headlight
