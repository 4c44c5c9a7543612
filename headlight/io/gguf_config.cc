#include "headlight/io/gguf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/gguf_end_tokens.h"
#include "headlight/kernels/blocks.h"

namespace headlight {
namespace {

constexpr std::int64_t kLargestGgufSize = std::int64_t{1} << 31;
constexpr double kLargestGgufNumber = 1e12;

// The metadata under the architecture's name. Records which keys were read, so that unread keys are reported.
class Settings {
 public:
  Settings(const Gguf& file, const std::string& architecture) : file_(file), prefix_(architecture + ".") {}

  bool Has(const std::string& key) { return file_.contains(Whole(key)); }
  std::int64_t Size(const std::string& key) { return file_.Integer(Whole(key), 1, kLargestGgufSize); }
  std::int64_t Size(const std::string& key, std::int64_t fallback) { return Has(key) ? Size(key) : fallback; }
  double Number(const std::string& key) { return file_.Number(Whole(key), 0, kLargestGgufNumber); }
  Json AnyNumber(const std::string& key) {
    const auto* integer = std::get_if<std::int64_t>(&file_.metadata().find(Whole(key))->second);
    return integer != nullptr ? Json(*integer) : Json(Number(key));
  }
  std::string Text(const std::string& key) { return file_.Text(Whole(key)); }
  bool Flag(const std::string& key) { return file_.Flag(Whole(key)); }
  std::string Place(const std::string& key) const { return file_.Place(prefix_ + key); }

  void RefuseUnread() const {
    std::vector<std::string> unread;
    for (const auto& [key, value] : file_.metadata())
      if (key.starts_with(prefix_) && !read_.contains(key)) unread.push_back(Quoted(key));
    Check(unread.empty(), "{}: unknown {}: {}", file_.path(), unread.size() == 1 ? "key" : "keys",
          fmt::join(unread, ", "));
  }

 private:
  std::string Whole(const std::string& key) { return *read_.insert(prefix_ + key).first; }

