#include "headlight/models/esm.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/models/family.h"
#include "headlight/models/files/stacks.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/weighted_rows.h"

namespace headlight {
namespace {

constexpr std::int32_t kEnd = 2;                  // the token <eos>; contact prediction ignores its attention
constexpr std::int64_t kLongestRotary = 1 << 17;  // longer than any protein; no table limits the number of positions
constexpr double kMaskedInTraining = 0.15 * 0.8;  // fraction of the tokens that were replaced by masks in training

}  // namespace

// Returns the layout of the heads, which is the same as in RoBERTa.
TextHeadsLayout HeadsOf(const EsmConfig& config) {
  return {.family = "Esm",
          .pooler = Prefix(config.encoder.scope) + "pooler.dense",
          .masked_dense = "lm_head.dense",
          .masked_norm = "lm_head.layer_norm",
          .masked_bias = "lm_head.bias",
          .norm_epsilon = config.encoder.norm_epsilon,
          .class_pooler = "classifier.dense",
          .class_pooler_dropout = config.encoder.dropout,
          .sequence_classes = "classifier.out_proj",
          .sequence_dropout = config.encoder.dropout,
          .token_dropout = config.encoder.dropout};
}

BertConfig& BertOf(EsmConfig& config) { return config.encoder; }

OtherTensors OthersOf(const EsmConfig& config) {
  const std::string scope = Prefix(config.encoder.scope);
  OtherTensors others = {.tied = {{"lm_head.decoder.weight", scope + "embeddings.word_embeddings.weight"},
                                  {"lm_head.decoder.bias", "lm_head.bias"}},
                         .unused = {scope + "embeddings.position_ids"}};
  if (!config.rotary) return others;
  // Unused tensors: rotary frequencies, which are computed from the base, and a table of positions that Transformers
  // also ignores.
  others.unused.push_back(scope + "embeddings.position_embeddings.weight");
  others.unused.push_back(scope + "rotary_embeddings.inv_freq");
  others.unused.push_back(scope + "encoder.layer.*.attention.self.rotary_embeddings.inv_freq");
  for (int layer = 0; layer < config.encoder.layers; ++layer)
    others.unused.push_back(scope + fmt::format("encoder.layer.{}.attention.self.rotary_embeddings.inv_freq", layer));
  return others;
}

EsmEncoder::EsmEncoder(const Scope& scope, const EsmConfig& config)
    : config_(config),
      longest_(config.rotary ? kLongestRotary : config.encoder.positions - config.encoder.pad_id - 1),
      tokens_(scope / "embeddings" / "word_embeddings", config.encoder.vocabulary, config.encoder.model,
              Initialization::Normal(0.02), /*scores=*/config.encoder.on_top.masked_words) {
  const BertConfig& encoder = config.encoder;
  if (config.rotary)
    rotary_ = RotaryPositions::Default(config.encoder.model / config.encoder.heads, config.rotary_base);
  else
    positions_ = &(scope / "embeddings" / "position_embeddings")
                      .Declare("weight", {encoder.positions, encoder.model}, Initialization::Normal(0.02));
  if (config.norm_before)
    norm_before_.emplace(scope / "embeddings" / "layer_norm", encoder.model, encoder.norm_epsilon);
  const TransformerLayerConfig layer = {
      .model = encoder.model,
      .heads = encoder.heads,
      .ffn = encoder.ffn,
      .activation = Activation::gelu,
      .norm = NormPosition::pre,
      .dropout = encoder.dropout,
      .attention_dropout = encoder.attention_dropout,
      .norm_epsilon = encoder.norm_epsilon,
      .names = {.layers = "encoder.layer",
                .attention = "attention",
                .attention_norm = "attention.LayerNorm",
                .projections = {"self.query", "self.key", "self.value", "output.dense"},
                .feed_forward = {"intermediate.dense", "output.dense"},
                .feed_forward_norm = "LayerNorm"}};
  for (int i = 0; i < encoder.layers; ++i) layers_.emplace_back(scope / layer.names.layers / i, layer, i);
  norm_after_.emplace(scope / "encoder" / "emb_layer_norm_after", encoder.model, encoder.norm_epsilon);
  if (!config.contacts) return;
  // The contact head is a logistic regression on the trained model's attention weights.
  const Scope contacts = scope / "contact_head" / "regression";
  const std::int64_t heads = std::int64_t{encoder.layers} * encoder.heads;
  Parameter& weight = contacts.Declare("weight", {1, heads}, Initialization::Constant(0));
  Parameter& bias = contacts.Declare("bias", {1}, Initialization::Constant(0));
  weight.role.trained = bias.role.trained = false;
  contact_weight_ = &weight;
  contact_bias_ = &bias;
}

// Embeds tokens. The embeddings of masks are zero. All embeddings of a sequence are scaled to compensate for the
// fraction of masks in training.
Tensor EsmEncoder::Embed(Context& context, std::span<const std::int32_t> ids, const Sequences& texts,
                         std::span<const std::int32_t> first_positions) const {
  Tensor x = tokens_(context, ids);
  if (config_.token_dropout) {
    std::vector<std::int32_t> rows(ids.size());
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<double> weights(ids.size());
    for (const auto& [begin, length, step] : texts) {
      const auto own = ids.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(length));
      const auto masks = std::ranges::count(own, config_.mask_id);
      Check(length == 0 || masks < length, "a text of {} masks and nothing else", length);
      const double scale = (1 - kMaskedInTraining) / (1 - static_cast<double>(masks) / length);
      for (std::size_t i = 0; i < own.size(); ++i)
        weights[static_cast<std::size_t>(begin) + i] = own[i] == config_.mask_id ? 0 : scale;
    }
    x = ops::WeightedRows(x, rows, weights, 1);
  }
  if (positions_ != nullptr) {
    std::vector<std::int32_t> positions(ids.size());
    for (std::size_t text = 0; text < texts.size(); ++text) {
      const auto begin = positions.begin() + texts[text].begin;
      std::iota(begin, begin + texts[text].length,
                config_.encoder.pad_id + 1 + (first_positions.empty() ? 0 : first_positions[text]));
    }
    x = ops::Add(x, ops::Embedding(context.Use(*positions_), positions));
  }
  return norm_before_ ? (*norm_before_)(context, x) : x;
}

