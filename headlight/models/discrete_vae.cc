#include "headlight/models/discrete_vae.h"

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/models/family.h"
#include "headlight/ops/linear.h"

namespace headlight {
namespace {

constexpr ConvolutionShape kHalving = {.kernel = {4, 4}, .stride = {2, 2}, .padding = {1, 1}};
constexpr ConvolutionShape kAround = {.kernel = {3, 3}, .padding = {1, 1}};

}  // namespace

VaeBlock::VaeBlock(const Scope& scope, std::int64_t channels)
    : first_(scope / "net" / 0, channels, channels, kAround),
      second_(scope / "net" / 2, channels, channels, kAround),
      third_(scope / "net" / 4, channels, channels, {}) {}

FeatureMaps VaeBlock::operator()(Context& context, const FeatureMaps& x) const {
  const FeatureMaps inner = second_(context, first_(context, x, Activation::relu), Activation::relu);
  return third_(context, inner, Activation::none, /*residual=*/x.rows);
}

DiscreteVae::DiscreteVae(const DiscreteVaeConfig& config, DType dtype) : ImageCoder(dtype), config_(Checked(config)) {
  limits_ = {config.image, std::int64_t{1} << config.layers, config.codes, config.distribution};
  const Scope root(parameters_);
  // The codebook is a matrix. Its product with the weights of the codes is the weighted mean of their embeddings.
  Parameter& codebook = root.DeclareMatrix({"codebook.weight"}, {config.code_width, config.codes},
                                           /*stored_transposed=*/true);
  codebook.initialization = Initialization::Normal(1);
  codebook_ = &codebook;
  int index = 0;
  const auto next = [&](const char* part) { return root / part / index++; };
  for (int layer = 0; layer < config.layers; ++layer)
    halving_.emplace_back(next("encoder") / 0, layer == 0 ? 3 : config.hidden, config.hidden, kHalving);
  for (int block = 0; block < config.blocks; ++block) encoder_blocks_.emplace_back(next("encoder"), config.hidden);
  scores_.emplace(next("encoder"), config.hidden, config.codes, ConvolutionShape{});
  index = 0;
  if (config.blocks > 0) widened_.emplace(next("decoder"), config.code_width, config.hidden, ConvolutionShape{});
  for (int block = 0; block < config.blocks; ++block) decoder_blocks_.emplace_back(next("decoder"), config.hidden);
  for (int layer = 0; layer < config.layers; ++layer)
    doubling_.emplace_back(next("decoder") / 0, layer == 0 && config.blocks == 0 ? config.code_width : config.hidden,
                           config.hidden, kHalving);
  pixels_.emplace(next("decoder"), config.hidden, config.distribution == PixelDistribution::normal ? 3 : 6,
                  ConvolutionShape{});
}

FeatureMaps DiscreteVae::Encode(Context& context, const FeatureMaps& pixels) const {
  FeatureMaps x = Input(pixels, 2, -1);
  for (const Convolution& halve : halving_) x = halve(context, x, Activation::relu);
  for (const VaeBlock& block : encoder_blocks_) x = block(context, x);
  return (*scores_)(context, x);
}

FeatureMaps DiscreteVae::Decode(Context& context, const FeatureMaps& weights) const {
  FeatureMaps x = {ops::Linear(weights.rows, context.UseWeight(*codebook_), {}), weights.grids};
  if (widened_) x = (*widened_)(context, x);
  for (const VaeBlock& block : decoder_blocks_) x = block(context, x);
  for (const TransposedConvolution& twice : doubling_) x = twice(context, x, Activation::relu);
  return (*pixels_)(context, x);
}

void Describe(ConfigTable& table, DiscreteVaeConfig& config) {
  table.Note("model_type", "discrete_vae");
  table.RefuseUnknown();
  table.Integer("image_size", config.image, "the size of images", 1, 1 << 12);
  table.Integer("num_tokens", config.codes, "the number of codes", 2, kLargestSize);
  table.Size("codebook_dim", config.code_width, "the size of code embeddings");
  table.Integer("num_layers", config.layers, "the number of layers", 1, 8);
  table.Integer("num_resnet_blocks", config.blocks, "the number of residual blocks", 0, 1024);
  table.Size("hidden_dim", config.hidden, "the number of channels");
  table.Choice("pixel_distribution", config.distribution,
               {{"normal", PixelDistribution::normal}, {"logit_laplace", PixelDistribution::logit_laplace}});
  table.Only("channels", 3, "images with another number of channels");
  table.Rule(config.image % (std::int64_t{1} << config.layers) == 0,
             "the size of images, {}, must be a multiple of {}, the pixels of a code's side", config.image,
             std::int64_t{1} << config.layers);
}

namespace families {
extern const Family discrete_vae = MakeFamily<DiscreteVae, LoadWhole<DiscreteVae>>({"discrete_vae"});
}  // namespace families

void DiscreteVae::Save(const std::string& folder, Compute compute) const {
  SaveConfigAndWeights(folder, WriteConfig(config_), parameters_, compute);
}

}  // namespace headlight
