// Index files of FAISS (Douze et al., "The Faiss library", 2024, arXiv:2401.08281), whose vectors are compared by inner
// product or L2 distance.
//   const FaissIndex index = FaissIndex::Open("photos.faiss");
//   for (const FaissIndex::Hit& hit : index.Search(vector, 10)) fmt::print("{}\n", hit.id);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/search/vector_index.h"

namespace headlight {

/// Immutable and cheap to copy; all methods are thread-safe.
class HEADLIGHT_API FaissIndex {
 public:
  /// Opens an IndexFlatIP or IndexFlatL2; an IndexIVFFlat, whose vectors are in lists around centroids; or an
  /// IndexHNSWFlat, whose vectors are the nodes of a graph. Each may be inside an IndexIDMap. The file is
  /// memory-mapped. Throws Error naming the file, the byte and what is wrong there, and for other kinds of indexes.
  static FaissIndex Open(const std::string& path);

  std::int64_t size() const;
  std::int64_t dimension() const;
  std::int64_t lists() const;  // 1 unless it is an IndexIVFFlat
  bool by_l2() const;          ///< whether scores are squared L2 distances, for which smaller is nearer
  bool has_graph() const;      ///< whether it is an IndexHNSWFlat

  struct Hit {
    std::int64_t id = 0;  ///< the row number, from 0, or the id that the index stores for it
    float score = 0;      ///< inner product or squared L2 distance of the row's vector and the query
  };
  struct Options {
    std::int64_t probes = 0;  ///< with lists: the number of lists to search, those with the nearest centroids [all]
    std::int64_t ef_search =
        0;  ///< with a graph: the number of candidates to keep, more for higher recall [as in the file]
    VectorIndex::Progress progress = {};
  };
  /// The `top` vectors nearest to the vector [dimension], nearest first. The search is exhaustive without lists and
  /// graphs. Throws Error for a vector of another size.
  std::vector<Hit> Search(std::span<const float> vector, std::int64_t top, const Options& options) const;
  std::vector<Hit> Search(std::span<const float> vector, std::int64_t top) const {
    return Search(vector, top, Options());
  }

 private:
  struct State;
  explicit FaissIndex(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// Writes the vectors of an index in row order as an IndexFlatIP, or for `by_l2` as an IndexFlatL2, which
/// faiss.read_index can read.
HEADLIGHT_API void WriteFaiss(const VectorIndex& index, const std::string& path, bool by_l2 = false);

}  // namespace headlight
