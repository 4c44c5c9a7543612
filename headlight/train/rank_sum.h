// The sum of a step's gradients over ranks: the vector is cut into pieces, each of which has an owner, who receives the
// others' sums of it, adds them up in the fixed tree, and sends the result to all. That happens while gradients are
// still computed, piece by piece.
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

// The parts that each rank computes: rank r those from [r] to before [r + 1]. None has more than ceil(parts / ranks),
// and within that they begin where the tree has its largest sums, so that little is sent.
HEADLIGHT_API std::vector<std::int64_t> DealParts(std::int64_t parts, int ranks);

// Numbers from `begin` to before `end` of a vector, and the rank that owns them.
struct Piece {
  std::int64_t begin = 0, end = 0;
  int owner = 0;
};

// The pieces of a vector of so many numbers, in its order. Owners take turns, so that all have something to do wherever
// the gradient becomes known first.
HEADLIGHT_API std::vector<Piece> PiecesOf(std::int64_t numbers, int ranks);

// Sends, receives and adds up beside the thread that computes the parts of this rank (DealParts).
class HEADLIGHT_API RankSum {
 public:
  // Of `gradients`, a vector, which becomes the sum of all parts, or its own pieces where `own_pieces` is set; the
  // others then are undefined.
  RankSum(Ranks& ranks, std::int64_t parts, GradientType type, const Tensor& gradients, bool own_pieces);
  ~RankSum();  // gives up what is not finished
  RankSum(const RankSum&) = delete;
  RankSum& operator=(const RankSum&) = delete;

  const std::vector<Piece>& pieces() const { return pieces_; }

  // A piece of the sum at `place`, one of GradientTree::PlacesOf this rank's parts: each once for each piece. `sum`,
  // all of the vector, stays as it is in the piece until Finish; where it is `gradients`, it is the last one.
  void Add(GradientTree::Place place, std::size_t piece, const Tensor& sum);

  // Waits for the others. Throws what Transfers::Wait throws.
  void Finish();

 private:
  struct Summand {
    GradientTree::Place place;
    Tensor sum;  // of a piece
  };
  // A piece that this rank has a part in.
  struct State {
    std::size_t missing = 0;        // of an own one the sums of all ranks, of another the own ones that have to go
    std::vector<Summand> summands;  // of an own one
  };

  Tensor Of(const Tensor& vector, std::size_t piece) const;
  void Work();
  void Stop();  // the thread
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
  std::vector<GradientTree::Place> places_;  // of this rank
  std::vector<State> states_;                // of each piece
  Transfers transfers_;
  std::mutex mutex_;              // of what is added and not yet taken
  std::condition_variable wake_;  // of the thread
  struct Added {
    std::size_t piece = 0;
    Summand summand;
  };
  std::vector<Added> added_;
  std::atomic<bool> stopping_{false};
  std::exception_ptr failure_;  // of the thread
  std::thread thread_;
};

// Fills the others' pieces of a vector, of which each rank has its own.
HEADLIGHT_API void GatherPieces(Ranks& ranks, const Tensor& vector);

}  // namespace headlight
