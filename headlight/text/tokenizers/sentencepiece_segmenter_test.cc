#include "headlight/text/tokenizers/sentencepiece_segmenter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "headlight/text/utf8.h"

namespace headlight::sentencepiece_segmenter_test {
namespace {

SentencePieceModel Model(SubwordAlgorithm algorithm, const std::map<std::string, float>& scores) {
  SentencePieceModel model;
  model.algorithm = algorithm;
  model.pieces = {{"<unk>", 0, SentencePiece::Type::unknown}, {"</s>", 0, SentencePiece::Type::control}};
  for (const auto& [text, score] : scores) model.pieces.push_back({text, score, SentencePiece::Type::normal});
  return model;
}

std::vector<std::string> Texts(std::string_view text, const std::vector<Segment>& segments) {
  std::vector<std::string> texts;
  std::size_t begin = 0;
  for (const Segment& segment : segments) {
    texts.emplace_back(text.substr(begin, segment.end - begin));
    begin = segment.end;
  }
  return texts;
}

// Returns random strings over a few letters, so that pieces overlap. The scores are random and often equal.
std::map<std::string, float> RandomPieces(Random& random) {
  std::map<std::string, float> scores;
  for (const char* letter : {"a", "b", "\u2581"}) scores[letter] = -5;
  if (random.Below(2)) scores["ä"] = -6;
  for (int count = 0; count < 20; ++count) {
    std::string piece = random.Below(4) == 0 ? "\u2581" : "";
    for (std::uint64_t length = 2 + random.Below(4); length > 0; --length)
      piece += random.Below(5) ? "ab"[random.Below(2)] : 'c';
    if (random.Below(5) == 0) piece += "ä";
    scores[piece] = -static_cast<float>(random.Below(8));
  }
  return scores;
}

std::string RandomText(Random& random) {
  const char* letters[] = {"a", "b", "a", "b", "c", "ä", "\u2581", "x"};
  std::string text;
  for (std::uint64_t length = random.Below(25); length > 0; --length) text += letters[random.Below(8)];
  return text;
}

// Segments a text by the definition of BPE: repeatedly searches all adjacent pairs and merges the best pair.
std::vector<std::string> BpeByDefinition(std::string_view text, const std::map<std::string, float>& scores) {
  std::vector<std::string> symbols;
  while (!text.empty()) {
    const int bytes = DecodeUtf8(text).bytes;
    symbols.emplace_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  for (;;) {
    std::size_t best = 0;
    float best_score = 0;
    for (std::size_t at = 1; at < symbols.size(); ++at) {
      const auto found = scores.find(symbols[at - 1] + symbols[at]);
      if (found == scores.end() || (best > 0 && found->second <= best_score)) continue;
      best = at;
      best_score = found->second;
    }
    if (best == 0) return symbols;
    symbols[best - 1] += symbols[best];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best));
  }
}

TEST(BpeSegmenter, MergesAsDefined) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    const auto scores = RandomPieces(random);
    const SentencePieceModel model = Model(SubwordAlgorithm::bpe, scores);
    const BpeSegmenter segmenter(model);
    for (int trial = 0; trial < 20; ++trial) {
      const std::string text = RandomText(random);
      const auto segments = segmenter.Segments(text, nullptr, 0);
      const auto expected = BpeByDefinition(text, scores);
      ASSERT_EQ(Texts(text, segments), expected) << text;
      for (std::size_t at = 0; at < segments.size(); ++at) {
        const std::string& piece = model.pieces[segments[at].piece].text;
        ASSERT_EQ(piece, scores.contains(expected[at]) ? expected[at] : "<unk>");
      }
    }
  }
}

TEST(BpeSegmenter, MergesAcrossSpacesIfAPieceHasThem) {
  const BpeSegmenter segmenter(
      Model(SubwordAlgorithm::bpe, {{"a", -5}, {"\u2581", -5}, {"a\u2581", 0}, {"a\u2581a", -1}}));
  EXPECT_EQ(Texts("\u2581a\u2581a", segmenter.Segments("\u2581a\u2581a", nullptr, 0)),
            (std::vector<std::string>{"\u2581", "a\u2581a"}));
}

TEST(BpeSegmenter, DropsMergesWithTheProbability) {
  const BpeSegmenter segmenter(Model(SubwordAlgorithm::bpe, {{"a", -5}, {"b", -5}, {"ab", 0}}));
  Random random(4);
  std::string text;
  for (int count = 0; count < 20000; ++count) text += "ab";
  EXPECT_EQ(segmenter.Segments(text, &random, 0).size(), 20000u);
  EXPECT_EQ(segmenter.Segments(text, &random, 1).size(), 40000u);
  EXPECT_NEAR(static_cast<double>(segmenter.Segments(text, &random, 0.1).size()), 22000, 200);
}

// Finds the best segmentation by trying all segmentations. If scores are equal, the segmentation with the longest last
// pieces is used.
std::pair<double, std::vector<std::string>> BestWay(
    const std::string& text, const std::map<std::string, float>& scores, float unknown,
    std::map<std::string, std::pair<double, std::vector<std::string>>>& known) {
  if (text.empty()) return {0, {}};
  if (const auto found = known.find(text); found != known.end()) return found->second;
  std::pair<double, std::vector<std::string>> best{-1e30, {}};
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    const std::string last = text.substr(cut);
    const auto found = scores.find(last);
    const bool single = DecodeUtf8(last).bytes == static_cast<int>(last.size());
    if (found == scores.end() && !single) continue;
    auto way = BestWay(text.substr(0, cut), scores, unknown, known);
    way.first += found != scores.end() ? found->second : unknown;
    way.second.push_back(last);
    if (way.first > best.first) best = way;
  }
  return known[text] = best;
}

TEST(UnigramSegmenter, FindsTheBestPath) {
  Random random(2);
  for (int round = 0; round < 100; ++round) {
    const auto scores = RandomPieces(random);
    const UnigramSegmenter<float> segmenter = UnigramSegmenterOf(Model(SubwordAlgorithm::unigram, scores));
    float least = 0;
    for (const auto& [text, score] : scores) least = std::min(least, score);
    for (int trial = 0; trial < 20; ++trial) {
      const std::string text = RandomText(random);
      std::map<std::string, std::pair<double, std::vector<std::string>>> known;
      ASSERT_EQ(Texts(text, segmenter.Segments(text)), BestWay(text, scores, least - 10, known).second) << text;
    }
  }
}

TEST(UnigramSegmenter, IsPreciseForLongTexts) {
  // The scores of "ab" and "a" + "b" differ by less than the float precision of the whole text's score.
  const UnigramSegmenter<float> segmenter =
      UnigramSegmenterOf(Model(SubwordAlgorithm::unigram, {{"a", -10}, {"b", -10}, {"ab", -19.99f}}));
  std::string text;
  for (int count = 0; count < 200000; ++count) text += "ab";
  EXPECT_EQ(segmenter.Segments(text).size(), 200000u);
}

}  // namespace
}  // namespace headlight::sentencepiece_segmenter_test
