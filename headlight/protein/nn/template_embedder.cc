#include "headlight/protein/nn/template_embedder.h"

#include <memory>
#include <utility>

#include "headlight/nn/attention_hook.h"
#include "headlight/nn/recomputed.h"
#include "headlight/ops/concatenate.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/pointwise_attention.h"
#include "headlight/ops/residual.h"
#include "headlight/protein/alignment.h"
#include "headlight/protein/nn/folding_embedders.h"

namespace headlight {
namespace {

// The indices of a template's features for a pair of residues (i, j). In order, the features are the bin of the C beta
// distance, a flag (1: both C betas are known), the types of j and of i, a unit vector (zero in the published
// single-chain models), and a flag (1: both backbones are known). If a backbone is unknown, all features are zero.
constexpr std::int64_t kDistanceBins = 39, kBetas = kDistanceBins, kSecondType = kBetas + 1,
                       kFirstType = kSecondType + kAlignmentLetters, kVector = kFirstType + kAlignmentLetters,
                       kBackbones = kVector + 3, kPairFeatures = kBackbones + 1;

Linear TemplateProjection(const Scope& scope, const char* name, std::int64_t inputs, std::int64_t outputs) {
  return {scope, {name}, inputs, outputs, /*bias=*/true, /*stored_transposed=*/false, HeNormal(inputs)};
}

}  // namespace

TemplatePairStack::TemplatePairStack(const Scope& scope, const PairStackConfig& config, int blocks)
    : norm_(scope / "layer_norm", config.pair) {
  for (int block = 0; block < blocks; ++block) blocks_.emplace_back(scope / "blocks" / block, config);
}

Tensor TemplatePairStack::operator()(Context& context, const Tensor& pair, const AlignmentGrid& grid,
                                     const std::function<void()>& after_block) const {
  Tensor t = pair;
  const auto kept = std::make_shared<const AlignmentGrid>(grid);  // needed until the backward pass
  for (const PairStack& block : blocks_) {
    t = RecomputedBlock(context, {t}, [&block, kept](Context& own, const std::vector<Tensor>& inputs) {
          return std::vector<Tensor>{block(own, inputs[0], *kept)};
        }).front();
    if (after_block) after_block();
  }
  return norm_(context, t);
}

TemplatePointwiseAttention::TemplatePointwiseAttention(const Scope& scope, std::int64_t pair,
                                                       const TemplateConfig& config)
    : heads_(config.heads),
      query_(scope / "mha", {"linear_q"}, pair, config.heads * config.head_dim, /*bias=*/false),
      key_value_(scope / "mha", {"linear_k", "linear_v"}, config.stack.pair, 2 * config.heads * config.head_dim,
                 /*bias=*/false),
      output_(scope / "mha", {"linear_o"}, config.heads * config.head_dim, pair, /*bias=*/true,
              /*stored_transposed=*/false, kZeroLinear) {}

Tensor TemplatePointwiseAttention::operator()(Context& context, const Tensor& pair,
                                              const std::vector<Tensor>& keys_values) const {
  return output_(context, ops::PointwiseAttention(query_(context, pair), keys_values, heads_));
}

TemplateEmbedder::TemplateEmbedder(const Scope& scope, std::int64_t alignment, std::int64_t pair,
                                   const TemplateConfig& config)
    : first_angles_(TemplateProjection(scope / "template_single_embedder", "linear_1", kTemplateAngles, alignment)),
      second_angles_(TemplateProjection(scope / "template_single_embedder", "linear_2", alignment, alignment)),
      pairs_(TemplateProjection(scope / "template_pair_embedder", "linear", kPairFeatures, config.stack.pair)),
      stack_(scope / "template_pair_stack", config.stack, config.blocks),
      attention_(scope / "template_pointwise_att", pair, config) {}

// Implements line 9. Pairs with equal features have equal results, so each result is computed only once and looked up
// for each pair.
Tensor TemplateEmbedder::EmbedPairs(Context& context, const TemplateFeatures& features) const {
  const std::vector<std::int32_t> bins = BinsOfDistances(features.beta, kDistanceBins);
  struct Kind {
    std::int64_t bin, betas, first, second;
  };
  std::vector<Kind> kinds;  // the distinct pairs with both backbones, numbered from 1; other pairs have the number 0
  std::vector<std::int32_t> numbers((kDistanceBins + 1) * 2 * kAlignmentLetters * kAlignmentLetters, -1), kind_of_pair;
  const std::size_t residues = features.types.size();
  for (std::size_t i = 0; i < residues; ++i) {
    for (std::size_t j = 0; j < residues; ++j) {
      if (features.backbone_known[i] == 0 || features.backbone_known[j] == 0) {
        kind_of_pair.push_back(0);
        continue;
      }
      const Kind kind = {bins[i * residues + j], features.beta_known[i] != 0 && features.beta_known[j] != 0 ? 1 : 0,
                         features.types[i], features.types[j]};
      std::int32_t& number = numbers[static_cast<std::size_t>(
          ((kind.bin * 2 + kind.betas) * kAlignmentLetters + kind.first) * kAlignmentLetters + kind.second)];
      if (number < 0) {
        kinds.push_back(kind);
        number = static_cast<std::int32_t>(kinds.size());
      }
      kind_of_pair.push_back(number);
    }
  }
  const Tensor each = Tensor::Zeros({std::ssize(kinds) + 1, kPairFeatures}, features.beta.dtype());
  Dispatch(each.dtype(), [&]<typename T>(T) {
    for (std::size_t number = 0; number < kinds.size(); ++number) {
      const Kind& kind = kinds[number];
      T* const row = each.matrix<T>().row(static_cast<std::int64_t>(number) + 1);
      if (kind.bin < kDistanceBins) row[kind.bin] = 1;
      row[kBetas] = static_cast<T>(kind.betas);
      row[kSecondType + kind.second] = row[kFirstType + kind.first] = row[kBackbones] = 1;
    }
  });
  return ops::Embedding(pairs_(context, each), kind_of_pair);
}

FoldingState TemplateEmbedder::operator()(Context& context, const FoldingState& state,
                                          const std::vector<TemplateFeatures>& templates,
                                          const std::function<void()>& after_block) const {
  const std::int64_t residues = std::ssize(templates.front().types);
  // Disables the hook for templates, since it reports only the chain's attention.
  const ResidueHook hook = std::exchange(context.hooks.residues, {});
  const AlignmentGrid grid(1, residues);
  const Tensor angles =
      Tensor::Empty({std::ssize(templates) * residues, kTemplateAngles}, templates.front().angles.dtype());
  std::vector<Tensor> keys_values;
  for (const TemplateFeatures& one : templates) {
    angles.ViewRows(std::ssize(keys_values) * residues, residues).CopyFrom(one.angles);
    keys_values.push_back(
        attention_.KeysAndValues(context, stack_(context, EmbedPairs(context, one), grid, after_block)));
  }
  context.hooks.residues = hook;
  const Tensor rows = second_angles_(context, first_angles_(context, angles, Activation::relu));
  return {ops::Concatenate(state.alignment, rows),
          ops::Residual(state.pair, attention_(context, state.pair, keys_values))};
}

}  // namespace headlight
