#include "headlight/train/rank_sum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/base/ranks_testing.h"
#include "headlight/kernels/adam.h"

namespace headlight::rank_sum_test {
namespace {

using Numbers = std::vector<float>;

constexpr std::int64_t kNumbers =
    5 * kernels::kSquareSumBlock + 20;  // gives pieces of two sizes, and fewer pieces than ranks in the larger runs

// Returns values of very different magnitudes, so that each order of addition gives a different sum.
std::vector<Tensor> RandomGradients() {
  std::vector<Tensor> gradients;
  Random random(7);
  for (int part = 0; part < 13; ++part) {
    gradients.push_back(Tensor::Empty({kNumbers}));
    for (float& number : gradients.back().span<float>())
      number = static_cast<float>(random.Normal()) * std::exp2f(static_cast<float>(random.Below(16)));
  }
  return gradients;
}

Tensor PartGradient(std::int64_t part) {
  static const std::vector<Tensor> gradients = RandomGradients();
  return gradients[static_cast<std::size_t>(part)].Clone();
}

// Adds this rank's parts (DivideParts). The last part is added piece by piece from the end, as in a backward pass.
void SumParts(Ranks& ranks, std::int64_t parts, GradientType type, const Tensor& gradients) {
  const auto rank = static_cast<std::size_t>(ranks.rank());
  const std::vector<std::int64_t> dealt = DivideParts(parts, ranks.size());
  GradientTree tree(parts, type);
  RankSum sum(ranks, parts, type, gradients, /*own_pieces=*/false);
  for (std::int64_t part = dealt[rank]; part < dealt[rank + 1]; ++part) {
    gradients.CopyFrom(PartGradient(part));
    if (part + 1 < dealt[rank + 1]) {
      tree.Add(0, part, gradients);
      continue;
    }
    GradientTree::NodeIndex reached;
    for (std::size_t piece = sum.pieces().size(); piece-- > 0;) {
      const auto [begin, end, owner] = sum.pieces()[piece];
      reached = tree.AddRange(part, gradients.ViewRows(begin, end - begin), begin);
      sum.Add(reached, piece, gradients);
    }
    for (const auto& [index, node] : tree.nodes())
      if (const auto own = GradientTree::NodesOf(parts, dealt[rank], dealt[rank + 1]);
          std::ranges::find(own, index) != own.end())
        for (std::size_t piece = 0; piece < sum.pieces().size(); ++piece) sum.Add(index, piece, node);
  }
  sum.Finish();
}

// Returns the sums that the `size` ranks get.
std::vector<Numbers> SumOf(std::int64_t parts, int size, GradientType type) {
  std::vector<Numbers> sums(static_cast<std::size_t>(size));
  RunRanks(size, [&](Ranks& ranks) {
    const auto rank = static_cast<std::size_t>(ranks.rank());
    const Tensor gradients = Tensor::Zeros({kNumbers});
    SumParts(ranks, parts, type, gradients);
    sums[rank] = gradients.ToVector<float>();
  });
  return sums;
}

TEST(RankSum, HasTheSameBitsForAnyNumberOfRanks) {
  for (const GradientType type : {GradientType::float32, GradientType::bfloat16})
    for (const std::int64_t parts : {1, 3, 8, 13}) {
      GradientTree tree(parts, type);
      Tensor whole;
      for (std::int64_t part = 0; part < parts; ++part) {
        whole = PartGradient(part);
        tree.Add(0, part, whole);
      }
      const Numbers expected = whole.ToVector<float>();
      for (const int size : {1, 2, 3, 4, 8})
        for (const Numbers& sum : SumOf(parts, size, type))
          ASSERT_EQ(std::memcmp(sum.data(), expected.data(), expected.size() * sizeof(float)), 0)
              << parts << " parts, " << size << " ranks";
    }
}

TEST(RankSum, Bfloat16RoundsAndIsCloseToTheSum) {
  constexpr std::int64_t parts = 8;
  const Numbers exact = SumOf(parts, 2, GradientType::float32).front(),
                rounded = SumOf(parts, 2, GradientType::bfloat16).front();
  EXPECT_NE(exact, rounded);
  Numbers largest(exact.size());
  for (std::int64_t part = 0; part < parts; ++part) {
    const Numbers one = PartGradient(part).ToVector<float>();
    for (std::size_t i = 0; i < one.size(); ++i) largest[i] += std::abs(one[i]);
  }
  for (std::size_t i = 0; i < exact.size(); ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &rounded[i], sizeof(bits));
    ASSERT_EQ(bits & 0xffff, 0U);
    ASSERT_LE(std::abs(rounded[i] - exact[i]), largest[i] / 256 * 4);  // log2(8) + 1 roundings of 2^-9 each
  }
}

TEST(RankSum, Bfloat16SendsHalf) {
  const auto sent = [](GradientType type) {
    std::int64_t bytes = 0;
    RunRanks(2, [&](Ranks& ranks) {
      SumParts(ranks, 2, type, Tensor::Zeros({kNumbers}));
      if (ranks.rank() == 0) bytes = ranks.bytes_sent;
    });
    return bytes;
  };
  EXPECT_EQ(sent(GradientType::float32),
            kNumbers * std::int64_t{sizeof(float)});  // half of the vector in each direction
  EXPECT_EQ(sent(GradientType::bfloat16), sent(GradientType::float32) / 2);
}

TEST(RankSum, DealsAllPartsEvenly) {
  for (std::int64_t parts = 1; parts <= 40; ++parts)
    for (int ranks = 1; ranks <= 12; ++ranks) {
      const std::vector<std::int64_t> dealt = DivideParts(parts, ranks);
      ASSERT_EQ(dealt.size(), static_cast<std::size_t>(ranks) + 1);
      EXPECT_EQ(dealt.front(), 0);
      EXPECT_EQ(dealt.back(), parts);
      for (std::size_t rank = 0; rank + 1 < dealt.size(); ++rank) {
        EXPECT_LE(dealt[rank], dealt[rank + 1]);
        EXPECT_LE(dealt[rank + 1] - dealt[rank], (parts + ranks - 1) / ranks);
      }
    }
}

TEST(RankSum, DealsWholeSubtreesIfPossible) {
  EXPECT_EQ(DivideParts(8, 4), (std::vector<std::int64_t>{0, 2, 4, 6, 8}));
  EXPECT_EQ(DivideParts(10, 4), (std::vector<std::int64_t>{0, 2, 4, 7, 10}));
}

TEST(RankSum, SendsCompletedPiecesEarly) {
  const auto mail = std::make_shared<ThreadMail>();
  ThreadRanks ranks(mail, 0, 2);  // the other rank does not answer
  const Tensor gradients = PartGradient(0);
  RankSum sum(ranks, 2, GradientType::float32, gradients, /*own_pieces=*/false);
  const auto of_other = std::ranges::find(sum.pieces(), 1, &Piece::owner);
  ASSERT_NE(of_other, sum.pieces().end());
  sum.Add({0, 0}, static_cast<std::size_t>(of_other - sum.pieces().begin()), gradients);
  bool sent = false;
  for (int attempt = 0; attempt < 1000 && !sent; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const std::lock_guard lock(mail->mutex);
    for (const auto& [box, messages] : mail->boxes) sent = sent || (std::get<1>(box) == 1 && !messages.empty());
  }
  EXPECT_TRUE(sent);
}

TEST(RankSum, PiecesAreWholeBlocksOwnedByAllRanks) {
  for (const std::int64_t numbers : {std::int64_t{16}, kNumbers, std::int64_t{60'000'000}})
    for (const int ranks : {1, 2, 64}) {
      const std::vector<Piece> pieces = PiecesOf(numbers, ranks);
      std::int64_t next = 0;
      std::vector<std::int64_t> of_rank(static_cast<std::size_t>(ranks));
      for (const auto& [begin, end, owner] : pieces) {
        EXPECT_EQ(begin, next);
        EXPECT_EQ(begin % kernels::kSquareSumBlock, 0);
        of_rank[static_cast<std::size_t>(owner)] += end - begin;
        next = end;
      }
      EXPECT_EQ(next, numbers);
      const auto [least, most] = std::ranges::minmax(of_rank);
      EXPECT_LE(most - least, pieces.front().end);
    }
}

}  // namespace
}  // namespace headlight::rank_sum_test
