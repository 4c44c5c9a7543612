// The sum of a step's gradients over ranks. The vector is divided into pieces, and each piece is owned by a rank. The
// owner receives the partial sums of the other ranks and adds them in the fixed order of GradientTree. It then sends
// the result to all ranks. During the backward pass, each piece is summed as soon as it is complete.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/ranks.h"
#include "headlight/train/gradient_tree.h"

namespace headlight {

/// Divides a step's parts among ranks. Rank r computes parts result[r] to result[r + 1] - 1. No rank has more than
/// ceil(parts / ranks) parts. Within this limit, the parts are divided at the boundaries of the largest subtrees to
/// minimize communication.
HEADLIGHT_API std::vector<std::int64_t> DivideParts(std::int64_t parts, int ranks);

/// The elements [begin, end) of a vector, and the rank that owns them.
struct Piece {
  std::int64_t begin = 0, end = 0;
  int owner = 0;
};

/// Returns the pieces of a vector of `numbers` elements, in order. Owners alternate, so that all
/// ranks have work for any order in which the gradient is completed.
HEADLIGHT_API std::vector<Piece> PiecesOf(std::int64_t numbers, int ranks);

/// Communicates and sums on a separate thread, while another thread computes the parts of this rank (DivideParts).
class HEADLIGHT_API RankSum {
 public:
  /// Starts the sum. `gradients` is a vector that becomes the sum of all parts. If `own_pieces` is set, only this
  /// rank's pieces are summed, and the other pieces are undefined afterwards.
  RankSum(Ranks& ranks, std::int64_t parts, GradientType type, const Tensor& gradients, bool own_pieces);
  ~RankSum();  // abandons unfinished transfers
  RankSum(const RankSum&) = delete;
  RankSum& operator=(const RankSum&) = delete;

  const std::vector<Piece>& pieces() const { return pieces_; }

  /// Adds a piece of the partial sum at `node`, which is one of the nodes that GradientTree::NodesOf returns for this
  /// rank's parts. Must be called once for each node and piece. `sum` is the whole vector. The piece must not change
  /// until Finish returns. The last `sum` must be `gradients` itself.
  void Add(GradientTree::NodeIndex node, std::size_t piece, const Tensor& sum);

  /// Waits for the other ranks. Throws the same errors as Transfers::Wait.
  void Finish();

 private:
  struct Summand {
    GradientTree::NodeIndex node;
    Tensor sum;  // elements of one piece
  };
  /// The progress of a piece.
  struct State {
    // Number of sums still to receive (own piece) or to send (another rank's piece).
    std::size_t missing = 0;
    std::vector<Summand> summands;  // used only for this rank's pieces
  };

  Tensor Of(const Tensor& vector, std::size_t piece) const;
  void Work();
  void Stop();  // stops the thread
  void Take();
  void Send(const Summand& summand, std::size_t piece);
  void Await(std::size_t piece);
  void Arrived(std::size_t piece);

  Ranks& ranks_;
  std::int64_t parts_;
  GradientType type_;
  Tensor gradients_;
  bool own_pieces_;
  std::vector<Piece> pieces_;
  std::vector<GradientTree::NodeIndex> nodes_;  // nodes of this rank
  std::vector<State> states_;                   // state of each piece
  Transfers transfers_;
  std::mutex mutex_;              // protects `added_`
  std::condition_variable wake_;  // wakes the thread
  struct Added {
    std::size_t piece = 0;
    Summand summand;
  };
  std::vector<Added> added_;
  std::atomic<bool> stopping_{false};
  std::exception_ptr failure_;  // exception of the thread
  std::thread thread_;
};

/// Runs an all-gather. Each rank has its own piece of the vector, and receives the pieces of all other ranks.
HEADLIGHT_API void GatherPieces(Ranks& ranks, const Tensor& vector);

}  // namespace headlight
