// Searches the graph of an HNSW index in Faiss's layout (Malkov and Yashunin, "Efficient and Robust Approximate Nearest
// Neighbor Search Using Hierarchical Navigable Small World Graphs", 2020).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "headlight/search/best_rows.h"

namespace headlight {

/// An HNSW graph. FaissIndex::Open validates all its values.
struct FaissGraph {
  std::vector<std::int32_t>
      ends;  // end of a node's neighbors on each level, relative to its first neighbor: [levels + 1], from 0
  std::vector<std::uint64_t> offsets;   // offset of a node's first neighbor: [nodes + 1]
  std::vector<std::int32_t> neighbors;  // node indices; -1 after the last neighbor of a level
  std::int32_t entry = -1;              // a node on the highest level; -1 if the graph is empty
  std::int32_t top_level = -1;          // index of the highest level, from 0
  std::int64_t ef_search = 16;          // number of candidates that a search keeps
};

/// Returns the `top` nodes nearest to a query, nearest first. Uses Faiss's algorithm: a greedy search on the upper
/// levels, and a search with the best max(ef_search, top) candidates on the lowest level. `score_of` returns a node's
/// score. A larger score means a nearer node.
std::vector<ScoredRow> SearchGraph(const FaissGraph& graph, std::int64_t top, std::int64_t ef_search,
                                   const std::function<float(std::int64_t node)>& score_of);

}  // namespace headlight
