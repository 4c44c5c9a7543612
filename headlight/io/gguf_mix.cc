#include "headlight/io/gguf_mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

constexpr GgufFileType kFileTypes[] = {
    {"F32", 0, GgufType::f32},        {"F16", 1, GgufType::f16},      {"BF16", 32, GgufType::bf16},
    {"Q8_0", 7, GgufType::q8_0},      {"Q6_K", 18, GgufType::q6_k},   {"Q5_K_M", 17, GgufType::q5_k},
    {"Q5_K_S", 16, GgufType::q5_k},   {"Q5_1", 9, GgufType::q5_1},    {"Q5_0", 8, GgufType::q5_0},
    {"Q4_K_M", 15, GgufType::q4_k},   {"Q4_K_S", 14, GgufType::q4_k}, {"IQ4_NL", 25, GgufType::iq4_nl},
    {"IQ4_XS", 30, GgufType::iq4_xs}, {"Q4_1", 3, GgufType::q4_1},    {"Q4_0", 2, GgufType::q4_0},
    {"Q3_K_L", 13, GgufType::q3_k},   {"Q3_K_M", 12, GgufType::q3_k}, {"Q3_K_S", 11, GgufType::q3_k},
    {"Q2_K", 10, GgufType::q2_k}};

constexpr std::int64_t kMixtralExperts = 8, kManyQueriesPerKey = 4;

bool IsQuantized(std::string_view name, std::int64_t rows) {
  if (rows < 2 || !name.ends_with("weight")) return false;
  for (const char* kept : {"_norm.weight", "ffn_gate_inp.weight", "attn_rel_b.weight"})
    if (name.find(kept) != std::string_view::npos) return false;
  return name != "position_embd.weight" && name != "token_types.weight";
}

// Returns true for the layers at both ends, and for every third layer between them.
bool NeedsMoreBits(std::int64_t layer, std::int64_t layers) {
  return layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
}

std::int64_t LayerOf(std::string_view name) {
  constexpr std::string_view prefix = "blk.";
  std::int64_t layer = 0;
  if (name.starts_with(prefix)) std::from_chars(name.data() + prefix.size(), name.data() + name.size(), layer);
  return layer;
}

struct Chooser {
  using enum GgufType;

  const GgufFileType& file;
  const GgufMixModel& model;
  bool tied;                               // true if there is no tensor `output.weight`
  std::vector<std::int64_t> value_layers;  // layers with a value matrix or a fused query-key-value matrix

  bool Is(std::initializer_list<std::string_view> names) const {
    return std::ranges::find(names, std::string_view(file.name)) != names.end();
  }
  bool falcon() const { return model.architecture == "falcon"; }
  bool mixtral() const { return model.experts == kMixtralExperts; }
  bool grouped() const { return model.heads / model.key_heads >= kManyQueriesPerKey; }

  GgufType Values(std::int64_t layer) const {
    const std::int64_t count = std::ssize(value_layers);
    const std::int64_t at = std::ranges::lower_bound(value_layers, layer) - value_layers.begin();
    GgufType type = file.usual;
    if (Is({"Q2_K"}))
      type = grouped() ? q4_k : q3_k;
    else if (Is({"Q3_K_M"}))
      type = at < 2 ? q5_k : q4_k;
    else if (Is({"Q3_K_L"}) || (Is({"IQ4_NL", "IQ4_XS"}) && grouped()))
      type = q5_k;
    else if (Is({"Q4_K_M", "Q5_K_M"}) && NeedsMoreBits(at, count))
      type = q6_k;
    else if (Is({"Q4_K_S"}) && at < 4)
      type = q5_k;
    // Models of 70 billion parameters have few value heads, so more bits cost little.
    const bool llama = model.architecture == "llama" && model.heads != model.key_heads;
    if ((llama || model.architecture == "qwen2") && model.layers == 80 && (type == q3_k || type == q4_k)) type = q5_k;
    return mixtral() ? q8_0 : type;
  }

