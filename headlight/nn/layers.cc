#include "headlight/nn/layers.h"

#include <cmath>
#include <numeric>

#include "headlight/base/error.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/dropout.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/layer_norm.h"
#include "headlight/ops/rms_norm.h"

namespace headlight {
namespace {

std::vector<std::string> WithSuffix(const std::vector<std::string>& names, const char* suffix) {
  std::vector<std::string> full;
  for (const std::string& name : names) full.push_back(name + suffix);
  return full;
}

}  // namespace

Linear::Linear(const Scope& scope, const std::vector<std::string>& names, std::int64_t inputs, std::int64_t outputs,
               bool bias, bool stored_transposed, const LinearInitialization& initialization,
               const std::vector<std::int64_t>& parts) {
  Parameter& weight = scope.DeclareMatrix(WithSuffix(names, ".weight"), {outputs, inputs}, stored_transposed, parts);
  weight.initialization = initialization.weight;
  weight_ = &weight;
  if (!bias) return;
  Parameter& shift = scope.DeclareVector(WithSuffix(names, ".bias"), outputs, parts);
  shift.initialization = Initialization::Constant(initialization.bias);
  bias_ = &shift;
}

Tensor Linear::operator()(Context& context, const Tensor& x, Activation activation) const {
  if (context.hooks.product) context.hooks.product(*weight_, x);
  return ops::Linear(x, context.UseWeight(*weight_), bias_ != nullptr ? context.Use(*bias_) : Tensor(), activation);
}

LayerNorm::LayerNorm(const Scope& scope, std::int64_t model, double epsilon)
    : gain_(&scope.Declare("weight", {model}, Initialization::Constant(1))),
      bias_(&scope.Declare("bias", {model}, Initialization::Constant(0))),
      epsilon_(epsilon) {}

Tensor LayerNorm::operator()(Context& context, const Tensor& x) const {
  return ops::LayerNorm(x, context.Use(*gain_), context.Use(*bias_), epsilon_);
}

Tensor LayerNorm::AfterResidual(Context& context, const Tensor& x, const Tensor& sublayer, double dropout) const {
  return ops::ResidualLayerNorm(x, sublayer, context.NextDropout(dropout), context.Use(*gain_), context.Use(*bias_),
                                epsilon_);
}

NormGain::NormGain(const Scope& scope, std::int64_t size, double offset)
    : weight_(&scope.Declare("weight", {size}, Initialization::Constant(1 - offset))), offset_(offset) {}

Tensor NormGain::operator()(Context& context) const {
  const Tensor weight = context.Use(*weight_);
  if (offset_ == 0) return weight;
  const Tensor offset = Tensor::Empty({1}, weight.dtype());
  offset.Fill(offset_);
  return ops::Add(weight, offset);
}

RmsNorm::RmsNorm(const Scope& scope, std::int64_t model, double epsilon, double gain_offset)
    : gain_(scope, model, gain_offset), epsilon_(epsilon) {}

Tensor RmsNorm::operator()(Context& context, const Tensor& x) const {
  return ops::RmsNorm(x, gain_(context), epsilon_);
}

FeedForward::FeedForward(const Scope& scope, std::int64_t model, std::int64_t ffn, Activation activation,
                         const std::array<std::string, 2>& names, bool stored_transposed, bool biases)
    : inner_(scope, {names[0]}, model, ffn, biases, stored_transposed),
      outer_(scope, {names[1]}, ffn, model, biases, stored_transposed),
      activation_(activation) {}

GatedFeedForward::GatedFeedForward(const Scope& scope, const GatedFeedForwardConfig& config)
    : activation_(config.activation),
      gate_(config.gate),
      inner_(scope, config.inner, config.model, 2 * config.ffn, config.biases),
      outer_(scope, {config.outer}, config.ffn, config.model, config.biases) {}

Tensor GatedFeedForward::Inner(Context& context, const Tensor& x) const {
  return ops::GatedActivation(activation_, inner_(context, x), gate_);
}

PositionalEncoding PositionalEncoding::Sinusoidal(std::int64_t positions, std::int64_t model, DType dtype) {
  Check(model % 2 == 0, "sinusoidal positions need an even model dimension, not {}", model);
  PositionalEncoding encoding;
  encoding.sinusoids_ = Tensor::Empty({positions, model}, dtype);
  Dispatch(dtype, [&]<typename T>(T) {
    for (std::int64_t position = 0; position < positions; ++position) {
      T* row = encoding.sinusoids_.matrix<T>().row(position);
      for (std::int64_t i = 0; i < model / 2; ++i) {
        const double angle = static_cast<double>(position) *
                             std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(model));
        row[i] = static_cast<T>(std::sin(angle));
        row[model / 2 + i] = static_cast<T>(std::cos(angle));
      }
    }
  });
  return encoding;
}