Tensor EsmEncoder::operator()(Context& context, std::span<const std::int32_t> ids, const Sequences& texts,
                              std::span<const std::int32_t> first_positions,
                              const std::function<void(const Tensor& states)>& seen) const {
  Check(std::ranges::find(ids, config_.encoder.pad_id) == ids.end(), "a text has the token {}, which is padding",
        config_.encoder.pad_id);
  for (std::size_t text = 0; text < texts.size(); ++text) {
    const std::int64_t end = texts[text].length + std::int64_t{first_positions.empty() ? 0 : first_positions[text]};
    Check(end <= longest_, "a text of {} tokens is longer than the model's {} positions", end, longest_);
  }
  Tensor hidden = Embed(context, ids, texts, first_positions);
  const ops::RotaryAngles angles =
      rotary_ ? rotary_->Angles(texts, first_positions, hidden.dtype()) : ops::RotaryAngles();
  for (const EncoderLayer& layer : layers_) {
    if (seen) seen(hidden);
    hidden = layer(context, hidden, texts, rotary_ ? &angles : nullptr);
  }
  hidden = (*norm_after_)(context, hidden);
  if (seen) seen(hidden);
  return hidden;
}

Esm::Esm(const EsmConfig& config)
    : BertDescendant(config), encoder_(Scope(parameters_) / config.encoder.scope, config) {
  limits_ = {.vocabulary = config.encoder.vocabulary,
             .positions = encoder_.positions(),
             .types = 0,
             .pad_id = config.encoder.pad_id,
             .model = config.encoder.model,
             .padding_has_positions = false};
  DeclareHeads(parameters_, config.encoder.on_top, HeadsOf(config), encoder_.tokens());
}

Tensor Esm::Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t>,
                   const Sequences& texts, std::span<const std::int32_t> first_positions) const {
  return encoder_(context, ids, texts, first_positions);
}

