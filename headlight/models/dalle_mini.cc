#include "headlight/models/dalle_mini.h"

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/models/family.h"
#include "headlight/models/files/stacks.h"
#include "headlight/nn/decoder_cache.h"
#include "headlight/ops/activation.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/concatenate.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/view.h"

namespace headlight {

DalleMiniLayer::Attention::Attention(const Scope& scope, const std::string& name, const TransformerLayerConfig& config,
                                     AttentionKind kind, int layer)
    : before(scope / ("pre_" + name + "_layer_norm"), config.model),
      after(scope / (name + "_layer_norm"), config.model),
      attention(scope / name,
                {.model = config.model, .heads = config.heads, .dropout = config.attention_dropout, .biases = false},
                kind, layer) {}

DalleMiniLayer::DalleMiniLayer(const Scope& scope, const TransformerLayerConfig& config, AttentionKind kind, int layer)
    : config_(config),
      self_(scope, "self_attn", config, kind, layer),
      gate_norm_(scope / "glu" / "ln0", config.model),
      inner_norm_(scope / "glu" / "ln1", config.ffn),
      feed_forward_(scope / "glu", {.model = config.model,
                                    .ffn = config.ffn,
                                    .activation = config.activation,
                                    .inner = {"fc0", "fc1"},
                                    .outer = "fc2"}) {
  if (kind == AttentionKind::decoder_self) cross_.emplace(scope, "encoder_attn", config, AttentionKind::cross, layer);
}

Tensor DalleMiniLayer::operator()(Context& context, const Tensor& x, const Sequences& sequences,
                                  const Memory* memory) const {
  Tensor hidden = PreNorm(context, x, self_.before, config_.dropout, [&](Context&, const Tensor& input) {
    return self_.after(context, self_.attention.Self(context, input, sequences, /*causal=*/memory != nullptr));
  });
  if (memory != nullptr)
    hidden = PreNorm(context, hidden, cross_->before, config_.dropout, [&](Context&, const Tensor& input) {
      return cross_->after(context, CrossAttention(context, cross_->attention, input, sequences, *memory));
    });
  return PreNorm(context, hidden, gate_norm_, config_.dropout, [&](Context&, const Tensor& input) {
    return feed_forward_.Outer(context, inner_norm_(context, feed_forward_.Inner(context, input)));
  });
}

DalleMini::DalleMini(const DalleMiniConfig& config, DType dtype) : TextToImageModel(dtype), config_(Checked(config)) {
  drawing_ = {.text_vocabulary = config.text_vocabulary,
              .text_positions = config.text_positions - 2,
              .prompt = config.text_positions,
              .encodes_text = true,
              .codes = config.codes,
              .grid = {config.side, config.side}};
  limits_ = {config.codes + config.text_vocabulary, config.text_positions + config.cells() - 1, /*end_id=*/-1};
  const Scope root(parameters_), encoder = root / "encoder", decoder = root / "decoder";
  const auto embedding = [&](const Scope& stack, std::int64_t ids, std::int64_t positions) {
    return Embedding(
        TokenEmbedding(stack / "embed_tokens", ids, config.model, Initialization::Normal(0.02), /*scores=*/false), 1,
        PositionalEncoding::Learned(stack / "embed_positions", positions, config.model), config.dropout,
        LayerNorm(stack / "layernorm_embedding", config.model));
  };
  const auto layer = [&](std::int32_t heads, std::int64_t ffn) {
    return TransformerLayerConfig{.model = config.model,
                                  .heads = heads,
                                  .ffn = ffn,
                                  .activation = config.activation,
                                  .dropout = config.dropout,
                                  .attention_dropout = config.attention_dropout};
  };
  text_embedding_.emplace(embedding(encoder, config.text_vocabulary, config.text_positions));
  for (int i = 0; i < config.encoder_layers; ++i)
    encoder_.emplace_back(encoder / "layers" / i, layer(config.encoder_heads, config.encoder_ffn),
                          AttentionKind::encoder_self, i);
  encoder_norm_.emplace(encoder / "final_ln", config.model);
  code_embedding_.emplace(embedding(decoder, config.codes, config.cells()));
  for (int i = 0; i < config.decoder_layers; ++i)
    decoder_.emplace_back(decoder / "layers" / i, layer(config.decoder_heads, config.decoder_ffn),
                          AttentionKind::decoder_self, i);
  decoder_norm_.emplace(decoder / "final_ln", config.model);
  output_ = &decoder.DeclareMatrix({"lm_head.weight"}, {config.codes, config.model});
}

std::vector<std::int32_t> DalleMini::Prompt(std::span<const std::int32_t> text) const {
  while (!text.empty() && text.back() == config_.text_pad_id) text = text.first(text.size() - 1);
  CheckText(text);
  Check(std::ranges::find(text, config_.text_pad_id) == text.end(), "id {}, a text's padding, is within a text",
        config_.text_pad_id);
  std::vector<std::int32_t> prompt = {TextId(config_.text_start_id)};
  for (const std::int32_t id : text) prompt.push_back(TextId(id));
  prompt.push_back(TextId(config_.text_end_id));
  prompt.resize(static_cast<std::size_t>(config_.text_positions), TextId(config_.text_pad_id));
  return prompt;
}

Tensor DalleMini::Encode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const {
  Tensor hidden = (*text_embedding_)(context, ids, texts);
  for (const DalleMiniLayer& layer : encoder_) hidden = layer(context, hidden, texts, nullptr);
  return (*encoder_norm_)(context, hidden);
}

Tensor DalleMini::Write(Context& context, std::span<const std::int32_t> codes, const Sequences& images,
                        const Memory& memory) const {
  Tensor hidden = (*code_embedding_)(context, codes, images, BeginPass(context, images, &memory, decoder_.size()));
  for (const DalleMiniLayer& layer : decoder_) hidden = layer(context, hidden, images, &memory);
  return (*decoder_norm_)(context, hidden);
}

Tensor DalleMini::Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const {
  DecoderCache* const cache = context.cache;
  if (cache != nullptr && cache->empty()) {
    std::vector<std::int32_t> added;
    for (std::size_t i = 0; i < texts.size(); ++i) added.push_back(cache->AddText());
    cache->Activate(added);
  }
  const auto continues = [&](std::size_t i) { return cache != nullptr && cache->length(cache->active()[i]) > 0; };
  const std::int32_t pad = TextId(config_.text_pad_id);
  std::vector<std::int32_t> words, codes, text_lengths, image_lengths;
  std::vector<std::size_t> begun;  // indices of the texts whose prompt is in this pass
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Sequence& text = texts[i];
    const std::span<const std::int32_t> all =
        ids.subspan(static_cast<std::size_t>(text.begin), static_cast<std::size_t>(text.length));
    if (continues(i)) {
      codes.insert(codes.end(), all.begin(), all.end());
      image_lengths.push_back(text.length);
      continue;
    }
    Check(text.length >= config_.text_positions, "a prompt of {} ids, which has {} and is read at once", text.length,
          config_.text_positions);
    const auto prompt = all.first(static_cast<std::size_t>(config_.text_positions)), drawn = all.subspan(prompt.size());
    const auto end = std::ranges::find(prompt, pad);
    for (auto id = prompt.begin(); id != end; ++id) {
      Check(*id >= TextId(0) && *id < limits_.vocabulary, "id {} in a prompt: a text's ids are from {} to {}", *id,
            TextId(0), limits_.vocabulary - 1);
      words.push_back(*id - TextId(0));
    }
    Check(end != prompt.begin(), "a prompt has no text");
    begun.push_back(i);
    text_lengths.push_back(static_cast<std::int32_t>(end - prompt.begin()));
    codes.push_back(config_.start_id);
    codes.insert(codes.end(), drawn.begin(), drawn.end());
    image_lengths.push_back(static_cast<std::int32_t>(drawn.size()) + 1);
  }
  const Sequences read = PackedSequences(text_lengths), images = PackedSequences(image_lengths);
  if (begun.empty()) return Write(context, codes, images, {});
  Context reading = context;  // the encoder does not use the cache, which belongs to the decoder
  reading.cache = nullptr;
  const Memory memory = {Encode(cache == nullptr ? context : reading, words, read), read};
  for (std::size_t i = 0; cache != nullptr && i < begun.size(); ++i) {
    const std::int32_t own = cache->AddMemory(memory.rows.ViewRows(read[i].begin, read[i].length));
    cache->SetMemory(cache->active()[begun[i]], own);
    cache->RemoveMemory(own);
  }
  const Tensor written = Write(context, codes, images, memory);
  std::vector<std::int32_t> rows;  // rows of the concatenated encoder and decoder states
  for (std::size_t i = 0, next = 0; i < texts.size(); ++i) {
    const bool has_prompt = next < begun.size() && begun[next] == i;
    const Sequence text = has_prompt ? read[next++] : Sequence{};
    // Padding is not encoded. Its rows are copies of the text's last state.
    for (std::int32_t position = 0; has_prompt && position + 1 < config_.text_positions; ++position)
      rows.push_back(text.row(std::min(position, text.length - 1)));
    for (std::int32_t cell = 0; cell < images[i].length; ++cell)
      rows.push_back(static_cast<std::int32_t>(words.size()) + images[i].row(cell));
  }
  return ops::Embedding(ops::Concatenate(memory.rows, written), rows);
}