PositionalEncoding PositionalEncoding::Learned(const Scope& scope, std::int64_t positions, std::int64_t model,
                                               std::int32_t first, std::optional<double> deviation) {
  PositionalEncoding encoding;
  encoding.first_ = first;
  encoding.learned_ =
      &scope.Declare("weight", {first + positions, model},
                     Initialization::Normal(deviation.value_or(1 / std::sqrt(static_cast<double>(model)))));
  return encoding;
}

Tensor PositionalEncoding::Table(Context& context) const {
  return learned_ == nullptr ? sinusoids_ : context.Use(*learned_);
}

std::int64_t PositionalEncoding::positions() const {
  return learned_ == nullptr ? sinusoids_.shape()[0] : learned_->shape[0] - first_;
}

TokenEmbedding::TokenEmbedding(const Scope& scope, std::int64_t vocabulary, std::int64_t model,
                               Initialization initialization, bool scores) {
  Parameter& table = scope.Declare("weight", {vocabulary, model}, initialization);
  table.role.looked_up = true;
  table.role.in_products = scores;
  table_ = &table;
}

Tensor TokenEmbedding::operator()(Context& context, std::span<const std::int32_t> ids, double scale,
                                  const Tensor& position_table, std::span<const std::int32_t> positions,
                                  Dropout dropout) const {
  if (!table_->value.empty())
    return ops::Embedding(context.Use(*table_), ids, scale, position_table, positions, dropout);
  // The values are empty, because only the packed form is in memory.
  std::vector<std::int32_t> rows(ids.size());
  std::iota(rows.begin(), rows.end(), 0);
  return ops::Embedding(ops::Rows(context.UseWeight(*table_), ids), rows, scale, position_table, positions, dropout);
}

Tensor TokenEmbedding::Scores(Context& context, const Tensor& hidden, const Tensor& bias) const {
  return ops::Linear(hidden, context.UseWeight(*table_), bias);
}

Embedding::Embedding(const TokenEmbedding& tokens, double scale, PositionalEncoding positions, double dropout,
                     std::optional<LayerNorm> norm)
    : tokens_(tokens), scale_(scale), positions_(std::move(positions)), dropout_(dropout), norm_(std::move(norm)) {}

Tensor Embedding::operator()(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences,
                             std::span<const std::int32_t> first_positions) const {
  std::vector<std::int32_t> positions(ids.size());
  for (std::size_t sequence = 0; sequence < sequences.size(); ++sequence) {
    const auto [begin, length, step] = sequences[sequence];
    const std::int32_t first = first_positions.empty() ? 0 : first_positions[sequence];
    Check(first + length <= positions_.positions(), "a sentence of {} tokens is longer than the model's {} positions",
          first + length, positions_.positions());
    for (std::int32_t token = 0; token < length; ++token)
      positions[static_cast<std::size_t>(begin + token * step)] = positions_.first() + first + token;
  }
  const Dropout dropout = context.NextDropout(dropout_), fused = norm_ ? Dropout{} : dropout;
  const Tensor embedded = tokens_(context, ids, scale_, positions_.Table(context), positions, fused);
  return norm_ ? ops::Drop((*norm_)(context, embedded), dropout) : embedded;
}

}  // namespace headlight
