// The graph of an HNSW index (Malkov and Yashunin, "Efficient and Robust Approximate Nearest Neighbor Search Using
// Hierarchical Navigable Small World Graphs", 2020) in FAISS's layout.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "headlight/search/best_rows.h"

namespace headlight {

/// All numbers were checked by FaissIndex::Open.
struct FaissGraph {
  std::vector<std::int32_t>
      ends;  // ends of a node's neighbours on each level, relative to its first: [levels + 1], from 0
  std::vector<std::uint64_t> offsets;    // of a node's first neighbour: [nodes + 1]
  std::vector<std::int32_t> neighbours;  // nodes; -1 after the last one of a level
  std::int32_t entry = -1;               // a node on the highest level; -1 if there is no node
  std::int32_t top_level = -1;           // from 0
  std::int64_t ef_search = 16;           // number of candidates kept by a search
};

/// The `top` nodes nearest to a query, nearest first, with FAISS's algorithm: greedy search down the levels, and on the
/// lowest level the best max(ef_search, top) candidates. `score_of` returns a node's score; larger is nearer.
std::vector<ScoredRow> SearchGraph(const FaissGraph& graph, std::int64_t top, std::int64_t ef_search,
                                   const std::function<float(std::int64_t node)>& score_of);

}  // namespace headlight