Json::Object DalleMini::Description() const {
  return WithLayerSizes(
      {{"text_positions", drawing_.text_positions}, {"codes", config_.codes}, {"codes_per_side", config_.side}});
}

void Describe(ConfigTable& table, DalleMiniConfig& config) {
  table.Note("model_type", "dalle_mini");
  table.RefuseUnknown();
  DescribeStacks(table, config);
  table.Integer("text_vocab_size", config.text_vocabulary, "the texts' vocabulary", 2, kLargestSize);
  table.Integer("text_positions", config.text_positions, "the number of text positions", 3, 1 << 14);
  table.Token("text_bos_token_id", config.text_start_id, config.text_vocabulary);
  table.Token("text_eos_token_id", config.text_end_id, config.text_vocabulary);
  table.Token("text_pad_token_id", config.text_pad_id, config.text_vocabulary);
  table.Integer("num_codes", config.codes, "the number of codes", 2, kLargestSize);
  table.Integer("codes_per_side", config.side, "the number of codes per side", 1, 1 << 10);
  table.Token("decoder_start_token_id", config.start_id, config.codes);
  table.Rule(config.text_pad_id != config.text_start_id && config.text_pad_id != config.text_end_id,
             "a text's padding, {}, must be neither its start nor its end", config.text_pad_id);
}

namespace families {
extern const Family dalle_mini = MakeFamily<DalleMini, LoadWhole<DalleMini>>({"dalle_mini"});
}  // namespace families

void DalleMini::Save(const std::string& folder, Compute compute) const {
  SaveConfigAndWeights(folder, WriteConfig(config_), parameters_, compute);
}

}  // namespace headlight
