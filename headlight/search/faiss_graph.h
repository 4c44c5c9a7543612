// The graph of an HNSW index (Malkov and Yashunin, "Efficient and Robust Approximate Nearest Neighbor Search Using
// Hierarchical Navigable Small World Graphs", 2020) as FAISS stores it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "headlight/search/best_rows.h"

namespace headlight {

// FaissIndex::Open has checked every number.
struct FaissGraph {
  std::vector<std::int32_t> ends;        // of a node's neighbours on each level, from its first: [levels + 1], from 0
  std::vector<std::uint64_t> offsets;    // of a node's first neighbour: [nodes + 1]
  std::vector<std::int32_t> neighbours;  // nodes; behind the last of a level stands -1
  std::int32_t entry = -1;               // on the highest level; -1 if there is no node
  std::int32_t top_level = -1;           // from 0
  std::int64_t ef_search = 16;           // candidates that a search keeps
};

// The `top` nodes nearest to a query, the nearest first, as FAISS finds them: greedily down the levels, and on the
// lowest with the best max(ef_search, top) candidates. `score_of` gives a node's score, of which the largest is the
// nearest.
std::vector<ScoredRow> SearchGraph(const FaissGraph& graph, std::int64_t top, std::int64_t ef_search,
                                   const std::function<float(std::int64_t node)>& score_of);

}  // namespace headlight
