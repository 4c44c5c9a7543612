#include "headlight/nn/assignment.h"

#include <limits>

namespace headlight {
namespace {

// Returns the j that is assigned to each i. The cost of a pair is cost(i, j), with i < few, j < many and few <= many.
std::vector<std::int32_t> AssignFew(std::int64_t few, std::int64_t many, const auto& cost) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  std::vector<double> u(size(few)), v(size(many));  // dual variables
  std::vector<std::int64_t> of_few(size(few), -1), of_many(size(many), -1);
  for (std::int64_t start = 0; start < few; ++start) {
    // Finds the shortest path from `start` to a free j with Dijkstra's algorithm. Costs are reduced by the dual
    // variables.
    std::vector<double> distance(size(many), kFar);
    std::vector<std::int64_t> before(size(many), -1);  // the i that precedes each j on its path
    std::vector<bool> reached(size(many));
    std::vector<std::int64_t> visited = {start};  // the i on the paths found so far
    double shortest = 0;
    std::int64_t i = start, sink = -1;
    while (sink < 0) {
      std::int64_t nearest = -1;
      for (std::int64_t j = 0; j < many; ++j) {
        if (reached[size(j)]) continue;
        const double through = shortest + cost(i, j) - u[size(i)] - v[size(j)];
        if (through < distance[size(j)]) {
          distance[size(j)] = through;
          before[size(j)] = i;
        }
        // If distances are equal, a free j is preferred, because it ends the search.
        if (nearest < 0 || distance[size(j)] < distance[size(nearest)] ||
            (distance[size(j)] == distance[size(nearest)] && of_many[size(j)] < 0 && of_many[size(nearest)] >= 0))
          nearest = j;
      }
      shortest = distance[size(nearest)];
      reached[size(nearest)] = true;
      if (of_many[size(nearest)] < 0)
        sink = nearest;
      else
        visited.push_back(i = of_many[size(nearest)]);
    }
    u[size(start)] += shortest;
    for (std::size_t k = 1; k < visited.size(); ++k)
      u[size(visited[k])] += shortest - distance[size(of_few[size(visited[k])])];
    for (std::int64_t j = 0; j < many; ++j)
      if (reached[size(j)]) v[size(j)] -= shortest - distance[size(j)];
    for (std::int64_t j = sink, next = 0; j >= 0; j = next) {  // assigns each i on the path to the next j
      const std::int64_t from = before[size(j)];
      next = from == start ? -1 : of_few[size(from)];
      of_few[size(from)] = j;
      of_many[size(j)] = from;
    }
  }
  return {of_few.begin(), of_few.end()};
}

}  // namespace

std::vector<std::int32_t> Assign(Matrix<const double> costs) {
  if (costs.rows <= costs.columns)
    return AssignFew(costs.rows, costs.columns, [&](std::int64_t i, std::int64_t j) { return costs.row(i)[j]; });
  std::vector<std::int32_t> columns(static_cast<std::size_t>(costs.rows), -1);
  const std::vector<std::int32_t> rows =
      AssignFew(costs.columns, costs.rows, [&](std::int64_t i, std::int64_t j) { return costs.row(j)[i]; });
  for (std::size_t column = 0; column < rows.size(); ++column)
    columns[static_cast<std::size_t>(rows[column])] = static_cast<std::int32_t>(column);
  return columns;
}

}  // namespace headlight
