#include "headlight/models/openai_vae.h"

#include <vector>

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/models/family.h"
#include "headlight/ops/activation.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/pooling.h"

namespace headlight {
namespace {

constexpr int kGroups = 4;

// Returns a convolution of `taps` x `taps` that keeps the size of feature maps.
Convolution Same(const Scope& scope, std::int64_t inputs, std::int64_t outputs, std::int64_t taps) {
  return {scope,         inputs,
          outputs,       {.kernel = {taps, taps}, .padding = {taps / 2, taps / 2}},
          /*bias=*/true, {.weight = "w", .bias = "b"}};
}

FeatureMaps Relu(const FeatureMaps& x) { return {ops::Activate(Activation::relu, x.rows), x.grids}; }

}  // namespace

OpenAiVaeBlock::OpenAiVaeBlock(const Scope& scope, std::int64_t inputs, std::int64_t outputs, bool encoder, double gain)
    : gain_(gain) {
  if (inputs != outputs) identity_.emplace(Same(scope / "id_path", inputs, outputs, 1));
  const std::int64_t inner = outputs / 4;
  for (int i = 1; i <= 4; ++i)
    residual_.push_back(Same(scope / "res_path" / fmt::format("conv_{}", i), i == 1 ? inputs : inner,
                             i == 4 ? outputs : inner, i == (encoder ? 4 : 1) ? 1 : 3));
}

FeatureMaps OpenAiVaeBlock::operator()(Context& context, const FeatureMaps& x) const {
  FeatureMaps inner = Relu(x);
  for (std::size_t i = 0; i + 1 < residual_.size(); ++i) inner = residual_[i](context, inner, Activation::relu);
  inner = residual_.back()(context, inner);
  const Tensor same = identity_ ? (*identity_)(context, x).rows : x.rows;
  return {ops::Add(same, ops::Scale(inner.rows, gain_)), x.grids};
}

OpenAiVae::OpenAiVae(const OpenAiVaeConfig& config, DType dtype) : ImageCoder(dtype), config_(Checked(config)) {
  limits_ = {config.image, 1 << (kGroups - 1), config.codes, PixelDistribution::logit_laplace};
  const Scope root(parameters_);
  encoder_ = DeclareHalf(root / "encoder" / "blocks", /*encoder=*/true);
  decoder_ = DeclareHalf(root / "decoder" / "blocks", /*encoder=*/false);
}

OpenAiVae::Half OpenAiVae::DeclareHalf(const Scope& scope, bool encoder) const {
  Half half;
  const std::int64_t blocks = config_.blocks;
  const double gain = 1 / static_cast<double>(kGroups * blocks * kGroups * blocks);
  std::int64_t channels = encoder ? config_.hidden : config_.decoder;
  half.input.emplace(encoder ? Same(scope / "input", 3, channels, 7)
                             : Same(scope / "input", config_.codes, channels, 1));
  for (int group = 0; group < kGroups; ++group) {
    const std::int64_t outputs = config_.hidden << (encoder ? group : kGroups - 1 - group);
    half.groups.emplace_back();
    for (std::int64_t block = 1; block <= blocks; ++block) {
      half.groups.back().emplace_back(scope / fmt::format("group_{}", group + 1) / fmt::format("block_{}", block),
                                      channels, outputs, encoder, gain);
      channels = outputs;
    }
  }
  half.output.emplace(Same(scope / "output" / "conv", channels, encoder ? config_.codes : 6, 1));
  return half;
}

FeatureMaps OpenAiVae::Encode(Context& context, const FeatureMaps& pixels) const {
  FeatureMaps x = (*encoder_.input)(context, Input(pixels, 1 - 2 * kLaplaceMargin, kLaplaceMargin));
  for (std::size_t group = 0; group < encoder_.groups.size(); ++group) {
    if (group > 0) x = ops::MaxPool(x, {});
    for (const OpenAiVaeBlock& block : encoder_.groups[group]) x = block(context, x);
  }
  return (*encoder_.output)(context, Relu(x));
}

FeatureMaps OpenAiVae::Decode(Context& context, const FeatureMaps& weights) const {
  FeatureMaps x = (*decoder_.input)(context, weights);
  for (std::size_t group = 0; group < decoder_.groups.size(); ++group) {
    if (group > 0) x = ops::NearestDouble(x);
    for (const OpenAiVaeBlock& block : decoder_.groups[group]) x = block(context, x);
  }
  return (*decoder_.output)(context, Relu(x));
}

void Describe(ConfigTable& table, OpenAiVaeConfig& config) {
  table.Note("model_type", "openai_vae");
  table.RefuseUnknown();
  table.Integer("image_size", config.image, "the size of images", 8, 1 << 12);
  table.Integer("vocab_size", config.codes, "the number of codes", 2, kLargestSize);
  table.Integer("n_hid", config.hidden, "the number of channels", 4, 1 << 16);
  table.Integer("n_init", config.decoder, "the number of channels of the decoder's input", 1, 1 << 16);
  table.Integer("n_blk_per_group", config.blocks, "the number of blocks of a group", 1, 1024);
  table.Only("group_count", kGroups, "other than four groups of blocks");
  table.Rule(config.image % 8 == 0, "the size of images, {}, must be a multiple of 8", config.image);
  table.Rule(config.hidden % 4 == 0, "the number of channels, {}, must be a multiple of 4", config.hidden);
}

namespace families {
extern const Family openai_vae = MakeFamily<OpenAiVae, LoadWhole<OpenAiVae>>({"openai_vae"});
}  // namespace families

void OpenAiVae::Save(const std::string& folder, Compute compute) const {
  SaveConfigAndWeights(folder, WriteConfig(config_), parameters_, compute);
}

}  // namespace headlight