  const Gguf& file_;
  std::string prefix_;
  std::set<std::string> read_;
};

// Returns rope_scaling of config.json, or null if positions are not scaled.
Json RopeScaling(const Gguf& file, Settings& settings, std::int64_t positions) {
  const auto factors = [&](const char* name) {
    Json::Array list;
    for (const float factor : GgufNumbers(*FindTensor(file, name))) list.emplace_back(static_cast<double>(factor));
    return list;
  };
  const bool two = FindTensor(file, kShortFactors) != nullptr && FindTensor(file, kLongFactors) != nullptr;
  const std::string type = settings.Has("rope.scaling.type") ? settings.Text("rope.scaling.type") : "none";
  const std::int64_t first = settings.Size("rope.scaling.original_context_length", positions);
  if (settings.Has("rope.scaling.finetuned")) settings.Flag("rope.scaling.finetuned");
  if (two || FindTensor(file, kRopeFactors) != nullptr) {
    // The factors of Llama 3 are the same for short and long texts.
    Json scaling = Json::Object{{"rope_type", "longrope"},
                                {"short_factor", factors(two ? kShortFactors : kRopeFactors)},
                                {"long_factor", factors(two ? kLongFactors : kRopeFactors)},
                                {"original_max_position_embeddings", two ? first : positions}};
    if (settings.Has("rope.scaling.attn_factor"))
      scaling.Set("attention_factor", settings.Number("rope.scaling.attn_factor"));
    else if (!two)
      scaling.Set("attention_factor", 1.0);
    return scaling;
  }
  if (type == "none") return {};
  Check(type == "linear" || type == "yarn", "{}: {} is not supported; none, linear and yarn are",
        settings.Place("rope.scaling.type"), Quoted(type));
  Json scaling = Json::Object{{"rope_type", type}, {"factor", settings.Number("rope.scaling.factor")}};
  if (type == "linear") return scaling;
  scaling.Set("original_max_position_embeddings", first);
  constexpr GgufName optional[] = {{"rope.scaling.yarn_beta_fast", "beta_fast"},
                                   {"rope.scaling.yarn_beta_slow", "beta_slow"}};
  for (const auto& [key, name] : optional)
    if (settings.Has(key)) scaling.Set(name, settings.Number(key));
  return scaling;
}

void SetTokenIds(const Gguf& file, std::int64_t vocabulary, Json& config) {
  constexpr GgufName ids[] = {{"tokenizer.ggml.bos_token_id", "bos_token_id"},
                              {"tokenizer.ggml.padding_token_id", "pad_token_id"}};
  // A null means that there is no token, instead of the family's default.
  for (const auto& [key, name] : ids)
    config.Set(name, file.contains(key) ? Json(file.Integer(key, 0, kLargestGgufSize)) : Json());
  Json::Array ends;
  for (const std::int64_t id : GgufEndTokens(file))
    if (id < vocabulary) ends.emplace_back(id);
  if (ends.size() == 1)
    config.Set("eos_token_id", ends.front());
  else
    config.Set("eos_token_id", ends.empty() ? Json() : Json(std::move(ends)));
}

// Writes the settings of Llama and related architectures: heads, rotary positions and biases.
void SetLlamaSettings(const Gguf& file, Settings& settings, Json& config) {
  const std::string type = *config.Find("model_type")->As<std::string>();
  const std::int64_t model = settings.Size("embedding_length"), layers = settings.Size("block_count"),
                     heads = settings.Size("attention.head_count"), positions = settings.Size("context_length");
  const std::int64_t head_dim = settings.Size("attention.key_length", std::max<std::int64_t>(1, model / heads));
  config.Set("num_key_value_heads", settings.Size("attention.head_count_kv", heads));
  config.Set("head_dim", head_dim);
  Check(settings.Size("attention.value_length", head_dim) == head_dim, "{}: must be the keys' length, {}",
        settings.Place("attention.value_length"), head_dim);
  const std::int64_t rotated = settings.Size("rope.dimension_count", head_dim);
  Check(rotated <= head_dim, "{}: must be at most {}, a head's length", settings.Place("rope.dimension_count"),
        head_dim);
  if (rotated != head_dim || type == "stablelm")
    config.Set("partial_rotary_factor", static_cast<double>(rotated) / static_cast<double>(head_dim));
  if (settings.Has("rope.freq_base")) config.Set("rope_theta", settings.Number("rope.freq_base"));
  if (settings.Has("rope.freq_base_swa")) config.Set("rope_local_base_freq", settings.Number("rope.freq_base_swa"));
  if (Json scaling = RopeScaling(file, settings, positions); scaling != Json())
    config.Set("rope_scaling", std::move(scaling));
  const bool biases = FindTensor(file, "blk.0.attn_q.bias") != nullptr;
  if (type == "qwen2_moe")
    config.Set("qkv_bias", biases);
  else if (biases && type != "qwen2" && type != "stablelm")  // these two have another key, or none
    config.Set("attention_bias", true);
  if (FindTensor(file, "blk.0.ffn_down.bias") != nullptr) config.Set("mlp_bias", true);
  if (type == "gemma2" || type == "gemma3_text") {
    // As in llama.cpp, the 27B models are detected by their number of layers. Their scores are scaled by the model
    // dimension.
    const bool largest = layers == (type == "gemma2" ? 46 : 62);
    config.Set("query_pre_attn_scalar", largest ? model / heads : head_dim);
    if (type == "gemma3_text") config.Set("attn_logit_softcapping", Json());
    if (type == "gemma3_text" && !settings.Has("final_logit_softcapping"))
      config.Set("final_logit_softcapping", Json());
  }
  if (type == "stablelm") {
    config.Set("use_parallel_residual",
               settings.Has("use_parallel_residual") && settings.Flag("use_parallel_residual"));
    config.Set("use_qkv_bias", biases);
  }
  if (type == "phi3" && FindTensor(file, kShortFactors) != nullptr)
    config.Set("original_max_position_embeddings", settings.Size("rope.scaling.original_context_length", positions));
}

// Sets the expert settings that are fixed in llama.cpp, and the layers with a single network instead of experts.
void SetExperts(const Gguf& file, Settings& settings, const std::string& type, Json& config) {
  if (type == "llama") {
    for (const char* count : {"expert_count", "expert_used_count"})  // 0 in files of models without experts
      Check(!settings.Has(count) || settings.Number(count) == 0, "{}: there are experts, but no tensor {}",
            settings.Place(count), "blk.0.ffn_gate_inp.weight");
  }
  if (settings.Has("expert_gating_func"))
    Check(settings.Number("expert_gating_func") == 1, "{}: must be 1, the softmax",
          settings.Place("expert_gating_func"));
  if (type != "qwen2_moe" && type != "qwen3_moe") return;
  config.Set("norm_topk_prob", type == "qwen3_moe");
  std::set<std::string_view> names;
  for (const GgufTensor& tensor : file.tensors()) names.insert(tensor.name);
  const std::int64_t layers = settings.Size("block_count");
  Json::Array dense;
  for (std::int64_t layer = 0; layer < layers; ++layer)
    if (!names.contains(fmt::format("blk.{}.ffn_gate_inp.weight", layer))) dense.emplace_back(layer);
  config.Set("mlp_only_layers", std::move(dense));
}

// Writes the settings of architectures that are not related to Llama.
void SetOtherSettings(const Gguf& file, Settings& settings, const std::string& type, Json& config) {
  const std::int64_t model = settings.Size("embedding_length"), heads = settings.Size("attention.head_count"),
                     head_dim = std::max<std::int64_t>(1, model / heads),
                     key_heads = settings.Size("attention.head_count_kv", heads);
  if (type == "falcon") {
    // This layout supports any number of key heads, and one norm or two.
    config.Set("new_decoder_architecture", true);
    config.Set("num_kv_heads", key_heads);
    config.Set("num_ln_in_parallel_attn", FindTensor(file, "blk.0.attn_norm_2.weight") != nullptr ? 2 : 1);
    config.Set("bias", FindTensor(file, "blk.0.attn_qkv.bias") != nullptr);
    if (settings.Has("tensor_data_layout")) settings.Text("tensor_data_layout");
  } else {
    Check(key_heads == heads, "{}: must be {}, the number of heads", settings.Place("attention.head_count_kv"), heads);
  }
  if (type == "falcon" || type == "gpt_neox") {
    const std::int64_t rotated = settings.Size("rope.dimension_count", head_dim);
    Check(rotated <= head_dim && (rotated == head_dim || type == "gpt_neox"), "{}: must be {}{}, a head's length",
          settings.Place("rope.dimension_count"), type == "gpt_neox" ? "at most " : "", head_dim);
    if (type == "gpt_neox") {
      config.Set("rotary_pct", static_cast<double>(rotated) / static_cast<double>(head_dim));
      config.Set("use_parallel_residual",
                 !settings.Has("use_parallel_residual") || settings.Flag("use_parallel_residual"));
      config.Set("attention_bias", FindTensor(file, "blk.0.attn_qkv.bias") != nullptr);
    }
    if (settings.Has("rope.freq_base"))
      config.Set(type == "gpt_neox" ? "rotary_emb_base" : "rope_theta", settings.Number("rope.freq_base"));
    if (Json scaling = RopeScaling(file, settings, settings.Size("context_length")); scaling != Json())
      config.Set("rope_scaling", std::move(scaling));
  }
  if (type == "t5") {
    config.Set("num_decoder_layers", settings.Size("decoder_block_count", settings.Size("block_count")));
    config.Set("d_kv", settings.Size("attention.key_length"));
    Check(settings.Size("attention.value_length", settings.Size("attention.key_length")) ==
              settings.Size("attention.key_length"),
          "{}: must be the keys' length", settings.Place("attention.value_length"));
    if (settings.Has("decoder_start_token_id"))
      config.Set("decoder_start_token_id", settings.AnyNumber("decoder_start_token_id"));
    for (const char* harmless : {"context_length", "attention.layer_norm_epsilon"})
      if (settings.Has(harmless)) settings.Number(harmless);
    config.Set("feed_forward_proj", FindTensor(file, "enc.blk.0.ffn_gate.weight") != nullptr ? "gated-gelu" : "relu");
    if (!file.contains("tokenizer.ggml.padding_token_id")) config.Set("pad_token_id", 0);
  }
  if (type == "bert") {
    const GgufTensor* types = FindTensor(file, "token_types.weight");
    config.Set("type_vocab_size", types == nullptr || types->axes.empty() ? 0 : types->axes[0]);
    Check(!settings.Has("attention.causal") || !settings.Flag("attention.causal"), "{}: must be false",
          settings.Place("attention.causal"));
    if (settings.Has("pooling_type")) settings.Number("pooling_type");  // read by pipelines/sentence_modules.h
  }
}

}  // namespace

std::vector<float> GgufNumbers(const GgufTensor& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t axis : tensor.axes) count *= axis;
  std::vector<float> numbers(static_cast<std::size_t>(count));
  kernels::Dequantize(tensor.type, tensor.bytes.data(), count, numbers.data());
  return numbers;
}

