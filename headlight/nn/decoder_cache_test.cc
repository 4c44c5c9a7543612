#include "headlight/nn/decoder_cache.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "headlight/base/random.h"

namespace headlight::decoder_cache_test {
namespace {

// Returns rows [tokens, 3], each filled with its token's number times `factor`: 1 for keys, -1 for values.
Tensor Numbered(std::span<const float> numbers, float factor) {
  const Tensor rows = Tensor::Empty({static_cast<std::int64_t>(numbers.size()), 3});
  for (std::size_t i = 0; i < numbers.size(); ++i)
    rows.ViewRows(static_cast<std::int64_t>(i), 1).Fill(factor * numbers[i]);
  return rows;
}

void ExpectTokens(const ops::CachedKeys& cached, std::size_t text, const std::vector<float>& tokens) {
  const Sequence& own = cached.sequences[text];
  ASSERT_EQ(own.length, std::ssize(tokens));
  for (std::int32_t position = 0; position < own.length; ++position) {
    const std::int32_t row = cached.rows[static_cast<std::size_t>(own.row(position))];
    const auto token = tokens[static_cast<std::size_t>(position)];
    ASSERT_EQ(reinterpret_cast<const float*>(cached.keys->entry(row, 0))[2], token);
    ASSERT_EQ(reinterpret_cast<const float*>(cached.values->entry(row, 0))[2], -token);
  }
}

// Checks the cache while texts are added, copied, shortened and removed at random, in passes over random subsets.
TEST(DecoderCache, KeepsTheTokensOfEveryText) {
  Random random(3);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random.Below(limit)); };
  DecoderCache cache;
  std::map<std::int32_t, std::vector<float>> texts;
  float token = 0;
  std::size_t most_tokens = 0;
  const auto any = [&] { return std::next(texts.begin(), static_cast<std::ptrdiff_t>(below(texts.size()))); };
  for (int step = 0; step < 400; ++step) {
    if (texts.size() < 20) texts[cache.AddText()] = {};
    if (const auto from = any(); texts.size() < 30 && below(2) == 0) {
      const std::size_t tokens = below(from->second.size() + 1);
      const std::vector<float> shared(from->second.begin(), from->second.begin() + static_cast<std::ptrdiff_t>(tokens));
      texts[cache.CopyText(from->first, static_cast<std::int32_t>(tokens))] = shared;
    }
    if (const auto text = any(); below(4) == 0) {
      text->second.resize(below(text->second.size() + 1));
      cache.Shorten(text->first, static_cast<std::int32_t>(text->second.size()));
    }
    if (const auto text = any(); texts.size() > 10 && below(3) == 0) {
      cache.RemoveText(text->first);
      texts.erase(text);
    }
    std::vector<std::int32_t> active, lengths;
    std::vector<float> added;
    for (auto& [text, tokens] : texts) {
      if (below(3) == 0) continue;
      active.push_back(text);
      lengths.push_back(1 + static_cast<std::int32_t>(below(5)));
      for (std::int32_t i = 0; i < lengths.back(); ++i) {
        added.push_back(++token);
        tokens.push_back(token);
      }
    }
    if (active.empty()) continue;
    cache.Activate(active);
    cache.Append(PackedSequences(lengths));
    std::size_t all_tokens = 0;
    for (const auto& [text, tokens] : texts) all_tokens += tokens.size();
    most_tokens = std::max(most_tokens, all_tokens);
    for (const std::size_t layer : {0, 1}) {
      cache.Write(layer, Numbered(added, 1), Numbered(added, -1), 1);
      for (std::size_t i = 0; i < active.size(); ++i) ExpectTokens(cache.SelfKeys(layer), i, texts[active[i]]);
    }
    EXPECT_LE(cache.used(), static_cast<std::int32_t>(all_tokens));
    if (below(5) == 0) {  // simulates a failed pass
      cache.Undo();
      for (std::size_t i = 0; i < active.size(); ++i)
        for (std::int32_t lost = 0; lost < lengths[i]; ++lost) texts[active[i]].pop_back();
    }
  }
  for (const auto& [text, tokens] : texts) cache.RemoveText(text);
  EXPECT_EQ(cache.used(), 0);
  // The size is bounded by the peak number of tokens, rounded up to blocks. 2 layers have keys and values of 3 floats.
  EXPECT_LE(cache.bytes(), static_cast<std::int64_t>(most_tokens + kernels::kBlockRows) * 2 * 2 * 3 * 4);
}

// Checks that a memory is kept until its last text is removed. Some texts share a memory.
TEST(DecoderCache, KeepsMemoriesUntilTheirLastText) {
  DecoderCache cache;
  const auto write = [&](const std::vector<float>& numbers) {
    ASSERT_EQ(cache.new_memory().rows(), std::ssize(numbers));
    cache.WriteCross(0, Numbered(numbers, 1), Numbered(numbers, -1), 1);
  };
  const std::int32_t first = cache.AddMemory(Tensor::Zeros({2, 5})), second = cache.AddMemory(Tensor::Zeros({3, 5}));
  const std::vector<std::int32_t> texts = {cache.AddText(first), cache.AddText(first), cache.AddText(second)};
  for (const std::int32_t memory : {first, second}) cache.RemoveMemory(memory);
  cache.Activate(texts);
  cache.Append(PackedSequences(std::vector<std::int32_t>{1, 2, 1}));
  cache.Undo();  // before the memories are projected
  cache.Append(PackedSequences(std::vector<std::int32_t>{1, 2, 1}));
  write({1, 2, 3, 4, 5});
  for (const std::size_t text : {0, 1}) ExpectTokens(cache.CrossKeys(0), text, {1, 2});
  ExpectTokens(cache.CrossKeys(0), 2, {3, 4, 5});
  EXPECT_EQ(cache.CrossKeys(0).sequences[0], cache.CrossKeys(0).sequences[1]);

  cache.RemoveText(texts[0]);
  const std::int32_t third = cache.AddMemory(Tensor::Zeros({2, 5}));
  const std::int32_t joined = cache.AddText(third);
  cache.Activate({joined, texts[1]});
  cache.Append(PackedSequences(std::vector<std::int32_t>{1, 1}));
  write({6, 7});
  ExpectTokens(cache.CrossKeys(0), 0, {6, 7});
  ExpectTokens(cache.CrossKeys(0), 1, {1, 2});
  cache.Append(PackedSequences(std::vector<std::int32_t>{1, 1}));
  EXPECT_TRUE(cache.new_memory().empty());
}

}  // namespace
}  // namespace headlight::decoder_cache_test
