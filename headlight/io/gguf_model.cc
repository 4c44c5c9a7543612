#include "headlight/io/gguf_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/gguf.h"
#include "headlight/kernels/blocks.h"

namespace headlight {
namespace {

constexpr std::int64_t kLargestGgufSize = std::int64_t{1} << 31;
constexpr double kLargestGgufNumber = 1e12;

struct NamedPair {
  const char *gguf, *name;
};

// An architecture of llama.cpp, and what differs from that of Llama.
struct Architecture {
  const char *name, *model_type;
  bool interleaved = false;             // pairs of rotary positions are neighbouring rows of queries and keys
  bool gains_plus_1 = false;            // norms hold 1 + w, and checkpoints w
  bool layer_norm = false;              // instead of RMSNorm
  std::vector<NamedPair> keys = {};     // numbers of the metadata, without the architecture's name, and of config.json
  std::vector<NamedPair> tensors = {};  // of a layer, without "blk.N."
};

const std::vector<Architecture>& Architectures() {
  const std::vector<NamedPair> window = {{"attention.sliding_window", "sliding_window"}};
  const std::vector<NamedPair> caps = {{"attention.sliding_window", "sliding_window"},
                                       {"attn_logit_softcapping", "attn_logit_softcapping"},
                                       {"final_logit_softcapping", "final_logit_softcapping"}};
  const std::vector<NamedPair> four_norms = {{"post_attention_norm", "post_attention_layernorm"},
                                             {"ffn_norm", "pre_feedforward_layernorm"},
                                             {"post_ffw_norm", "post_feedforward_layernorm"}};
  static const std::vector<Architecture> all = {
      {.name = "llama", .model_type = "llama", .interleaved = true},
      {.name = "qwen2", .model_type = "qwen2"},
      {.name = "qwen3", .model_type = "qwen3"},
      {.name = "smollm3", .model_type = "smollm3", .interleaved = true},
      {.name = "granite",
       .model_type = "granite",
       .interleaved = true,
       .keys = {{"embedding_scale", "embedding_multiplier"},
                {"residual_scale", "residual_multiplier"},
                {"attention.scale", "attention_multiplier"},
                {"logit_scale", "logits_scaling"}}},
      {.name = "phi3",
       .model_type = "phi3",
       .keys = window,
       .tensors = {{"attn_qkv", "self_attn.qkv_proj"}, {"ffn_up", "mlp.gate_up_proj"}}},
      {.name = "olmo2",
       .model_type = "olmo2",
       .tensors = {{"post_attention_norm", "post_attention_layernorm"},
                   {"post_ffw_norm", "post_feedforward_layernorm"}}},
      {.name = "stablelm", .model_type = "stablelm", .layer_norm = true},
      {.name = "gemma", .model_type = "gemma", .gains_plus_1 = true},
      {.name = "gemma2", .model_type = "gemma2", .gains_plus_1 = true, .keys = caps, .tensors = four_norms},
      {.name = "gemma3", .model_type = "gemma3_text", .gains_plus_1 = true, .keys = caps, .tensors = four_norms}};
  return all;
}

const Architecture& ArchitectureOf(const Gguf& file) {
  const std::string name = file.Text("general.architecture");
  const auto& all = Architectures();
  const auto found = std::ranges::find(all, name, &Architecture::name);
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const Architecture& architecture : all) names.emplace_back(architecture.name);
  Fail("{}: {} is not a known architecture; known are: {}", file.Place("general.architecture"), Quoted(name),
       fmt::join(names, ", "));
}

// Tensors of a layer that most architectures have, and those outside of layers.
constexpr NamedPair kLayerTensors[] = {{"attn_norm", "input_layernorm"},    {"attn_q", "self_attn.q_proj"},
                                       {"attn_k", "self_attn.k_proj"},      {"attn_v", "self_attn.v_proj"},
                                       {"attn_output", "self_attn.o_proj"}, {"attn_q_norm", "self_attn.q_norm"},
                                       {"attn_k_norm", "self_attn.k_norm"}, {"ffn_norm", "post_attention_layernorm"},
                                       {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
                                       {"ffn_down", "mlp.down_proj"}};
constexpr NamedPair kOtherTensors[] = {
    {"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}};
constexpr const char *kRopeFactors = "rope_freqs.weight", *kShortFactors = "rope_factors_short.weight",
                     *kLongFactors = "rope_factors_long.weight";

const char* NameIn(std::span<const NamedPair> pairs, std::string_view gguf) {
  const auto found = std::ranges::find(pairs, gguf, &NamedPair::gguf);
  return found == pairs.end() ? nullptr : found->name;
}

// "blk.3.attn_q.weight" is "model.layers.3.self_attn.q_proj.weight". A name that is not known stays, and the model then
// refuses it.
std::string CheckpointName(const Architecture& architecture, const std::string& name) {
  constexpr std::string_view layer = "blk.";
  const std::size_t kind = name.rfind('.');
  if (kind == std::string::npos) return name;
  const std::string ending = name.substr(kind);
  if (!name.starts_with(layer)) {
    const char* known = NameIn(kOtherTensors, name.substr(0, kind));
    return known == nullptr ? name : known + ending;
  }
  const std::size_t after = name.find('.', layer.size());
  if (after >= kind) return name;
  const std::string part = name.substr(after + 1, kind - after - 1);
  const char* known = NameIn(architecture.tensors, part);
  if (known == nullptr) known = NameIn(kLayerTensors, part);
  return known == nullptr
             ? name
             : fmt::format("model.layers.{}.{}{}", name.substr(layer.size(), after - layer.size()), known, ending);
}

// The metadata under the architecture's name. Remembers what was read, so that nothing is ignored in silence.
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

std::vector<float> NumbersOf(const GgufTensor& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t axis : tensor.axes) count *= axis;
  std::vector<float> numbers(static_cast<std::size_t>(count));
  kernels::Dequantize(tensor.type, tensor.bytes.data(), count, numbers.data());
  return numbers;
}

const GgufTensor* Find(const Gguf& file, std::string_view name) {
  const auto found = std::ranges::find(file.tensors(), name, &GgufTensor::name);
  return found == file.tensors().end() ? nullptr : &*found;
}

// rope_scaling of config.json; null if positions are not scaled.
Json RopeScaling(const Gguf& file, Settings& settings, std::int64_t positions) {
  const auto factors = [&](const char* name) {
    Json::Array list;
    for (const float factor : NumbersOf(*Find(file, name))) list.emplace_back(static_cast<double>(factor));
    return list;
  };
  const bool two = Find(file, kShortFactors) != nullptr && Find(file, kLongFactors) != nullptr;
  const std::string type = settings.Has("rope.scaling.type") ? settings.Text("rope.scaling.type") : "none";
  const std::int64_t first = settings.Size("rope.scaling.original_context_length", positions);
  if (settings.Has("rope.scaling.finetuned")) settings.Flag("rope.scaling.finetuned");
  if (two || Find(file, kRopeFactors) != nullptr) {
    // Factors of Llama 3 are the same for all texts.
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
  constexpr NamedPair optional[] = {{"rope.scaling.yarn_beta_fast", "beta_fast"},
                                    {"rope.scaling.yarn_beta_slow", "beta_slow"}};
  for (const auto& [key, name] : optional)
    if (settings.Has(key)) scaling.Set(name, settings.Number(key));
  return scaling;
}

void SetTokenIds(const Gguf& file, Json& config) {
  constexpr NamedPair ids[] = {{"tokenizer.ggml.bos_token_id", "bos_token_id"},
                               {"tokenizer.ggml.eos_token_id", "eos_token_id"},
                               {"tokenizer.ggml.padding_token_id", "pad_token_id"}};
  // A null counts as "none", and not as the family's default.
  for (const auto& [key, name] : ids)
    config.Set(name, file.contains(key) ? Json(file.Integer(key, 0, kLargestGgufSize)) : Json());
}

Json ConfigOf(const Gguf& file, const Architecture& architecture) {
  Settings settings(file, architecture.name);
  const std::int64_t layers = settings.Size("block_count"), model = settings.Size("embedding_length"),
                     heads = settings.Size("attention.head_count");
  const std::int64_t head_dim = settings.Size("attention.key_length", std::max<std::int64_t>(1, model / heads));
  const std::int64_t positions = settings.Size("context_length");
  const GgufTensor* table = Find(file, "token_embd.weight");
  Check(table != nullptr && table->axes.size() == 2, "{}: there is no matrix token_embd.weight", file.path());
  Json config = Json::Object{{"model_type", architecture.model_type},
                             {"vocab_size", table->axes[0]},
                             {"hidden_size", model},
                             {"intermediate_size", settings.Size("feed_forward_length")},
                             {"num_hidden_layers", layers},
                             {"num_attention_heads", heads},
                             {"num_key_value_heads", settings.Size("attention.head_count_kv", heads)},
                             {"head_dim", head_dim},
                             {"max_position_embeddings", positions},
                             {"tie_word_embeddings", Find(file, "output.weight") == nullptr},
                             {"quantization_config", Json::Object{{"quant_method", "gguf"}}}};
  SetTokenIds(file, config);
  Check(settings.Size("attention.value_length", head_dim) == head_dim, "{}: must be the keys' length, {}",
        settings.Place("attention.value_length"), head_dim);
  if (settings.Has("vocab_size")) settings.Size("vocab_size");
  config.Set(
      architecture.layer_norm ? "layer_norm_eps" : "rms_norm_eps",
      settings.Number(architecture.layer_norm ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon"));
  const std::int64_t rotated = settings.Size("rope.dimension_count", head_dim);
  Check(rotated <= head_dim, "{}: must be at most {}, a head's length", settings.Place("rope.dimension_count"),
        head_dim);
  if (rotated != head_dim || architecture.layer_norm)
    config.Set("partial_rotary_factor", static_cast<double>(rotated) / static_cast<double>(head_dim));
  if (settings.Has("rope.freq_base")) config.Set("rope_theta", settings.Number("rope.freq_base"));
  if (settings.Has("rope.freq_base_swa")) config.Set("rope_local_base_freq", settings.Number("rope.freq_base_swa"));
  if (Json scaling = RopeScaling(file, settings, positions); scaling != Json())
    config.Set("rope_scaling", std::move(scaling));
  for (const auto& [key, name] : architecture.keys)
    if (settings.Has(key)) config.Set(name, settings.AnyNumber(key));
  const std::string type = architecture.model_type;
  const bool own_key = type == "qwen2" || type == "stablelm";  // of biases of attention, or none
  if (!own_key && Find(file, "blk.0.attn_q.bias") != nullptr) config.Set("attention_bias", true);
  if (Find(file, "blk.0.ffn_down.bias") != nullptr) config.Set("mlp_bias", true);
  if (type == "gemma2" || type == "gemma3_text") {
    // llama.cpp recognizes the sizes of 27B, whose scores are scaled by the model dimension.
    const bool largest = layers == (type == "gemma2" ? 46 : 62);
    config.Set("query_pre_attn_scalar", largest ? model / heads : head_dim);
    if (type == "gemma3_text") config.Set("attn_logit_softcapping", Json());
    if (type == "gemma3_text" && !settings.Has("final_logit_softcapping"))
      config.Set("final_logit_softcapping", Json());
  }
  if (type == "stablelm") {
    config.Set("use_parallel_residual",
               settings.Has("use_parallel_residual") && settings.Flag("use_parallel_residual"));
    config.Set("use_qkv_bias", Find(file, "blk.0.attn_q.bias") != nullptr);
  }
  if (type == "phi3" && Find(file, kShortFactors) != nullptr)
    config.Set("original_max_position_embeddings", settings.Size("rope.scaling.original_context_length", positions));
  settings.RefuseUnread();
  return config;
}

StoredType StoredTypeOf(GgufType type) {
  switch (type) {
    case GgufType::f32:
      return StoredType::f32;
    case GgufType::f16:
      return StoredType::f16;
    case GgufType::bf16:
      return StoredType::bf16;
    default:
      return StoredType::block;
  }
}

// What the tensors' bytes are in: the file, and those that are not as in the file.
struct Memory {
  explicit Memory(const std::string& path) : file(path) {}
  Gguf file;
  std::deque<std::vector<std::byte>> own;
};

// Rows 2 i + j of a head, the pairs of rotary positions, become rows j * half + i.
std::span<const std::byte> Separated(const GgufTensor& tensor, std::int64_t heads, Memory& memory) {
  const std::int64_t rows = tensor.axes[0], of_head = rows / heads, half = of_head / 2;
  Check(rows == heads * half * 2, "{}: tensor {}: {} rows are not those of {} heads of pairs", memory.file.path(),
        Quoted(tensor.name), rows, heads);
  const std::int64_t row_bytes = std::ssize(tensor.bytes) / std::max<std::int64_t>(1, rows);
  std::vector<std::byte>& copy = memory.own.emplace_back(tensor.bytes.size());
  for (std::int64_t head = 0; head < heads; ++head)
    for (std::int64_t row = 0; row < of_head; ++row)
      std::memcpy(copy.data() + (head * of_head + row) * row_bytes,
                  tensor.bytes.data() + (head * of_head + 2 * (row % half) + row / half) * row_bytes,
                  static_cast<std::size_t>(row_bytes));
  return copy;
}

std::span<const std::byte> LessOne(const GgufTensor& tensor, Memory& memory) {
  std::vector<float> numbers = NumbersOf(tensor);
  for (float& number : numbers) number -= 1;
  const auto bytes = std::as_bytes(std::span(numbers));
  return memory.own.emplace_back(bytes.begin(), bytes.end());
}

}  // namespace

GgufModel OpenGgufModel(const std::string& path) {
  const auto memory = std::make_shared<Memory>(path);
  const Gguf& file = memory->file;
  const Architecture& architecture = ArchitectureOf(file);
  JsonView config(ConfigOf(file, architecture), path);
  const std::int64_t heads = config["num_attention_heads"].Integer(1, kLargestGgufSize),
                     key_heads = config["num_key_value_heads"].Integer(1, kLargestGgufSize);
  std::vector<StoredTensor> tensors;
  for (const GgufTensor& tensor : file.tensors()) {
    if (tensor.name == kRopeFactors || tensor.name == kShortFactors || tensor.name == kLongFactors) continue;
    StoredTensor stored = {CheckpointName(architecture, tensor.name), StoredTypeOf(tensor.type), Shape(tensor.axes),
                           tensor.bytes};
    stored.block = tensor.type;
    const bool query = stored.name.find(".self_attn.q_proj.") != std::string::npos;
    const bool key = stored.name.find(".self_attn.k_proj.") != std::string::npos;
    if (architecture.interleaved && (query || key) && !tensor.axes.empty())
      stored.bytes = Separated(tensor, query ? heads : key_heads, *memory);
    if (architecture.gains_plus_1 && stored.name.ends_with("norm.weight")) {
      stored.bytes = LessOne(tensor, *memory);
      stored.type = StoredType::f32;
    }
    tensors.push_back(std::move(stored));
  }
  return {std::move(config), Safetensors::Of(path, std::move(tensors), memory)};
}

}  // namespace headlight