Tensor Esm::Contacts(std::span<const std::int32_t> ids) const {
  Check(has_contacts(), "{}: this model has no contact head", parameters_.source());
  Check(ids.size() >= 3, "contacts are between residues: a sequence of {} tokens has none besides its first and last",
        ids.size());
  const auto residues = static_cast<std::int64_t>(ids.size()) - 2;
  const auto size = static_cast<std::size_t>(residues);
  std::vector<double> logits(size * size, encoder_.contact_bias()->value.ToVector<float>()[0]), sums(size);
  const std::vector<float> weights = encoder_.contact_weight()->value.ToVector<float>();
  Check(std::ranges::any_of(weights, [](float weight) { return weight != 0; }),
        "{}: the contact head was not trained: its weights are zeros", parameters_.source());
  Context context;
  context.hooks.attention = [&](const LayerAttention& seen) {
    const std::int64_t heads = seen.weights.shape()[1], tokens = seen.weights.shape()[2];
    const Matrix<const float> all = seen.weights.matrix<float>();  // [heads * query, key]
    for (std::int64_t head = 0; head < heads; ++head) {
      const auto both = [&](std::size_t i, std::size_t j) -> double {
        if (ids[i + 1] == kEnd || ids[j + 1] == kEnd) return 0;
        const auto a = static_cast<std::int64_t>(i) + 1, b = static_cast<std::int64_t>(j) + 1;
        return double{all.row(head * tokens + a)[b]} + all.row(head * tokens + b)[a];
      };
      double total = 0;
      for (std::size_t i = 0; i < size; ++i) {
        sums[i] = 0;
        for (std::size_t j = 0; j < size; ++j) sums[i] += both(i, j);
        total += sums[i];
      }
      // A NaN from damaged weights passes this check and appears in the result.
      Check(!(total <= 0), "contacts: layer {}, head {} attends to no residue", seen.layer, head);
      const double weight = weights[static_cast<std::size_t>(seen.layer * heads + head)];
      for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < size; ++j)
          logits[i * size + j] += weight * (both(i, j) - sums[i] * sums[j] / total);
    }
  };
  Encode(context, ids, {}, {{0, static_cast<std::int32_t>(ids.size())}});
  const Tensor contacts = Tensor::Empty({residues, residues});
  std::ranges::transform(logits, contacts.span<float>().begin(),
                         [](double logit) { return static_cast<float>(1 / (1 + std::exp(-logit))); });
  return contacts;
}

void DescribeEsm(ConfigTable& table, EsmConfig& config) {
  BertConfig& encoder = config.encoder;
  table.Note("model_type", "esm");
  table.Default(encoder.model, 768);
  table.Default(encoder.layers, 12);
  table.Default(encoder.heads, 12);
  table.Default(encoder.ffn, 3072);
  table.Default(encoder.dropout, 0.1);
  table.Default(encoder.attention_dropout, 0.1);
  table.Default(encoder.norm_epsilon, 1e-12);
  table.Default(config.rotary, false);
  table.Default(config.token_dropout, false);
  DescribeEncoderStack(table, encoder);
  table.Rule(encoder.activation == Activation::gelu, "ESM's activation is gelu");
  table.Size("vocab_size", encoder.vocabulary, "the vocabulary's size");
  table.Size("max_position_embeddings", encoder.positions, "the number of positions");
  table.Integer("pad_token_id", encoder.pad_id, "the padding's id", 0, kLargestSize);
  table.Choice("position_embedding_type", config.rotary, {{"rotary", true}, {"absolute", false}});
  table.Number("rope_theta", config.rotary_base, 1, 1e12);
  table.Flag("emb_layer_norm_before", config.norm_before);
  table.Flag("token_dropout", config.token_dropout);
  table.Integer("mask_token_id", config.mask_id, "the mask's id", 0, kLargestSize);
  table.Require({"vocab_size"});
  for (const char* decoder : {"is_decoder", "add_cross_attention"})
    table.Only(decoder, false, "an encoder that is a decoder");
  DescribeOutputTable(table, encoder.on_top.masked_words);
  table.Rule(!config.rotary || encoder.model / encoder.heads % 2 == 0,
             "rotary positions rotate pairs: the {} features of a head are odd", encoder.model / encoder.heads);
  table.Rule(config.rotary || encoder.positions > encoder.pad_id + 1,
             "the number of positions must be above {}, since the padding's id {} is below the first, not {}",
             encoder.pad_id + 1, encoder.pad_id, encoder.positions);
}

void Describe(ConfigTable& table, EsmConfig& config) {
  DescribeEsm(table, config);
  table.Only("is_folding_model", false, "ESMFold");
  table.Harmless({"esmfold_config", "vocab_list", "classifier_dropout"});
  table.Rule(!config.encoder.on_top.next_sentence, "ESM has no next-sentence head");
}

namespace {

std::unique_ptr<Esm> LoadEsm(const ModelFolder& files, const LoadModelOptions& options) {
  EsmConfig config;
  config.contacts = false;
  for (const char* scope : {"", "esm."})
    config.contacts = config.contacts || files.weights.contains(std::string(scope) + "contact_head.regression.weight");
  return LoadBertDescendant<Esm>(files, options, config);
}

}  // namespace

namespace families {
extern const Family esm = MakeFamily<Esm, LoadEsm>({"esm"});
}  // namespace families

}  // namespace headlight