Json GgufConfig(const Gguf& file, const GgufArchitecture& architecture) {
  Settings settings(file, architecture.name);
  const std::string type = architecture.model_type;
  const GgufTensor* table = FindTensor(file, "token_embd.weight");
  Check(table != nullptr && table->axes.size() == 2, "{}: there is no matrix token_embd.weight", file.path());
  Json config = Json::Object{{"model_type", type},
                             {"vocab_size", table->axes[0]},
                             {"tie_word_embeddings", FindTensor(file, "output.weight") == nullptr},
                             {"quantization_config", Json::Object{{"quant_method", "gguf"}}}};
  for (const auto& [key, name] : architecture.sizes) config.Set(name, settings.Size(key));
  Check(settings.Size("block_count") <= std::ssize(file.tensors()), "{}: is more than the file's {} tensors",
        settings.Place("block_count"), file.tensors().size());
  config.Set(architecture.epsilon.name, settings.Number(architecture.epsilon.gguf));
  for (const auto& [key, name] : architecture.settings)
    if (settings.Has(key)) config.Set(name, settings.AnyNumber(key));
  SetTokenIds(file, table->axes[0], config);
  if (settings.Has("vocab_size")) settings.Size("vocab_size");
  const bool other =
      type == "gpt2" || type == "bloom" || type == "falcon" || type == "gpt_neox" || type == "bert" || type == "t5";
  if (other)
    SetOtherSettings(file, settings, type, config);
  else
    SetLlamaSettings(file, settings, config);
  SetExperts(file, settings, type, config);
  settings.RefuseUnread();
  return config;
}

}  // namespace headlight
