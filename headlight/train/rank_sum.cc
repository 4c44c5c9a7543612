#include "headlight/train/rank_sum.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>
#include <system_error>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/kernels/adam.h"

namespace headlight {
namespace {

// Numbers that are converted to the type used for sending.
class Message {
 public:
  // Returns a message to send. It refers to `numbers` without a copy unless they are rounded to bfloat16.
  static Message Of(const Tensor& numbers, GradientType type) {
    Message message(numbers, type);
    for (std::size_t i = 0; i < message.halves_.size(); ++i)
      message.halves_[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(numbers.data<float>()[i]) >> 16);
    return message;
  }
  // Returns a message to receive, which fills `numbers`.
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

// Returns a message tag. Index kSum is for the final sum of a piece. Lower indices are for the partial sums of a rank,
// at most two per tree level.
constexpr std::size_t kSum = 127;
int TagOf(std::size_t piece, std::size_t index) { return static_cast<int>(1 + piece * (kSum + 1) + index); }

}  // namespace

std::vector<std::int64_t> DivideParts(std::int64_t parts, int ranks) {
  const std::int64_t most = (parts + ranks - 1) / ranks;
  std::vector<std::int64_t> bounds = {0};
  for (std::int64_t left = ranks - 1; left > 0; --left) {
    const std::int64_t first = std::max(bounds.back(), parts - left * most);
    const std::int64_t last = std::min(parts, bounds.back() + most);
    std::int64_t best = last;
    // Finds the rightmost bound that is divisible by the largest power of two.
    for (std::int64_t bound = last; bound >= first; --bound)
      if (bound > 0 &&
          std::countr_zero(static_cast<std::uint64_t>(bound)) > std::countr_zero(static_cast<std::uint64_t>(best)))
        best = bound;
    bounds.push_back(best);
  }
  bounds.push_back(parts);
  return bounds;
}

std::vector<Piece> PiecesOf(std::int64_t numbers, int ranks) {
  // Each rank has several pieces, so that the piece that is completed last is small. More pieces would need more
  // messages.
  constexpr std::int64_t of_rank = 8, most = 64;  // pieces per rank; limit on the blocks per piece (4 MB)
  const std::int64_t blocks = (numbers + kernels::kSquareSumBlock - 1) / kernels::kSquareSumBlock;
  const std::int64_t length = std::clamp<std::int64_t>(blocks / (of_rank * ranks), 1, most) * kernels::kSquareSumBlock;
  std::vector<Piece> pieces;
  for (std::int64_t begin = 0; begin < numbers; begin += length)
    pieces.push_back({begin, std::min(numbers, begin + length), static_cast<int>(std::ssize(pieces) % ranks)});
  return pieces;
}

RankSum::RankSum(Ranks& ranks, std::int64_t parts, GradientType type, const Tensor& gradients, bool own_pieces)
    : ranks_(ranks),
      parts_(parts),
      type_(type),
      gradients_(gradients),
      own_pieces_(own_pieces),
      pieces_(PiecesOf(gradients.elements(), ranks.size())),
      states_(pieces_.size()),
      transfers_(ranks) {
  const std::vector<std::int64_t> dealt = DivideParts(parts, ranks.size());
  std::vector<std::vector<GradientTree::NodeIndex>> nodes;  // nodes of each rank
  std::size_t all = 0;
  for (std::size_t rank = 0; rank + 1 < dealt.size(); ++rank) {
    nodes.push_back(GradientTree::NodesOf(parts, dealt[rank], dealt[rank + 1]));
    all += nodes.back().size();
  }
  nodes_ = nodes[static_cast<std::size_t>(ranks.rank())];
  for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
    const bool own = pieces_[piece].owner == ranks.rank();
    states_[piece].missing = own ? all : nodes_.size();
    if (!own && nodes_.empty()) Await(piece);
    for (int rank = 0; own && rank < ranks.size(); ++rank) {
      if (rank == ranks.rank()) continue;
      const std::vector<GradientTree::NodeIndex>& of_rank = nodes[static_cast<std::size_t>(rank)];
      for (std::size_t i = 0; i < of_rank.size(); ++i) {
        const Tensor sum = Tensor::Empty(Of(gradients, piece).shape(), gradients.dtype());
        const auto message = std::make_shared<Message>(Message::Into(sum, type));
        transfers_.Begin({rank, false, message->bytes(), TagOf(piece, i)}, [=, this, node = of_rank[i]] {
          message->Unpack();
          states_[piece].summands.push_back({node, sum});
          Arrived(piece);
        });
      }
    }
  }
  try {
    thread_ = std::thread([this] { Work(); });
  } catch (const std::system_error&) {  // without a thread, Finish does all the work
  }
}

RankSum::~RankSum() { Stop(); }

void RankSum::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void RankSum::Add(GradientTree::NodeIndex node, std::size_t piece, const Tensor& sum) {
  {
    const std::lock_guard lock(mutex_);
    added_.push_back({piece, {node, Of(sum, piece)}});
  }
  wake_.notify_one();
}

void RankSum::Finish() {
  Stop();
  if (failure_) std::rethrow_exception(failure_);
  Take();
  transfers_.Wait();
  for (const State& state : states_) Ensure(state.missing == 0, "the gradients of {} parts are not complete", parts_);
}

Tensor RankSum::Of(const Tensor& vector, std::size_t piece) const {
  return vector.ViewRows(pieces_[piece].begin, pieces_[piece].end - pieces_[piece].begin);
}

// Polls rarely, because polling takes CPU time and cache space from the computing threads. While a message is being
// sent, polls often, because sending only progresses during polls.
void RankSum::Work() {
  const OneThread one;
  try {
    while (!stopping_) {
      Take();
      if (transfers_.Poll()) continue;
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, std::chrono::microseconds(transfers_.sending() ? 200 : 2000),
                     [this] { return stopping_ || !added_.empty(); });
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void RankSum::Take() {
  std::vector<Added> added;
  {
    const std::lock_guard lock(mutex_);
    added.swap(added_);
  }
  for (const Added& one : added) Send(one.summand, one.piece);
}

void RankSum::Send(const Summand& summand, std::size_t piece) {
  State& state = states_[piece];
  if (pieces_[piece].owner == ranks_.rank()) {
    state.summands.push_back(summand);
    return Arrived(piece);
  }
  const auto index = static_cast<std::size_t>(std::ranges::find(nodes_, summand.node) - nodes_.begin());
  const auto message = std::make_shared<Message>(Message::Of(summand.sum, type_));
  transfers_.Begin({pieces_[piece].owner, true, message->bytes(), TagOf(piece, index)}, [this, piece, message] {
    if (--states_[piece].missing == 0) Await(piece);  // reuses the memory of the sent sums
  });
}

// Starts receiving the final sum of a piece that another rank owns.
void RankSum::Await(std::size_t piece) {
  if (own_pieces_) return;
  const auto message = std::make_shared<Message>(Message::Into(Of(gradients_, piece), type_));
  transfers_.Begin({pieces_[piece].owner, false, message->bytes(), TagOf(piece, kSum)},
                   [message] { message->Unpack(); });
}

void RankSum::Arrived(std::size_t piece) {
  State& state = states_[piece];
  if (--state.missing > 0) return;
  GradientTree tree(parts_, type_);
  const Tensor whole = Of(gradients_, piece);
  bool complete = false;
  for (const auto& [node, sum] : std::exchange(state.summands, {})) {
    complete = tree.Add(node.first, node.second, sum);
    if (complete) whole.CopyFrom(sum);
  }
  Ensure(complete, "the gradients of {} parts are not complete", parts_);
  if (own_pieces_) return;
  const auto message = std::make_shared<Message>(Message::Of(whole, type_));
  for (int peer = 0; peer < ranks_.size(); ++peer)
    if (peer != ranks_.rank()) transfers_.Begin({peer, true, message->bytes(), TagOf(piece, kSum)}, [message] {});
}

void GatherPieces(Ranks& ranks, const Tensor& vector) {
  std::vector<Transfer> transfers;
  for (const Piece& piece : PiecesOf(vector.elements(), ranks.size())) {
    Message message = Message::Of(vector.ViewRows(piece.begin, piece.end - piece.begin), GradientType::float32);
    if (piece.owner != ranks.rank()) transfers.push_back({piece.owner, false, message.bytes()});
    for (int peer = 0; piece.owner == ranks.rank() && peer < ranks.size(); ++peer)
      if (peer != ranks.rank()) transfers.push_back({peer, true, message.bytes()});
  }
  ranks.Exchange(transfers);
}

}  // namespace headlight