  GgufType FfnDown(std::int64_t layer) const {
    const std::int64_t layers = model.layers;
    const bool more = NeedsMoreBits(layer, layers);
    if (Is({"Q2_K"})) return q3_k;
    if (Is({"Q3_K_M"})) return layer < layers / 16 ? q5_k : !falcon() || more ? q4_k : q3_k;
    if (Is({"Q3_K_L"})) return falcon() ? q4_k : q5_k;
    if (Is({"Q4_K_M"}) && falcon()) return layer < layers / 16 ? q6_k : more ? q5_k : q4_k;
    if (Is({"Q4_K_M", "Q5_K_M"}) && more) return q6_k;
    const bool early = layer < layers / 8;
    if (early && Is({"IQ4_NL", "IQ4_XS"}) && !model.importance) return q5_k;
    if (early && Is({"Q4_K_S"}) && !falcon()) return q5_k;
    if (early && Is({"Q4_0"}) && model.importance) return q4_1;
    if (early && Is({"Q5_0"}) && model.importance) return q5_1;
    return file.usual;
  }

  GgufType AttentionOutput() const {
    if (falcon()) return Is({"Q3_K_L"}) ? q4_k : file.usual;
    if (mixtral()) return Is({"Q2_K", "Q3_K_S", "Q3_K_M", "IQ4_NL", "IQ4_XS", "Q4_K_S", "Q4_K_M"}) ? q5_k : file.usual;
    return Is({"Q2_K"}) ? q3_k : Is({"Q3_K_M"}) ? q4_k : Is({"Q3_K_L"}) ? q5_k : file.usual;
  }

  GgufType TypeFor(const GgufTensorPlan& tensor) const {
    const std::string_view name = tensor.name;
    const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
    if (name == "output.weight" || (tied && name == "token_embd.weight"))
      return falcon() || tensor.RowNumbers() % InfoOf(file.usual).run != 0 || file.usual == q8_0 ? q8_0 : q6_k;
    if (name == "token_embd.weight") return file.usual;
    if (has("attn_qkv.weight") || has("attn_v.weight")) return Values(LayerOf(name));
    if (has("attn_k.weight") && mixtral()) return q8_0;
    if (has("attn_output.weight")) return AttentionOutput();
    if (has("ffn_down")) return FfnDown(LayerOf(name));
    return file.usual;
  }
};

// Returns a type whose blocks fit rows of this length.
GgufType Fitting(GgufType type, std::int64_t row) {
  using enum GgufType;
  const auto fits = [&](GgufType other) { return row % InfoOf(other).run == 0; };
  if (fits(type)) return type;
  const GgufType shorter = type == q4_k                   ? q5_0
                           : type == q5_k                 ? q5_1
                           : type == q6_k                 ? q8_0
                           : type == iq4_xs               ? iq4_nl
                           : type == q2_k || type == q3_k ? q4_0
                                                          : type;
  return fits(shorter) ? shorter : f16;
}

}  // namespace

std::span<const GgufFileType> GgufFileTypes() { return kFileTypes; }

const GgufFileType& GgufFileTypeOf(std::string_view name) {
  std::string whole(name);
  for (char& c : whole)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  if (whole == "Q3_K" || whole == "Q4_K" || whole == "Q5_K") whole += "_M";
  const auto found = std::ranges::find(kFileTypes, std::string_view(whole), &GgufFileType::name);
  if (found != std::end(kFileTypes)) return *found;
  std::vector<std::string_view> names;
  for (const GgufFileType& type : kFileTypes) names.emplace_back(type.name);
  Fail("`type`: {} is not known; known are: {}", Quoted(name), fmt::join(names, ", "));
}

std::vector<GgufType> GgufTypesFor(const GgufFileType& file, const GgufMixModel& model,
                                   std::span<const GgufTensorPlan> tensors) {
  Chooser chooser = {file, model, true, {}};
  for (const GgufTensorPlan& tensor : tensors) {
    if (tensor.name == "output.weight") chooser.tied = false;
    if (tensor.name.ends_with("attn_v.weight") || tensor.name.ends_with("attn_qkv.weight"))
      chooser.value_layers.push_back(LayerOf(tensor.name));
  }
  std::ranges::sort(chooser.value_layers);
  const bool blocks = InfoOf(file.usual).run > 1;
  std::vector<GgufType> types;
  for (const GgufTensorPlan& tensor : tensors) {
    const bool quantized = IsQuantized(tensor.name, tensor.Rows());
    types.push_back(!quantized ? tensor.type
                    : blocks   ? Fitting(chooser.TypeFor(tensor), tensor.RowNumbers())
                               : file.usual);
  }
  return types;
}

}  // namespace headlight
