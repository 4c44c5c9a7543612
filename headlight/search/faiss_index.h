// Reads and searches index files of Faiss (Douze et al., "The Faiss library", 2024, arXiv:2401.08281) by inner product
// or L2 distance.
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

/// A Faiss index. Immutable and cheap to copy. All methods are thread-safe.
class HEADLIGHT_API FaissIndex {
 public:
  /// Opens an IndexFlatIP, IndexFlatL2, IndexIVFFlat or IndexHNSWFlat, or an IndexIDMap that contains one of these. The
  /// file is memory-mapped. If the file is invalid, throws Error with the file, the byte and the reason. Also throws
  /// Error for other kinds of indexes.
  static FaissIndex Open(const std::string& path);

  std::int64_t size() const;
  std::int64_t dimension() const;
  std::int64_t lists() const;  ///< number of lists; 1 unless the index is an IndexIVFFlat
  bool by_l2() const;          ///< true if scores are squared L2 distances, so that a smaller score is nearer
  bool has_graph() const;      ///< true if the index is an IndexHNSWFlat

  struct Hit {
    std::int64_t id = 0;  ///< the row number, from 0, or the id that the index stores for the row
    float score = 0;      ///< inner product or squared L2 distance of the row's vector and the query
  };
  struct Options {
    std::int64_t probes = 0;  ///< for IndexIVFFlat: number of lists to search, nearest centroids first [all]
    std::int64_t ef_search =
        0;  ///< for IndexHNSWFlat: number of candidates to keep; more candidates increase the recall; 0: as in the file
    VectorIndex::Progress progress = {};
  };
  /// Returns the `top` vectors nearest to the vector [dimension], nearest first. An IndexFlat is searched exhaustively.
  /// Throws Error if the vector has a different size.
  std::vector<Hit> Search(std::span<const float> vector, std::int64_t top, const Options& options) const;
  std::vector<Hit> Search(std::span<const float> vector, std::int64_t top) const {
    return Search(vector, top, Options());
  }

 private:
  struct State;
  explicit FaissIndex(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// Writes the vectors of an index in row order as an IndexFlatIP, or as an IndexFlatL2 if `by_l2` is true.
/// faiss.read_index can read the file.
HEADLIGHT_API void WriteFaiss(const VectorIndex& index, const std::string& path, bool by_l2 = false);

}  // namespace headlight
