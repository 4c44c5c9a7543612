// Index files of FAISS (Douze et al., "The Faiss library", 2024, arXiv:2401.08281) whose vectors are compared by inner
// product.
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
  // An IndexFlatIP, or an IndexIVFFlat, whose vectors lie in lists around centroids; each perhaps within an IndexIDMap.
  // The file is mapped. Throws Error naming the file, the byte and what is wrong there, and for other kinds of indexes.
  static FaissIndex Open(const std::string& path);

  std::int64_t size() const;
  std::int64_t dimension() const;
  std::int64_t lists() const;  // 1 of a flat index

  struct Hit {
    std::int64_t id = 0;  ///< the number of the row, from 0, or the id that the index stores for it
    float score = 0;      ///< the inner product of the row's vector and the query's
  };
  // The `top` vectors with the largest products with the vector [dimension], the largest first. All are compared, or
  // with `probes` above 0 those of the so many lists whose centroids are nearest. Throws Error for a vector of another
  // size.
  std::vector<Hit> Search(std::span<const float> vector, std::int64_t top, std::int64_t probes = 0,
                          const VectorIndex::Progress& progress = {}) const;

 private:
  struct State;
  explicit FaissIndex(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

// Writes the vectors of an index in the order of its rows as an IndexFlatIP, which faiss.read_index reads.
HEADLIGHT_API void WriteFaiss(const VectorIndex& index, const std::string& path);

}  // namespace headlight
