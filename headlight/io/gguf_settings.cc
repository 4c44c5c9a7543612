#include "headlight/io/gguf_settings.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "headlight/base/error.h"

namespace headlight {
namespace {

constexpr const char* kHeads = "attention.head_count";
constexpr std::int64_t kLargestGgufInteger = std::int64_t{1} << 31;

// Throws Error unless the key is missing, null or this value.
void Only(const JsonView& config, std::string_view key, const Json& value) {
  const JsonView given = config[key];
  Check(!given.present() || given.value() == value, "{}: is {}, and GGUF supports only {} for this architecture",
        given.location(), given.value().Line(), value.Line());
}

// Throws Error unless the key is missing, or each layer's item in the list has the expected value.
template <typename Expected>
void OnlyLayers(const JsonView& config, std::string_view key, const Expected& expected) {
  const JsonView given = config[key];
  if (!given.present()) return;
  std::size_t layer = 0;
  for (const JsonView& item : given.Items()) {
    const Json value = expected(layer++);
    Check(item.value() == value, "{}: is {}, and GGUF supports only {} for this architecture", item.location(),
          item.value().Line(), value.Line());
  }
}

// Returns the factors of Llama 3's frequencies: long wavelengths are scaled, short ones are not, and wavelengths in
// between are interpolated.
std::vector<float> Llama3Factors(const JsonView& rope, double base, std::int64_t dimensions) {
  const double factor = rope["factor"].Number(1), low = rope["low_freq_factor"].Number(0),
               high = rope["high_freq_factor"].Number(0),
               first = static_cast<double>(rope["original_max_position_embeddings"].Integer(1, kLargestGgufInteger));
  std::vector<float> factors;
  for (std::int64_t i = 0; i < dimensions; i += 2) {
    const double wavelength =
        2 * std::numbers::pi * std::pow(base, static_cast<double>(i) / static_cast<double>(dimensions));
    const double share = std::clamp((first / wavelength - low) / (high - low), 0.0, 1.0);
    const double scale = wavelength < first / high  ? 1
                         : wavelength > first / low ? factor
                                                    : 1 / ((1 - share) / factor + share);
    factors.push_back(static_cast<float>(scale));
  }
  return factors;
}

std::vector<float> FactorsAt(const JsonView& list) {
  std::vector<float> factors;
  for (const JsonView& item : list.Items()) factors.push_back(static_cast<float>(item.Number()));
  return factors;
}

std::int64_t SizeNamed(const GgufArchitecture& architecture, const JsonView& config, const char* name) {
  const JsonView given = config[name];
  const std::string_view missing = given.present() ? "" : name;
  // If the key is missing, uses the usual size of GPT-2 and BLOOM, or the key's newer name.
  if (missing == "n_inner") return 4 * SizeNamed(architecture, config, architecture.sizes.front().name);
  if (missing == "num_experts") return SizeNamed(architecture, config, "num_local_experts");
  return given.Integer(1, kLargestGgufInteger);
}

class GgufSettings {
 public:
  GgufSettings(const GgufArchitecture& architecture, const JsonView& config, GgufMetadata& metadata)
      : architecture_(architecture),
        config_(config),
        metadata_(metadata),
        prefix_(std::string(architecture.name) + ".") {}

  std::vector<GgufFactors> Set() {
    metadata_.SetText("general.architecture", architecture_.name);
    metadata_.SetText("general.type", "model");
    for (const auto& [key, name] : architecture_.sizes) Integer(key, Size(name));
    metadata_.SetNumber(prefix_ + architecture_.epsilon.gguf, config_[architecture_.epsilon.name].Number());
    for (const auto& [key, name] : architecture_.settings) {
      const JsonView given = config_[name];
      if (!given.present()) continue;
      if (given.value().As<std::int64_t>() != nullptr)
        Integer(key, given.Integer(0, kLargestGgufInteger));
      else
        metadata_.SetNumber(prefix_ + key, given.Number());
    }
    Integer("attention.head_count_kv", KeyHeadsOf(architecture_, config_));
    if (config_["head_dim"].present() || config_["rope_theta"].present()) SetRotary();
    SetFamily();
    config_.RefuseUnread({"model_type", "architectures", "dtype", "vocab_size", "tie_word_embeddings", "bos_token_id",
                          "eos_token_id", "pad_token_id",
                          // Keys whose values follow from the tensors or rotary positions.
                          "rope_scaling", "rope_parameters", "rope_theta", "rope_local_base_freq",
                          "original_max_position_embeddings", "partial_rotary_factor", "rotary_pct", "rotary_emb_base",
                          "attention_bias", "mlp_bias", "use_qkv_bias", "qkv_bias", "bias", "feed_forward_proj",
                          "is_gated_act", "is_encoder_decoder", "is_decoder", "add_cross_attention",
                          "position_embedding_type", "multi_query", "num_kv_heads", "new_decoder_architecture",
                          "num_ln_in_parallel_attn",
                          // Keys of training.
                          "attention_dropout", "hidden_dropout", "resid_pdrop", "embd_pdrop", "attn_pdrop",
                          "router_aux_loss_coef", "dropout_rate", "hidden_dropout_prob", "attention_probs_dropout_prob",
                          "classifier_dropout", "initializer_range"});
    return std::move(factors_);
  }

