// Index files of FAISS (Douze et al., "The Faiss library", 2024, arXiv:2401.08281), whose vectors are compared by inner
// product or by L2 distance.
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

// Immutable and cheap to copy; every method may be called from many threads at once.
class HEADLIGHT_API FaissIndex {
 public:
  // An IndexFlatIP or IndexFlatL2; an IndexIVFFlat, whose vectors lie in lists around centroids; or an IndexHNSWFlat,
  // whose vectors are the nodes of a graph. Each may be within an IndexIDMap. The file is mapped. Throws Error naming
  // the file, the byte and what is wrong there, and for other kinds of indexes.
  static FaissIndex Open(const std::string& path);

  std::int64_t size() const;
  std::int64_t dimension() const;
  std::int64_t lists() const;  // 1 unless it is an IndexIVFFlat
  bool by_l2() const;          ///< whether the score is the squared L2 distance, of which the smallest is the nearest
  bool has_graph() const;      ///< an IndexHNSWFlat

  struct Hit {
    std::int64_t id = 0;  ///< the number of the row, from 0, or the id that the index stores for it
    float score = 0;      ///< of the row's vector and the query: their inner product, or their squared L2 distance
  };
  struct Options {
    std::int64_t probes = 0;     ///< of lists: compare only those of the so many whose centroids are nearest [all]
    std::int64_t ef_search = 0;  ///< of a graph: how many candidates are kept; more find more [as the file says]
    VectorIndex::Progress progress = {};
  };
  // The `top` vectors nearest to the vector [dimension], the nearest first. Without lists and graphs all are compared.
  // Throws Error for a vector of another size.
  std::vector<Hit> Search(std::span<const float> vector, std::int64_t top, const Options& options) const;
  std::vector<Hit> Search(std::span<const float> vector, std::int64_t top) const {
    return Search(vector, top, Options());
  }

 private:
  struct State;
  explicit FaissIndex(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

// Writes the vectors of an index in the order of its rows as an IndexFlatIP, or for `by_l2` as an IndexFlatL2, which
// faiss.read_index reads.
HEADLIGHT_API void WriteFaiss(const VectorIndex& index, const std::string& path, bool by_l2 = false);

}  // namespace headlight
