#include "headlight/search/faiss_graph.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>

namespace headlight {
namespace {

std::span<const std::int32_t> NeighborsOf(const FaissGraph& graph, std::int64_t node, std::int32_t level) {
  const std::uint64_t first = graph.offsets[static_cast<std::size_t>(node)];
  const auto begin = static_cast<std::size_t>(graph.ends[static_cast<std::size_t>(level)]);
  const auto end = static_cast<std::size_t>(graph.ends[static_cast<std::size_t>(level) + 1]);
  const auto all = std::span(graph.neighbors).subspan(first + begin, end - begin);
  return all.first(static_cast<std::size_t>(std::ranges::find(all, -1) - all.begin()));
}

// Keeps the best candidates. `seen_` contains all candidates, and `open_` contains the candidates that are not visited
// yet.
class GraphCandidates {
 public:
  explicit GraphCandidates(std::size_t most) : most_(most) {}

  void Push(const ScoredRow& one) {
    const Key key = {-one.score, one.row};
    if (seen_.size() == most_) {
      const Key worst = *seen_.rbegin();
      if (key.first >= worst.first) return;
      seen_.erase(worst);
      open_.erase(worst);
    }
    seen_.insert(key);
    open_.insert(key);
  }
  bool empty() const { return open_.empty(); }
  ScoredRow Pop() {
    const Key best = *open_.begin();
    open_.erase(open_.begin());
    return {best.second, -best.first};
  }
  // Returns the number of candidates with a larger score, including visited ones.
  std::int64_t Above(float score) const { return std::distance(seen_.begin(), seen_.lower_bound({-score, -1})); }

 private:
  using Key = std::pair<float, std::int64_t>;  // the negated score and the node
  std::size_t most_;
  std::set<Key> seen_, open_;
};

}  // namespace

std::vector<ScoredRow> SearchGraph(const FaissGraph& graph, std::int64_t top, std::int64_t ef_search,
                                   const std::function<float(std::int64_t node)>& score_of) {
  if (graph.entry < 0) return {};
  ScoredRow nearest = {graph.entry, score_of(graph.entry)};
  for (std::int32_t level = graph.top_level; level >= 1; --level) {
    for (std::int64_t before = -1; before != nearest.row;) {
      before = nearest.row;
      for (const std::int32_t node : NeighborsOf(graph, before, level))
        if (const float score = score_of(node); score > nearest.score) nearest = {node, score};
    }
  }
  BestRows best(top);
  GraphCandidates candidates(static_cast<std::size_t>(std::max(ef_search, top)));
  std::unordered_set<std::int64_t> met;
  const auto meet = [&](const ScoredRow& one) {
    met.insert(one.row);
    best.Add(one);
    candidates.Push(one);
  };
  meet(nearest);
  while (!candidates.empty()) {
    const ScoredRow from = candidates.Pop();
    if (candidates.Above(from.score) >= ef_search) break;
    for (const std::int32_t node : NeighborsOf(graph, from.row, 0))
      if (!met.contains(node)) meet({node, score_of(node)});
  }
  return best.Take();
}

}  // namespace headlight
