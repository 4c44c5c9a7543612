#include "headlight/models/dalle.h"

#include <algorithm>
#include <memory>

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/models/family.h"
#include "headlight/nn/decoder_cache.h"
#include "headlight/ops/activation.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/concatenate.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/view.h"

namespace headlight {
namespace {

constexpr double kDeviation = 0.02;  // standard deviation of embeddings at initialization, as in GPT

// Returns the initial scale: "0.1 until depth 18, 10^-5 for depth 24 and 10^-6 for deeper networks" (Touvron et al.,
// section 2).
double ScaleAtStart(int layer) { return layer < 18 ? 0.1 : layer < 24 ? 1e-5 : 1e-6; }

}  // namespace

DalleLayer::DalleLayer(const Scope& scope, const DalleConfig& config, int layer)
    : dropout_(config.dropout),
      attention_norm_(scope / "attention_norm", config.model),
      feed_forward_norm_(scope / "feed_forward_norm", config.model),
      attention_(scope / "attention",
                 {.model = config.model,
                  .heads = config.heads,
                  .head_dim = config.head_dim,
                  .dropout = config.attention_dropout,
                  .kind = config.kinds[static_cast<std::size_t>(layer)]},
                 layer),
      feed_forward_(scope / "feed_forward", {.model = config.model,
                                             .ffn = config.ffn,
                                             .activation = Activation::gelu,
                                             .inner = {"inner"},
                                             .outer = "outer",
                                             .biases = true,
                                             .gate = ops::GateHalf::second}),
      attention_scale_(
          &scope.Declare("attention_scale", {config.model}, Initialization::Constant(ScaleAtStart(layer)))),
      feed_forward_scale_(
          &scope.Declare("feed_forward_scale", {config.model}, Initialization::Constant(ScaleAtStart(layer)))) {}

Tensor DalleLayer::operator()(Context& context, const Tensor& x, const GridPass& pass) const {
  const Tensor attended = PreNorm(context, x, attention_norm_, dropout_, [&](Context&, const Tensor& input) {
    return ops::Multiply(attention_(context, input, pass), context.Use(*attention_scale_));
  });
  return PreNorm(context, attended, feed_forward_norm_, dropout_, [&](Context&, const Tensor& input) {
    return ops::Multiply(feed_forward_(context, input), context.Use(*feed_forward_scale_));
  });
}

Dalle::Dalle(const DalleConfig& config, DType dtype)
    : TextToImageModel(dtype),
      config_(Checked(config)),
      layout_{config.text_positions + 1, {config.side, config.side}} {
  drawing_ = {.text_vocabulary = config.text_vocabulary,
              .text_positions = config.text_positions,
              .prompt = 1 + config.text_positions,
              .codes = config.codes,
              .grid = layout_.grid};
  limits_ = {config.codes + config.text_ids(), config.text_positions + config.cells(), /*end_id=*/-1};
  const Scope root(parameters_);
  const auto table = [&](const char* name, std::int64_t ids) {
    return TokenEmbedding(root / name, ids, config.model, Initialization::Normal(kDeviation), /*scores=*/false);
  };
  texts_ = table("text_embedding", config.text_ids());
  codes_ = table("code_embedding", config.codes);
  const auto positions = [&](const char* name, std::int64_t count) {
    return PositionalEncoding::Learned(root / name, count, config.model, /*first=*/0, kDeviation);
  };
  text_positions_ = positions("text_positions", config.text_positions + 1);
  rows_ = positions("row_positions", config.side);
  columns_ = positions("column_positions", config.side);
  for (int layer = 0; layer < config.layers; ++layer) layers_.emplace_back(root / "layers" / layer, config, layer);
  final_norm_.emplace(root / "final_norm", config.model);
  text_head_ = &root.DeclareMatrix({"text_head.weight"}, {config.text_ids(), config.model});
  text_bias_ = &root.DeclareVector({"text_head.bias"}, config.text_ids());
  output_ = &root.DeclareMatrix({"code_head.weight"}, {config.codes, config.model});
  code_bias_ = &root.DeclareVector({"code_head.bias"}, config.codes);
}

std::vector<std::int32_t> Dalle::Prompt(std::span<const std::int32_t> text) const {
  CheckText(text);
  std::vector<std::int32_t> prompt = {TextId(0)};
  for (std::int32_t position = 0; position < config_.text_positions; ++position) {
    const std::int32_t id = position < std::ssize(text) ? text[static_cast<std::size_t>(position)] : 0;
    prompt.push_back(TextId(id > 0 ? id : config_.text_vocabulary + position));
  }
  return prompt;
}

// Computes text[p] + position[p] for texts, and code[i] + row[i / side] + column[i % side] for codes.
Tensor Dalle::Embed(Context& context, std::span<const std::int32_t> ids, const Sequences& texts,
                    std::span<const std::int32_t> first_positions) const {
  std::vector<std::int32_t> words, word_positions, codes, rows, columns;
  std::vector<std::int32_t> place(ids.size());  // row in the text embeddings, or -1 - row in the code embeddings
  for (std::size_t text = 0; text < texts.size(); ++text)
    for (std::int32_t i = 0; i < texts[text].length; ++i) {
      const auto row = static_cast<std::size_t>(texts[text].row(i));
      const std::int32_t position = i + (first_positions.empty() ? 0 : first_positions[text]), id = ids[row];
      const std::int32_t cell = position - layout_.text;
      Check(cell < 0 ? id >= config_.codes && id < limits_.vocabulary : id >= 0 && id < config_.codes,
            "id {} at position {}: a text's ids are from {} to {}, and those of codes, from position {} on, below {}",
            id, position, config_.codes, limits_.vocabulary - 1, layout_.text, config_.codes);
      Check(position < limits_.positions, "a sequence of more than {} tokens, a text of {} and all codes but the last",
            limits_.positions, layout_.text);
      if (cell < 0) {
        place[row] = static_cast<std::int32_t>(words.size());
        words.push_back(id - static_cast<std::int32_t>(config_.codes));
        word_positions.push_back(position);
      } else {
        place[row] = -1 - static_cast<std::int32_t>(codes.size());
        codes.push_back(id);
        rows.push_back(cell / config_.side);
        columns.push_back(cell % config_.side);
      }
    }
  const auto of_words = [&] { return (*texts_)(context, words, 1, text_positions_->Table(context), word_positions); };
  const auto of_codes = [&] {
    return ops::Add((*codes_)(context, codes, 1, rows_->Table(context), rows),
                    ops::Embedding(columns_->Table(context), columns));
  };
  if (codes.empty()) return of_words();
  if (words.empty()) return of_codes();
  for (std::int32_t& row : place)
    if (row < 0) row = static_cast<std::int32_t>(words.size()) - 1 - row;
  return ops::Embedding(ops::Concatenate(of_words(), of_codes()), place);
}

Tensor Dalle::Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const {
  std::vector<std::int32_t> first_positions;
  if (context.cache != nullptr) first_positions = context.cache->Append(texts);
  Tensor hidden = Embed(context, ids, texts, first_positions);
  const GridPass pass(layout_, texts, context.cache);
  for (const DalleLayer& layer : layers_) hidden = layer(context, hidden, pass);
  return (*final_norm_)(context, hidden);
}

Json::Object Dalle::Description() const {
  return WithLayerSizes(
      {{"text_positions", config_.text_positions}, {"codes", config_.codes}, {"codes_per_side", config_.side}});
}

void Describe(ConfigTable& table, DalleConfig& config) {
  table.Note("model_type", "dalle");
  table.RefuseUnknown();
  table.Integer("text_vocab_size", config.text_vocabulary, "the texts' vocabulary", 2, kLargestSize);
  table.Integer("text_positions", config.text_positions, "the number of text positions", 1, 1 << 14);
  table.Integer("num_codes", config.codes, "the number of codes", 2, kLargestSize);
  table.Integer("codes_per_side", config.side, "the number of codes per side", 1, 1 << 10);
  table.Size("hidden_size", config.model, "the model dimension");
  table.Layers("num_hidden_layers", config.layers);
  table.Integer("num_attention_heads", config.heads, "the number of heads", 1, 1 << 12);
  table.Integer("head_dim", config.head_dim, "the size of a head", 1, 1 << 12);
  table.Size("intermediate_size", config.ffn, "the ffn dimension");
  table.Probability("dropout", config.dropout);
  table.Probability("attention_dropout", config.attention_dropout);
  if (table.reads()) {
    table.Require({"attention_types"});
    config.kinds.clear();
    for (const JsonView& kind : table.json()["attention_types"].Items())
      config.kinds.push_back(ConfigTable::Named<GridAttentionKind>(kind, kGridAttentionNames));
  }
  if (table.writes()) {
    Json::Array kinds;
    for (const GridAttentionKind kind : config.kinds)
      kinds.push_back(std::ranges::find(kGridAttentionNames, kind, &ConfigName<GridAttentionKind>::value)->name);
    table.Note("attention_types", std::move(kinds));
  }
  table.Rule(std::ssize(config.kinds) == config.layers, "attention_types has {} layers, and the model {}",
             config.kinds.size(), config.layers);
}

namespace families {
extern const Family dalle = MakeFamily<Dalle, LoadWhole<Dalle>>({"dalle"});
}  // namespace families

void Dalle::Save(const std::string& folder, Compute compute) const {
  SaveConfigAndWeights(folder, WriteConfig(config_), parameters_, compute);
}

}  // namespace headlight
