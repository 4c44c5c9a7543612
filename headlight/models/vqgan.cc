#include "headlight/models/vqgan.h"

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/models/family.h"
#include "headlight/ops/activation.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/pooling.h"

namespace headlight {
namespace {

constexpr ConvolutionShape kSameSize = {.kernel = {3, 3}, .padding = {1, 1}};

FeatureMaps Silu(const FeatureMaps& x) { return {ops::Activate(Activation::silu, x.rows), x.grids}; }

}  // namespace

VqganBlock::VqganBlock(const Scope& scope, std::int64_t inputs, std::int64_t outputs, std::int32_t groups)
    : first_norm_(scope / "norm1", groups, inputs),
      second_norm_(scope / "norm2", groups, outputs),
      first_(scope / "conv1", inputs, outputs, kSameSize),
      second_(scope / "conv2", outputs, outputs, kSameSize) {
  if (inputs != outputs) shortcut_.emplace(scope / "nin_shortcut", inputs, outputs, ConvolutionShape{});
}

FeatureMaps VqganBlock::operator()(Context& context, const FeatureMaps& x) const {
  const FeatureMaps inner = first_(context, Silu(first_norm_(context, x)));
  const Tensor same = shortcut_ ? (*shortcut_)(context, x).rows : x.rows;
  return second_(context, Silu(second_norm_(context, inner)), Activation::none, /*residual=*/same);
}

VqganAttention::VqganAttention(const Scope& scope, std::int64_t channels, std::int32_t groups, int layer)
    : norm_(scope / "norm", groups, channels),
      attention_(scope,
                 {.model = channels,
                  .heads = 1,
                  .dropout = 0,
                  .names = {.query = "q", .key = "k", .value = "v", .output = "proj_out"}},
                 AttentionKind::image_self, layer) {}

FeatureMaps VqganAttention::operator()(Context& context, const FeatureMaps& x) const {
  std::vector<std::int32_t> lengths;
  for (const Grid& grid : x.grids) lengths.push_back(static_cast<std::int32_t>(grid.cells()));
  const Tensor attended = attention_.Self(context, norm_(context, x).rows, PackedSequences(lengths), /*causal=*/false);
  return {ops::Add(x.rows, attended), x.grids};
}

Vqgan::Vqgan(const VqganConfig& config, DType dtype) : ImageCoder(dtype), config_(Checked(config)) {
  const auto stages = static_cast<int>(config.factors.size());
  limits_ = {config.image, std::int64_t{1} << (stages - 1), config.codes, PixelDistribution::normal};
  const Scope root(parameters_), decoder = root / "decoder";
  std::int64_t channels = config.channels * config.factors.back();
  int attentions = 0;
  const auto attention = [&](const Scope& scope) {
    return VqganAttention(scope, channels, config.groups, attentions++);
  };
  // The codebook is a linear layer. Its product with the weights of the codes is the weighted mean of their embeddings.
  codebook_.emplace(root, std::vector<std::string>{"embedding"}, config.codes, config.code_width, /*bias=*/false,
                    /*stored_transposed=*/true);
  widened_.emplace(root / "post_quant_conv", config.code_width, config.inputs, ConvolutionShape{});
  input_.emplace(decoder / "conv_in", config.inputs, channels, kSameSize);
  first_block_.emplace(decoder / "mid" / "block_1", channels, channels, config.groups);
  attention_.emplace(attention(decoder / "mid" / "attn_1"));
  second_block_.emplace(decoder / "mid" / "block_2", channels, channels, config.groups);
  for (int number = stages - 1; number >= 0; --number) {
    const Scope scope = decoder / "up" / number;
    const std::int64_t outputs = config.channels * config.factors[static_cast<std::size_t>(number)];
    const bool attends = std::ranges::find(config.attentions, config.image >> number) != config.attentions.end();
    Stage& stage = stages_.emplace_back();
    for (int block = 0; block <= config.blocks; ++block) {
      stage.blocks.emplace_back(scope / "block" / block, channels, outputs, config.groups);
      channels = outputs;
      if (attends) stage.attentions.push_back(attention(scope / "attn" / block));
    }
    if (number > 0) stage.doubled.emplace(scope / "upsample" / "conv", channels, channels, kSameSize);
  }
  output_norm_.emplace(decoder / "norm_out", config.groups, channels);
  output_.emplace(decoder / "conv_out", channels, 3, kSameSize);
}

FeatureMaps Vqgan::Decode(Context& context, const FeatureMaps& weights) const {
  FeatureMaps x = (*widened_)(context, {(*codebook_)(context, weights.rows), weights.grids});
  x = (*first_block_)(context, (*input_)(context, x));
  x = (*second_block_)(context, (*attention_)(context, x));
  for (const Stage& stage : stages_) {
    for (std::size_t block = 0; block < stage.blocks.size(); ++block) {
      x = stage.blocks[block](context, x);
      if (!stage.attentions.empty()) x = stage.attentions[block](context, x);
    }
    if (stage.doubled) x = (*stage.doubled)(context, ops::NearestDouble(x));
  }
  return (*output_)(context, Silu((*output_norm_)(context, x)));
}

void Describe(ConfigTable& table, VqganConfig& config) {
  table.Note("model_type", "vqgan");
  table.RefuseUnknown();
  table.Integer("resolution", config.image, "the size of images", 1, 1 << 12);
  table.Integer("n_embed", config.codes, "the number of codes", 2, kLargestSize);
  table.Size("embed_dim", config.code_width, "the size of code embeddings");
  table.Size("z_channels", config.inputs, "the number of channels of the decoder's input");
  table.Integer("ch", config.channels, "the number of channels", 1, 1 << 16);
  table.Integers("ch_mult", config.factors, 1 << 8);
  table.Integer("num_res_blocks", config.blocks, "the number of residual blocks", 1, 64);
  table.Integers("attn_resolutions", config.attentions, 1 << 12);
  table.Integer("norm_num_groups", config.groups, "the number of a norm's groups", 1, 1 << 16);
  table.Rule(!config.factors.empty(), "ch_mult must have a factor for each stage");
  const std::int64_t cell = (std::int64_t{1} << config.factors.size()) / 2;
  table.Rule(cell > 0 && config.image % cell == 0,
             "the size of images, {}, must be a multiple of {}, the pixels of a code's side", config.image, cell);
  for (const std::int64_t factor : config.factors)
    table.Rule(config.channels * factor % config.groups == 0, "{} groups of a norm must divide {} channels",
               config.groups, config.channels * factor);
}

namespace families {
extern const Family vqgan = MakeFamily<Vqgan, LoadWhole<Vqgan>>({"vqgan"});
}  // namespace families

void Vqgan::Save(const std::string& folder, Compute compute) const {
  SaveConfigAndWeights(folder, WriteConfig(config_), parameters_, compute);
}

}  // namespace headlight