 private:
  std::int64_t Size(const char* name) const { return SizeNamed(architecture_, config_, name); }
  void Integer(const std::string& key, std::int64_t value) { metadata_.SetInteger(prefix_ + key, value); }
  void Number(const std::string& key, double value) { metadata_.SetNumber(prefix_ + key, value); }

  void SetRotary() {
    const JsonView given = config_["rope_parameters"], full = given["full_attention"];
    const JsonView rope = full.present() ? full : given;
    const std::int64_t heads = GgufSize(architecture_, config_, kHeads),
                       head_dim = config_.Get("head_dim", Size(architecture_.sizes.front().name) / heads)
                                      .Integer(1, kLargestGgufInteger);
    const double part = rope.Get("partial_rotary_factor", 1.0).Number(0, 1);
    const auto rotated = static_cast<std::int64_t>(static_cast<double>(head_dim) * part);
    if (config_["head_dim"].present()) {
      Integer("attention.key_length", head_dim);
      Integer("attention.value_length", head_dim);
    }
    Integer("rope.dimension_count", rotated);
    const double base = rope["rope_theta"].Number(0);
    Number("rope.freq_base", base);
    if (full.present()) Number("rope.freq_base_swa", given["sliding_attention"]["rope_theta"].Number(0));
    const std::string type = rope.Get("rope_type", "default").String();
    const auto first = [&] { return rope["original_max_position_embeddings"].Integer(1, kLargestGgufInteger); };
    if (type == "linear" || type == "yarn") {
      metadata_.SetText(prefix_ + "rope.scaling.type", type);
      Number("rope.scaling.factor", rope["factor"].Number(0));
    }
    if (type == "yarn") {
      const double attention = 0.1 * std::log(rope["factor"].Number(0)) + 1;
      const JsonView factor = rope["attention_factor"];
      Check(!factor.present() || std::abs(factor.Number() - attention) < 1e-6 * attention,
            "{}: is {}, and GGUF supports only {} for this architecture", factor.location(), factor.value().Line(),
            attention);
      Only(rope, "truncate", true);
      Integer("rope.scaling.original_context_length", first());
      if (rope["beta_fast"].present()) Number("rope.scaling.yarn_beta_fast", rope["beta_fast"].Number());
      if (rope["beta_slow"].present()) Number("rope.scaling.yarn_beta_slow", rope["beta_slow"].Number());
    } else if (type == "llama3") {
      factors_.push_back({"rope_freqs.weight", Llama3Factors(rope, base, rotated)});
    } else if (type == "longrope") {
      Integer("rope.scaling.original_context_length", first());
      if (rope["attention_factor"].present()) Number("rope.scaling.attn_factor", rope["attention_factor"].Number());
      factors_.push_back({"rope_factors_long.weight", FactorsAt(rope["long_factor"])});
      factors_.push_back({"rope_factors_short.weight", FactorsAt(rope["short_factor"])});
    } else {
      Check(type == "default" || type == "linear",
            "{}: {} has no counterpart in GGUF; default, linear, yarn, llama3 and longrope have",
            rope["rope_type"].location(), Quoted(type));
    }
  }

