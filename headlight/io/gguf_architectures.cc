#include "headlight/io/gguf_architectures.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

constexpr GgufName kRmsEpsilon = {"attention.layer_norm_rms_epsilon", "rms_norm_eps"};
constexpr GgufName kLayerEpsilon = {"attention.layer_norm_epsilon", "layer_norm_eps"};
constexpr GgufName kGptEpsilon = {"attention.layer_norm_epsilon", "layer_norm_epsilon"};

const std::vector<GgufName>& CommonSizes() {
  static const std::vector<GgufName> sizes = {{"embedding_length", "hidden_size"},
                                              {"feed_forward_length", "intermediate_size"},
                                              {"block_count", "num_hidden_layers"},
                                              {"attention.head_count", "num_attention_heads"},
                                              {"context_length", "max_position_embeddings"}};
  return sizes;
}

const std::vector<GgufName>& LlamaTensors() {
  static const std::vector<GgufName> tensors = {
      {"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}};
  return tensors;
}

// Returns Llama's tensors of a layer, followed by additional tensors or tensors under other names.
std::vector<GgufLayers> LlamaLayers(std::vector<GgufName> own = {}) {
  constexpr GgufName llama[] = {{"attn_norm", "input_layernorm"},    {"attn_q", "self_attn.q_proj"},
                                {"attn_k", "self_attn.k_proj"},      {"attn_v", "self_attn.v_proj"},
                                {"attn_output", "self_attn.o_proj"}, {"attn_q_norm", "self_attn.q_norm"},
                                {"attn_k_norm", "self_attn.k_norm"}, {"ffn_norm", "post_attention_layernorm"},
                                {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
                                {"ffn_down", "mlp.down_proj"}};
  for (const GgufName& tensor : llama)
    if (std::ranges::none_of(own, [&](const GgufName& mine) { return std::string_view(mine.gguf) == tensor.gguf; }))
      own.push_back(tensor);
  return {{"blk.", "model.layers.", std::move(own)}};
}

GgufArchitecture LlamaLike(const char* name, const char* model_type, std::vector<GgufName> layer_tensors = {}) {
  return {.name = name,
          .model_type = model_type,
          .epsilon = kRmsEpsilon,
          .sizes = CommonSizes(),
          .layers = LlamaLayers(std::move(layer_tensors)),
          .tensors = LlamaTensors()};
}

GgufArchitecture WithPairs(GgufArchitecture architecture) {
  architecture.rows = GgufRows::pairs;
  return architecture;
}

GgufArchitecture Granite() {
  GgufArchitecture granite = WithPairs(LlamaLike("granite", "granite"));
  granite.settings = {{"embedding_scale", "embedding_multiplier"},
                      {"residual_scale", "residual_multiplier"},
                      {"attention.scale", "attention_multiplier"},
                      {"logit_scale", "logits_scaling"}};
  return granite;
}

GgufArchitecture Phi3() {
  GgufArchitecture phi3 =
      LlamaLike("phi3", "phi3", {{"attn_qkv", "self_attn.qkv_proj"}, {"ffn_up", "mlp.gate_up_proj"}});
  phi3.settings = {{"attention.sliding_window", "sliding_window"}};
  return phi3;
}

GgufArchitecture StableLm() {
  GgufArchitecture stablelm = LlamaLike("stablelm", "stablelm");
  stablelm.epsilon = kLayerEpsilon;
  return stablelm;
}

GgufArchitecture Gemma(const char* name, const char* model_type) {
  GgufArchitecture gemma = LlamaLike(name, model_type);
  gemma.norm_weights_plus_1 = true;
  if (std::string_view(name) == "gemma") return gemma;
  gemma.settings = {{"attention.sliding_window", "sliding_window"},
                    {"attn_logit_softcapping", "attn_logit_softcapping"},
                    {"final_logit_softcapping", "final_logit_softcapping"}};
  gemma.layers = LlamaLayers({{"post_attention_norm", "post_attention_layernorm"},
                              {"ffn_norm", "pre_feedforward_layernorm"},
                              {"post_ffw_norm", "post_feedforward_layernorm"}});
  return gemma;
}

GgufArchitecture Experts(GgufArchitecture architecture, GgufName count, std::vector<GgufName> settings) {
  architecture.sizes.insert(architecture.sizes.end(), {count, {"expert_used_count", "num_experts_per_tok"}});
  architecture.settings = std::move(settings);
  return architecture;
}

GgufArchitecture Mixtral() {
  GgufArchitecture mixtral = Experts(WithPairs(LlamaLike("llama", "mixtral",
                                                         {{"ffn_gate_inp", "block_sparse_moe.gate"},
                                                          {"ffn_gate_exps", "block_sparse_moe.experts.*.w1"},
                                                          {"ffn_down_exps", "block_sparse_moe.experts.*.w2"},
                                                          {"ffn_up_exps", "block_sparse_moe.experts.*.w3"}})),
                                     {"expert_count", "num_local_experts"}, {});
  mixtral.needs = "blk.0.ffn_gate_inp.weight";
  return mixtral;
}

GgufArchitecture QwenExperts(const char* name, const char* model_type) {
  return Experts(LlamaLike(name, model_type,
                           {{"ffn_gate_inp", "mlp.gate"},
                            {"ffn_gate_exps", "mlp.experts.*.gate_proj"},
                            {"ffn_down_exps", "mlp.experts.*.down_proj"},
                            {"ffn_up_exps", "mlp.experts.*.up_proj"},
                            {"ffn_gate_inp_shexp", "mlp.shared_expert_gate"},
                            {"ffn_gate_shexp", "mlp.shared_expert.gate_proj"},
                            {"ffn_down_shexp", "mlp.shared_expert.down_proj"},
                            {"ffn_up_shexp", "mlp.shared_expert.up_proj"}}),
                 {"expert_count", "num_experts"},
                 {{"expert_feed_forward_length", "moe_intermediate_size"},
                  {"expert_shared_feed_forward_length", "shared_expert_intermediate_size"}});
}

GgufArchitecture Gpt2() {
  return {.name = "gpt2",
          .model_type = "gpt2",
          .epsilon = kGptEpsilon,
          .sizes = {{"embedding_length", "n_embd"},
                    {"feed_forward_length", "n_inner"},
                    {"block_count", "n_layer"},
                    {"attention.head_count", "n_head"},
                    {"context_length", "n_positions"}},
          .layers = {{"blk.",
                      "transformer.h.",
                      {{"attn_norm", "ln_1"},
                       {"attn_qkv", "attn.c_attn"},
                       {"attn_output", "attn.c_proj"},
                       {"ffn_norm", "ln_2"},
                       {"ffn_up", "mlp.c_fc"},
                       {"ffn_down", "mlp.c_proj"}}}},
          .tensors = {{"token_embd", "transformer.wte"},
                      {"position_embd", "transformer.wpe"},
                      {"output_norm", "transformer.ln_f"},
                      {"output", "lm_head"}}};
}

// Returns the layers of BLOOM, Falcon and GPT-NeoX.
std::vector<GgufLayers> GroupedLayers(const char* prefix, const char* attention, GgufName first_norm,
                                      GgufName second_norm) {
  const bool neox = std::string_view(attention) == "attention";
  return {{"blk.",
           prefix,
           {first_norm,
            second_norm,
            {"attn_qkv", neox ? "attention.query_key_value" : "self_attention.query_key_value"},
            {"attn_output", neox ? "attention.dense" : "self_attention.dense"},
            {"ffn_up", "mlp.dense_h_to_4h"},
            {"ffn_down", "mlp.dense_4h_to_h"}}}};
}

GgufArchitecture Bloom() {
  return {.name = "bloom",
          .model_type = "bloom",
          .rows = GgufRows::by_matrix,
          .epsilon = kGptEpsilon,
          .sizes = {{"embedding_length", "hidden_size"},
                    {"feed_forward_length", "n_inner"},
                    {"block_count", "n_layer"},
                    {"attention.head_count", "n_head"},
                    {"context_length", "seq_length"}},
          .layers = GroupedLayers("transformer.h.", "self_attention", {"attn_norm", "input_layernorm"},
                                  {"ffn_norm", "post_attention_layernorm"}),
          .tensors = {{"token_embd", "transformer.word_embeddings"},
                      {"token_embd_norm", "transformer.word_embeddings_layernorm"},
                      {"output_norm", "transformer.ln_f"},
                      {"output", "lm_head"}}};
}

// Returns the architecture of Falcon with one norm for both sublayers, or with two norms.
GgufArchitecture Falcon(bool two_norms) {
  std::vector<GgufName> sizes = CommonSizes();
  sizes[1].name = "ffn_hidden_size";
  return {
      .name = "falcon",
      .model_type = "falcon",
      .rows = GgufRows::by_matrix,
      .needs = two_norms ? "blk.0.attn_norm_2.weight" : nullptr,
      .epsilon = kGptEpsilon,
      .sizes = std::move(sizes),
      .layers = GroupedLayers("transformer.h.", "self_attention",
                              {"attn_norm", two_norms ? "ln_mlp" : "input_layernorm"}, {"attn_norm_2", "ln_attn"}),
      .tensors = {
          {"token_embd", "transformer.word_embeddings"}, {"output_norm", "transformer.ln_f"}, {"output", "lm_head"}}};
}

GgufArchitecture GptNeoX() {
  return {
      .name = "gptneox",
      .model_type = "gpt_neox",
      .rows = GgufRows::by_matrix,
      .epsilon = kLayerEpsilon,
      .sizes = CommonSizes(),
      .layers = GroupedLayers("gpt_neox.layers.", "attention", {"attn_norm", "input_layernorm"},
                              {"ffn_norm", "post_attention_layernorm"}),
      .tensors = {
          {"token_embd", "gpt_neox.embed_in"}, {"output_norm", "gpt_neox.final_layer_norm"}, {"output", "embed_out"}}};
}

GgufArchitecture Bert() {
  return {.name = "bert",
          .model_type = "bert",
          .epsilon = kLayerEpsilon,
          .sizes = CommonSizes(),
          .layers = {{"blk.",
                      "encoder.layer.",
                      {{"attn_q", "attention.self.query"},
                       {"attn_k", "attention.self.key"},
                       {"attn_v", "attention.self.value"},
                       {"attn_output", "attention.output.dense"},
                       {"attn_output_norm", "attention.output.LayerNorm"},
                       {"ffn_up", "intermediate.dense"},
                       {"ffn_down", "output.dense"},
                       {"layer_output_norm", "output.LayerNorm"}}}},
          .tensors = {{"token_embd", "embeddings.word_embeddings"},
                      {"position_embd", "embeddings.position_embeddings"},
                      {"token_types", "embeddings.token_type_embeddings"},
                      {"token_embd_norm", "embeddings.LayerNorm"}}};
}

// Returns the tensors of a T5 layer: its self-attention, then `cross` and `ffn`.
std::vector<GgufName> T5Layer(const std::vector<GgufName>& cross, const std::vector<GgufName>& ffn) {
  std::vector<GgufName> names = {
      {"attn_norm", "layer.0.layer_norm"},   {"attn_q", "layer.0.SelfAttention.q"},
      {"attn_k", "layer.0.SelfAttention.k"}, {"attn_v", "layer.0.SelfAttention.v"},
      {"attn_o", "layer.0.SelfAttention.o"}, {"attn_rel_b", "layer.0.SelfAttention.relative_attention_bias"}};
  names.insert(names.end(), cross.begin(), cross.end());
  names.insert(names.end(), ffn.begin(), ffn.end());
  return names;
}

// Returns the architecture of T5 with gated feed-forward networks (T5 v1.1), or without gates.
GgufArchitecture T5(bool gated) {
  const std::vector<GgufName> cross = {{"cross_attn_norm", "layer.1.layer_norm"},
                                       {"cross_attn_q", "layer.1.EncDecAttention.q"},
                                       {"cross_attn_k", "layer.1.EncDecAttention.k"},
                                       {"cross_attn_v", "layer.1.EncDecAttention.v"},
                                       {"cross_attn_o", "layer.1.EncDecAttention.o"},
                                       {"cross_attn_rel_b", "layer.1.EncDecAttention.relative_attention_bias"}};
  const std::vector<GgufName> encoder_ffn = {
      {"ffn_norm", "layer.1.layer_norm"},
      {"ffn_gate", "layer.1.DenseReluDense.wi_0"},
      {"ffn_up", gated ? "layer.1.DenseReluDense.wi_1" : "layer.1.DenseReluDense.wi"},
      {"ffn_down", "layer.1.DenseReluDense.wo"}};
  const std::vector<GgufName> decoder_ffn = {
      {"ffn_norm", "layer.2.layer_norm"},
      {"ffn_gate", "layer.2.DenseReluDense.wi_0"},
      {"ffn_up", gated ? "layer.2.DenseReluDense.wi_1" : "layer.2.DenseReluDense.wi"},
      {"ffn_down", "layer.2.DenseReluDense.wo"}};
  return {.name = "t5",
          .model_type = "t5",
          .needs = gated ? "enc.blk.0.ffn_gate.weight" : nullptr,
          .epsilon = {"attention.layer_norm_rms_epsilon", "layer_norm_epsilon"},
          .sizes = {{"embedding_length", "d_model"},
                    {"feed_forward_length", "d_ff"},
                    {"block_count", "num_layers"},
                    {"attention.head_count", "num_heads"},
                    {"attention.relative_buckets_count", "relative_attention_num_buckets"}},
          .layers = {{"enc.blk.", "encoder.block.", T5Layer({}, encoder_ffn)},
                     {"dec.blk.", "decoder.block.", T5Layer(cross, decoder_ffn)}},
          .tensors = {{"token_embd", "shared"},
                      {"enc.output_norm", "encoder.final_layer_norm"},
                      {"dec.output_norm", "decoder.final_layer_norm"},
                      {"output", "lm_head"}}};
}

}  // namespace

const std::vector<GgufArchitecture>& GgufArchitectures() {
  static const std::vector<GgufArchitecture> all = {
      Mixtral(),
      WithPairs(LlamaLike("llama", "llama")),
      LlamaLike("qwen2", "qwen2"),
      QwenExperts("qwen2moe", "qwen2_moe"),
      LlamaLike("qwen3", "qwen3"),
      QwenExperts("qwen3moe", "qwen3_moe"),
      WithPairs(LlamaLike("smollm3", "smollm3")),
      Granite(),
      Phi3(),
      LlamaLike("olmo2", "olmo2",
                {{"post_attention_norm", "post_attention_layernorm"}, {"post_ffw_norm", "post_feedforward_layernorm"}}),
      StableLm(),
      Gemma("gemma", "gemma"),
      Gemma("gemma2", "gemma2"),
      Gemma("gemma3", "gemma3_text"),
      Gpt2(),
      GptNeoX(),
      Bloom(),
      Falcon(/*two_norms=*/true),
      Falcon(/*two_norms=*/false),
      Bert(),
      T5(/*gated=*/true),
      T5(/*gated=*/false)};
  return all;
}

const GgufTensor* FindTensor(const Gguf& file, std::string_view name) {
  const auto found = std::ranges::find(file.tensors(), name, &GgufTensor::name);
  return found == file.tensors().end() ? nullptr : &*found;
}

const GgufArchitecture& GgufArchitectureOf(const Gguf& file) {
  const std::string name = file.Text("general.architecture");
  std::vector<std::string_view> known;
  for (const GgufArchitecture& architecture : GgufArchitectures()) {
    if (name == architecture.name && (architecture.needs == nullptr || FindTensor(file, architecture.needs) != nullptr))
      return architecture;
    if (known.empty() || known.back() != architecture.name) known.emplace_back(architecture.name);
  }
  Fail("{}: {} is not a known architecture; known are: {}", file.Place("general.architecture"), Quoted(name),
       fmt::join(known, ", "));
}

namespace {

const char* NameIn(std::span<const GgufName> names, std::string_view gguf) {
  const auto found = std::ranges::find(names, gguf, &GgufName::gguf);
  return found == names.end() ? nullptr : found->name;
}

}  // namespace

std::string CheckpointName(const GgufArchitecture& architecture, const std::string& gguf) {
  const std::size_t kind = gguf.rfind('.');
  if (kind == std::string::npos) return gguf;
  const std::string stem = gguf.substr(0, kind), ending = gguf.substr(kind);
  if (const char* known = NameIn(architecture.tensors, stem); known != nullptr) return known + ending;
  for (const GgufLayers& layers : architecture.layers) {
    const std::size_t begin = std::string_view(layers.gguf).size(), end = stem.find('.', begin);
    if (!stem.starts_with(layers.gguf) || end == std::string::npos) continue;
    if (const char* known = NameIn(layers.tensors, stem.substr(end + 1)); known != nullptr)
      return fmt::format("{}{}.{}{}", layers.name, stem.substr(begin, end - begin), known, ending);
  }
  return gguf;
}

}  // namespace headlight
