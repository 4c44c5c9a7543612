#include "headlight/nn/experts.h"

#include <numeric>
#include <utility>
#include <vector>

#include "headlight/ops/concatenate.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/linear.h"
#include "headlight/ops/routing.h"
#include "headlight/ops/sigmoid.h"
#include "headlight/ops/weighted_rows.h"

namespace headlight {
namespace {

const Parameter* DeclareGate(const Scope& scope, std::int64_t outputs, std::int64_t model) {
  Parameter& weight = scope.DeclareMatrix({"weight"}, {outputs, model});
  weight.role.exact = true;
  return &weight;
}

}  // namespace

Experts::Experts(const Scope& scope, const ExpertsConfig& config)
    : per_token_(config.per_token),
      normalized_(config.normalized),
      router_(DeclareGate(scope / "gate", config.experts, config.each.model)) {
  for (std::int32_t expert = 0; expert < config.experts; ++expert)
    experts_.emplace_back(scope / "experts" / expert, config.each);
  if (config.shared_ffn == 0) return;
  GatedFeedForwardConfig shared = config.each;
  shared.ffn = config.shared_ffn;
  shared_.emplace(scope / "shared_expert", shared);
  shared_gate_ = DeclareGate(scope / "shared_expert_gate", 1, config.each.model);
}

Tensor Experts::operator()(Context& context, const Tensor& x) const {
  const ops::Routing routing = ops::Route(ops::Linear(x, context.UseWeight(*router_)), per_token_, normalized_);
  if (context.hooks.routing) context.hooks.routing(routing);
  const auto tokens = static_cast<std::size_t>(x.rows()), per_token = static_cast<std::size_t>(per_token_);
  std::vector<std::vector<std::int32_t>> tokens_of(experts_.size());
  for (std::size_t i = 0; i < routing.experts.size(); ++i)
    tokens_of[static_cast<std::size_t>(routing.experts[i])].push_back(static_cast<std::int32_t>(i / per_token));

  std::vector<Tensor> results;  // output of each expert for its tokens
  std::vector<std::int32_t> next_row(experts_.size());
  std::int32_t rows = 0;
  for (std::size_t expert = 0; expert < experts_.size(); ++expert) {
    next_row[expert] = rows;
    rows += static_cast<std::int32_t>(tokens_of[expert].size());
    if (!tokens_of[expert].empty()) results.push_back(experts_[expert](context, ops::Embedding(x, tokens_of[expert])));
  }
  Tensor weights = routing.weights;
  if (shared_) {
    results.push_back((*shared_)(context, x));
    weights = ops::ConcatenateColumns(weights, ops::Sigmoid(ops::Linear(x, context.UseWeight(*shared_gate_))));
  }
  if (results.empty()) return x;    // there are no tokens
  std::vector<std::int32_t> terms;  // rows of `results` that are summed for each token
  for (std::size_t token = 0; token < tokens; ++token) {
    for (std::size_t i = token * per_token; i < (token + 1) * per_token; ++i)
      terms.push_back(next_row[static_cast<std::size_t>(routing.experts[i])]++);
    if (shared_) terms.push_back(rows + static_cast<std::int32_t>(token));
  }
  return ops::WeightedRows(ops::Concatenate(results), terms, weights);
}

}  // namespace headlight