  // Checks settings that only some architectures have, and settings with a fixed value in the format.
  void SetFamily() {
    const std::string_view type = architecture_.model_type;
    const bool gemma = type.starts_with("gemma");
    if (gemma) {
      for (const char* key : {"hidden_activation", "hidden_act"}) Only(config_, key, "gelu_pytorch_tanh");
    } else if (type == "gpt2") {
      Only(config_, "activation_function", "gelu_new");
      Only(config_, "scale_attn_weights", true);
      Only(config_, "scale_attn_by_inverse_layer_idx", false);
    } else if (type == "falcon") {
      Only(config_, "activation", "gelu");
      Only(config_, "parallel_attn", true);
      Only(config_, "alibi", false);
    } else if (type == "bloom") {
      Only(config_, "apply_residual_connection_post_layernorm", false);
    } else if (type == "bert") {
      Only(config_, "hidden_act", "gelu");
      metadata_.SetFlag(prefix_ + "attention.causal", false);
      metadata_.SetInteger("tokenizer.ggml.token_type_count", Size("type_vocab_size"));
    } else if (type == "t5") {
      SetT5();
    } else {
      Only(config_, "hidden_act", type == "gpt_neox" ? "gelu" : "silu");
    }
    if (type == "gemma2" || type == "gemma3_text") {
      const std::int64_t layers = Size("num_hidden_layers"), heads = GgufSize(architecture_, config_, kHeads);
      // As in llama.cpp, the 27B models are detected by their number of layers. Their scores are scaled by the model
      // dimension.
      const bool largest = layers == (type == "gemma2" ? 46 : 62);
      Only(config_, "query_pre_attn_scalar", largest ? Size("hidden_size") / heads : Size("head_dim"));
      if (type == "gemma2")
        for (const char* cap : {"attn_logit_softcapping", "final_logit_softcapping"}) config_[cap].Number();
      else
        Only(config_, "attn_logit_softcapping", Json());
      const std::size_t every = type == "gemma2" ? 2 : 6;
      OnlyLayers(config_, "layer_types",
                 [&](std::size_t layer) { return (layer + 1) % every == 0 ? "full_attention" : "sliding_attention"; });
    } else {
      OnlyLayers(config_, "layer_types", [](std::size_t) { return "full_attention"; });
    }
    if (type == "smollm3")
      OnlyLayers(config_, "no_rope_layers", [](std::size_t layer) { return (layer + 1) % 4 == 0 ? 0 : 1; });
    if (type.starts_with("qwen") || type == "smollm3")
      for (const char* of_window : {"use_sliding_window", "sliding_window", "max_window_layers"})
        static_cast<void>(config_[of_window]);  // the types of the layers determine whether the window is used
    if (type == "mixtral") Only(config_, "sliding_window", Json());
    if (type == "stablelm" || type == "gpt_neox")
      metadata_.SetFlag(prefix_ + "use_parallel_residual", config_["use_parallel_residual"].Bool());
    if (type == "stablelm") Only(config_, "qk_layernorm", false);
    Integer("vocab_size", Size("vocab_size"));
    if (type == "qwen2_moe" || type == "qwen3_moe") {
      Only(config_, "norm_topk_prob", type == "qwen3_moe");
      Only(config_, "decoder_sparse_step", 1);
      Only(config_, "mlp_only_layers", Json::Array{});
    }
  }

  void SetT5() {
    const bool gated = architecture_.needs != nullptr;
    Only(config_, "dense_act_fn", gated ? "gelu_new" : "relu");
    Only(config_, "relative_attention_max_distance", 128);
    Integer("decoder_block_count", Size("num_decoder_layers"));
    for (const char* length : {"attention.key_length", "attention.value_length"}) Integer(length, Size("d_kv"));
    Integer("decoder_start_token_id", config_["decoder_start_token_id"].Integer(0, kLargestGgufInteger));
    Integer("context_length", 512);  // T5's positions have no limit, but llama.cpp needs the key
    Number("attention.layer_norm_epsilon", config_["layer_norm_epsilon"].Number());
  }

  const GgufArchitecture& architecture_;
  const JsonView& config_;
  GgufMetadata& metadata_;
  std::string prefix_;
  std::vector<GgufFactors> factors_;
};

}  // namespace

std::int64_t GgufSize(const GgufArchitecture& architecture, const JsonView& config, std::string_view gguf) {
  for (const auto& [key, name] : architecture.sizes)
    if (key == gguf) return SizeNamed(architecture, config, name);
  return 0;
}

std::int64_t KeyHeadsOf(const GgufArchitecture& architecture, const JsonView& config) {
  const std::int64_t heads = GgufSize(architecture, config, kHeads);
  if (std::string_view(architecture.model_type) != "falcon")
    return config.Get("num_key_value_heads", heads).Integer(1, kLargestGgufInteger);
  if (config["new_decoder_architecture"].Bool()) return config["num_kv_heads"].Integer(1, kLargestGgufInteger);
  return config["multi_query"].Bool() ? 1 : heads;
}

std::vector<GgufFactors> SetGgufSettings(const GgufArchitecture& architecture, const JsonView& config,
                                         GgufMetadata& metadata) {
  return GgufSettings(architecture, config, metadata).Set();
}

}  // namespace headlight
