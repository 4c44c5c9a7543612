#include "headlight/train/rank_sum.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/kernels/adam.h"

namespace headlight {
namespace {

// Numbers on their way, in the type in which they are sent.
class Message {
 public:
  // Of numbers that are sent: float64 and unrounded ones as they are, without a copy.
  static Message Of(const Tensor& numbers, GradientType type) {
    Message message(numbers, type);
    for (std::size_t i = 0; i < message.halves_.size(); ++i)
      message.halves_[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(numbers.data<float>()[i]) >> 16);
    return message;
  }
  // Room for numbers that are received into `numbers`.
  static Message Into(const Tensor& numbers, GradientType type) { return {numbers, type}; }

  std::span<std::byte> bytes() {
    if (!halves_.empty()) return BytesOf(std::span(halves_));
    std::span<std::byte> all;
    Dispatch(numbers_.dtype(), [&]<typename T>(T) { all = BytesOf(numbers_.span<T>()); });
    return all;
  }

  void Unpack() const {
    for (std::size_t i = 0; i < halves_.size(); ++i)
      numbers_.data<float>()[i] = std::bit_cast<float>(std::uint32_t{halves_[i]} << 16);
  }

 private:
  Message(Tensor numbers, GradientType type) : numbers_(std::move(numbers)) {
    if (type == GradientType::bfloat16 && numbers_.dtype() == DType::float32)
      halves_.resize(static_cast<std::size_t>(numbers_.elements()));
  }

  Tensor numbers_;
  std::vector<std::uint16_t> halves_;
};

}  // namespace

std::vector<std::int64_t> DealParts(std::int64_t parts, int ranks) {
  const std::int64_t most = (parts + ranks - 1) / ranks;
  std::vector<std::int64_t> bounds = {0};
  for (std::int64_t left = ranks - 1; left > 0; --left) {
    const std::int64_t first = std::max(bounds.back(), parts - left * most);
    const std::int64_t last = std::min(parts, bounds.back() + most);
    std::int64_t best = last;
    for (std::int64_t bound = last; bound >= first; --bound)  // the rightmost of those that most twos divide
      if (bound > 0 &&
          std::countr_zero(static_cast<std::uint64_t>(bound)) > std::countr_zero(static_cast<std::uint64_t>(best)))
        best = bound;
    bounds.push_back(best);
  }
  bounds.push_back(parts);
  return bounds;
}

std::vector<std::int64_t> SlicesOf(std::int64_t numbers, int ranks) {
  const std::int64_t blocks = (numbers + kernels::kSquareSumBlock - 1) / kernels::kSquareSumBlock;
  std::vector<std::int64_t> bounds;
  for (std::int64_t rank = 0; rank <= ranks; ++rank)
    bounds.push_back(std::min(numbers, rank * blocks / ranks * kernels::kSquareSumBlock));
  return bounds;
}

void SumOverRanks(Ranks& ranks, const GradientTree& own, std::int64_t parts, GradientType type,
                  const Tensor& gradients) {
  const std::vector<std::int64_t> dealt = DealParts(parts, ranks.size()),
                                  slices = SlicesOf(gradients.elements(), ranks.size());
  const auto slice_of = [&](const Tensor& vector, int rank) {
    const auto r = static_cast<std::size_t>(rank);
    return vector.ViewRows(slices[r], slices[r + 1] - slices[r]);
  };
  struct Summand {
    GradientTree::Place place;
    Tensor sum;  // of the own slice
  };
  std::vector<Summand> nodes;  // of all ranks
  std::vector<Message> messages;
  std::vector<std::pair<int, bool>> ends;  // of each message: the peer, and whether it is sent
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    for (const GradientTree::Place& place : GradientTree::PlacesOf(parts, dealt[r], dealt[r + 1])) {
      if (rank != ranks.rank()) {
        nodes.push_back({place, Tensor::Empty(slice_of(gradients, ranks.rank()).shape(), gradients.dtype())});
        messages.push_back(Message::Into(nodes.back().sum, type));
        ends.emplace_back(rank, false);
        continue;
      }
      const auto found = own.nodes().find(place);
      const Tensor& whole = found == own.nodes().end() ? gradients : found->second;
      nodes.push_back({place, slice_of(whole, rank)});
      for (int peer = 0; peer < ranks.size(); ++peer)
        if (peer != rank) {
          messages.push_back(Message::Of(slice_of(whole, peer), type));
          ends.emplace_back(peer, true);
        }
    }
  }
  std::vector<Transfer> transfers;
  for (std::size_t i = 0; i < messages.size(); ++i)
    transfers.push_back({ends[i].first, ends[i].second, messages[i].bytes()});
  ranks.Exchange(transfers);
  for (std::size_t i = 0; i < messages.size(); ++i)
    if (!ends[i].second) messages[i].Unpack();

  GradientTree tree(parts, type);
  bool complete = false;
  for (const auto& [place, sum] : nodes) {
    complete = tree.Add(place.first, place.second, sum);
    const Tensor own_slice = slice_of(gradients, ranks.rank());
    if (complete && own_slice.elements() > 0) own_slice.CopyFrom(sum.Clone());
  }
  Ensure(complete, "the gradients of {} parts are not complete", parts);
}

void GatherSlices(Ranks& ranks, const Tensor& vector, GradientType type) {
  const std::vector<std::int64_t> slices = SlicesOf(vector.elements(), ranks.size());
  const auto slice_of = [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    return vector.ViewRows(slices[r], slices[r + 1] - slices[r]);
  };
  Message own = Message::Of(slice_of(ranks.rank()), type);
  std::vector<Message> others;
  for (int rank = 0; rank < ranks.size(); ++rank) others.push_back(Message::Into(slice_of(rank), type));
  std::vector<Transfer> transfers;
  for (int peer = 0; peer < ranks.size(); ++peer) {
    if (peer == ranks.rank()) continue;
    transfers.push_back({peer, true, own.bytes()});
    transfers.push_back({peer, false, others[static_cast<std::size_t>(peer)].bytes()});
  }
  ranks.Exchange(transfers);
  for (int peer = 0; peer < ranks.size(); ++peer)
    if (peer != ranks.rank()) others[static_cast<std::size_t>(peer)].Unpack();
}

}  // namespace headlight
