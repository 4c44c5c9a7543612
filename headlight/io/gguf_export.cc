#include "headlight/io/gguf_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/io/gguf_architectures.h"
#include "headlight/io/gguf_settings.h"
#include "headlight/kernels/blocks.h"

namespace headlight {
namespace {

// A tensor's name in GGUF, and the index of its expert, or -1.
struct ExportedName {
  std::string gguf;
  std::int64_t expert = -1;
};

// Removes the number at the beginning of `text`, and returns it.
std::optional<std::int64_t> TakeNumber(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<ExportedName> NameInLayer(const std::vector<GgufName>& tensors, std::string_view part) {
  for (const GgufName& tensor : tensors) {
    const std::string_view pattern = tensor.name, before = pattern.substr(0, pattern.find('*'));
    if (before == part) return ExportedName{tensor.gguf};
    if (before.size() == pattern.size() || !part.starts_with(before)) continue;
    std::string_view rest = part.substr(before.size());
    const std::optional<std::int64_t> expert = TakeNumber(rest);
    if (expert && rest == pattern.substr(before.size() + 1)) return ExportedName{tensor.gguf, *expert};
  }
  return std::nullopt;
}

// Returns the GGUF name of a checkpoint's tensor. This is the reverse of CheckpointName.
std::optional<ExportedName> ExportedNameOf(const GgufArchitecture& architecture, std::string_view name) {
  const std::size_t kind = name.rfind('.');
  if (kind == std::string_view::npos) return std::nullopt;
  const std::string_view stem = name.substr(0, kind), ending = name.substr(kind);
  for (const GgufName& tensor : architecture.tensors)
    if (stem == tensor.name) return ExportedName{fmt::format("{}{}", tensor.gguf, ending)};
  for (const GgufLayers& layers : architecture.layers) {
    if (!stem.starts_with(layers.name)) continue;
    std::string_view rest = stem.substr(std::string_view(layers.name).size());
    const std::optional<std::int64_t> layer = TakeNumber(rest);
    if (!layer || !rest.starts_with('.')) continue;
    std::optional<ExportedName> found = NameInLayer(layers.tensors, rest.substr(1));
    if (!found) continue;
    found->gguf = fmt::format("{}{}.{}{}", layers.gguf, *layer, found->gguf, ending);
    return found;
  }
  return std::nullopt;
}

GgufType TypeOf(const StoredTensor& tensor, const std::string& path) {
  switch (tensor.type) {
    case StoredType::f32:
      return GgufType::f32;
    case StoredType::f16:
      return GgufType::f16;
    case StoredType::bf16:
      return GgufType::bf16;
    default:
      Fail("{}: tensor {} is of type {}; F32, F16 and BF16 become GGUF", path, Quoted(tensor.name), Name(tensor.type));
  }
}

// The order of the rows of queries and keys: row i in GGUF is row RowAt(i) in the checkpoint.
struct RowOrder {
  GgufRows rows = GgufRows::same;
  std::int64_t heads = 1, key_heads = 1, of_head = 1;

  std::int64_t RowAt(std::int64_t row) const {
    const std::int64_t head = row / of_head, at = row % of_head;
    if (rows == GgufRows::pairs) return head * of_head + at % 2 * (of_head / 2) + at / 2;
    if (rows == GgufRows::same) return row;
    // A group has `queries` query heads, a key head and a value head.
    const std::int64_t queries = heads / key_heads;
    const std::int64_t group = head < heads ? head / queries : (head - heads) % key_heads;
    const std::int64_t member = head < heads ? head % queries : queries + (head - heads) / key_heads;
    return (group * (queries + 2) + member) * of_head + at;
  }
};

struct Exporter {
  const ModelFolder& files;
  const GgufArchitecture& architecture;
  std::int64_t heads, key_heads;

  RowOrder OrderOf(const std::string& gguf, std::int64_t rows) const {
    const auto is = [&](const char* part) { return gguf.find(part) != std::string::npos; };
    RowOrder order;
    std::int64_t count = 0;
    if (architecture.rows == GgufRows::pairs && (is(".attn_q.") || is(".attn_k.")))
      count = is(".attn_q.") ? heads : key_heads;
    if (architecture.rows == GgufRows::by_matrix && is(".attn_qkv.")) count = heads + 2 * key_heads;
    if (count == 0) return order;
    Check(rows % count == 0 && heads % key_heads == 0, "{}: tensor {}: {} rows do not match {} heads", files.path,
          Quoted(gguf), rows, count);
    return {architecture.rows, heads, key_heads, rows / count};
  }

  // Returns the source of a tensor. `experts` has the tensors of all experts, or a single tensor.
  GgufTensorSource Source(const std::string& gguf, const std::vector<const StoredTensor*>& experts,
                          bool stacked) const {
    const StoredTensor& first = *experts.front();
    GgufTensorSource source;
    source.plan.name = gguf;
    source.plan.type = TypeOf(first, files.path);
    for (std::int64_t axis = 0; axis < first.shape.rank(); ++axis) source.plan.axes.push_back(first.shape[axis]);
    const bool transposed = std::string_view(architecture.model_type) == "gpt2" && first.shape.rank() == 2 &&
                            gguf.starts_with("blk.");  // Conv1D stores [inputs, outputs]
    if (transposed) std::swap(source.plan.axes[0], source.plan.axes[1]);
    if (gguf.ends_with("ffn_gate_inp_shexp.weight") && first.shape.rank() == 2) source.plan.axes = {first.shape[1]};
    for (const StoredTensor* expert : experts)
      Check(expert->shape == first.shape && expert->type == first.type, "{}: tensors {} and {} differ in shape or type",
            files.path, Quoted(first.name), Quoted(expert->name));
    const bool plus_1 = architecture.norm_weights_plus_1 && gguf.ends_with("norm.weight");
    const bool vector = source.plan.axes.size() < 2;
    const std::int64_t rows = vector ? source.plan.RowNumbers() : source.plan.Rows(),
                       columns = source.plan.RowNumbers();
    const RowOrder order = OrderOf(gguf, rows);
    if (stacked) source.plan.axes.insert(source.plan.axes.begin(), std::ssize(experts));
    const GgufType type = source.plan.type;
    const std::int64_t size = InfoOf(type).size;
    const bool exact = gguf.ends_with(".ffn_gate_inp.weight") || gguf.ends_with("rel_b.weight") ||
                       gguf == "token_types.weight";  // llama.cpp adds these to float32
    if (vector || exact) source.plan.type = GgufType::f32;
    if (!stacked && !transposed && !plus_1 && order.rows == GgufRows::same && source.plan.type == type)
      source.bytes = first.bytes;
    source.read = [=](std::int64_t row, float* numbers) {
      const std::byte* const bytes = experts[static_cast<std::size_t>(row / rows)]->bytes.data();
      // The elements of a vector are reordered, and the elements of a column are not contiguous.
      const auto index = [&](std::int64_t i) { return vector ? order.RowAt(i) : i * rows + row; };
      if (!vector && !transposed)
        kernels::Dequantize(type, bytes + order.RowAt(row % rows) * columns * size, columns, numbers);
      else
        for (std::int64_t i = 0; i < columns; ++i) kernels::Dequantize(type, bytes + index(i) * size, 1, numbers + i);
      for (std::int64_t i = 0; plus_1 && i < columns; ++i) numbers[i] += 1;
    };
    return source;
  }
};

GgufTensorSource FactorsSource(GgufFactors factors) {
  GgufTensorSource source;
  source.plan = {factors.name, GgufType::f32, {std::ssize(factors.numbers)}};
  source.read = [numbers = std::move(factors.numbers)](std::int64_t, float* to) { std::ranges::copy(numbers, to); };
  return source;
}

// Throws Error unless every layer has the same tensors as the first layer, and the model has all tensors outside of
// layers.
void CheckComplete(const GgufArchitecture& architecture, const std::vector<GgufTensorSource>& tensors,
                   const JsonView& config, bool tied, const std::string& path) {
  std::set<std::string, std::less<>> names;
  for (const GgufTensorSource& tensor : tensors) names.insert(tensor.plan.name);
  const auto require = [&](const std::string& name) {
    Check(names.contains(name), "{}: there is no tensor that {} becomes in GGUF", path,
          Quoted(CheckpointName(architecture, name)));
  };
  for (const GgufName& tensor : architecture.tensors)
    if (!tied || std::string_view(tensor.gguf) != "output") require(fmt::format("{}.weight", tensor.gguf));
  for (const GgufLayers& of : architecture.layers) {
    const std::string_view prefix = of.gguf;
    const std::int64_t layers =
        prefix == "dec.blk." ? config["num_decoder_layers"].Integer(1) : GgufSize(architecture, config, "block_count");
    const std::string first = fmt::format("{}0.", prefix);
    std::size_t in_layers = 0, of_first = 0;
    for (const std::string& name : names) {
      if (name.ends_with("rel_b.weight")) continue;  // T5's first layer has the positions of all layers
      if (name.starts_with(prefix)) ++in_layers;
      if (!name.starts_with(first)) continue;
      ++of_first;
      for (std::int64_t layer = 1; layer < layers; ++layer)
        require(fmt::format("{}{}.{}", prefix, layer, name.substr(first.size())));
    }
    Check(in_layers == of_first * static_cast<std::size_t>(layers),
          "{}: its {} layers have {} tensors, and the first has {}", path, layers, in_layers, of_first);
  }
}

// Returns true if the file has no tensor with this name, or an equal one. In both cases, the other tensor is used.
bool IsCopy(const Safetensors& weights, std::string_view name, std::string_view of) {
  return !weights.contains(name) ||
         (weights.contains(of) && std::ranges::equal(weights.At(name).bytes, weights.At(of).bytes));
}

// Returns true if the output layer shares the embedding table. In GGUF, T5's states are scaled if there is no other
// output table.
bool IsTied(const JsonView& config, const Safetensors& weights) {
  const JsonView given = config["tie_word_embeddings"];  // of T5: whether states are scaled
  const bool tied = !given.present() || given.Bool(), t5 = config["model_type"].String() == "t5";
  Check(!t5 || !tied || IsCopy(weights, "lm_head.weight", "shared.weight"),
        "{}: lm_head.weight differs from shared.weight, and the states are scaled, which GGUF cannot express",
        weights.path());
  return tied;
}

// Returns true for a tensor that GGUF does not have: a copy of T5's table, positions that are computed, or BERT's
// pooler.
bool IsLeftOut(const Safetensors& weights, std::string_view name) {
  const bool copy = (name == "encoder.embed_tokens.weight" || name == "decoder.embed_tokens.weight") &&
                    IsCopy(weights, name, "shared.weight");
  return copy || name.ends_with("rotary_emb.inv_freq") || name.ends_with("embeddings.position_ids") ||
         name.ends_with("pooler.dense.weight") || name.ends_with("pooler.dense.bias");
}

}  // namespace

const GgufArchitecture& GgufArchitectureFor(const JsonView& config, const Safetensors& weights) {
  const std::string type = config["model_type"].String();
  std::set<std::string_view> known;
  for (const GgufArchitecture& architecture : GgufArchitectures()) {
    if (type == architecture.model_type &&
        (architecture.needs == nullptr || weights.contains(CheckpointName(architecture, architecture.needs))))
      return architecture;
    known.insert(architecture.model_type);
  }
  Fail("{}: {} has no architecture in GGUF; these have: {}", config["model_type"].location(), Quoted(type),
       fmt::join(known, ", "));
}

std::string GgufTensorName(const GgufArchitecture& architecture, std::string_view name) {
  const std::optional<ExportedName> found = ExportedNameOf(architecture, name);
  return found ? found->gguf : "";
}

GgufSource GgufSourceOf(const ModelFolder& files, const Json& complete) {
  const JsonView config(complete, files.config.location());
  const GgufArchitecture& architecture = GgufArchitectureFor(config, files.weights);
  GgufSource source;
  const std::vector<GgufFactors> factors = SetGgufSettings(architecture, config, source.metadata);
  const Exporter exporter = {files, architecture, GgufSize(architecture, config, "attention.head_count"),
                             KeyHeadsOf(architecture, config)};
  const bool tied = IsTied(config, files.weights);
  std::vector<std::string> unknown;
  std::map<std::string, std::map<std::int64_t, const StoredTensor*>> experts;  // by the tensor's name in GGUF
  for (const auto& [name, tensor] : files.weights.tensors()) {
    std::optional<ExportedName> exported = ExportedNameOf(architecture, name);
    // Names in a checkpoint without an output layer have no prefix. Names in a BERT checkpoint with an output layer
    // have a prefix.
    if (!exported) exported = ExportedNameOf(architecture, "model." + name);
    if (!exported && name.starts_with("bert.")) exported = ExportedNameOf(architecture, name.substr(5));
    if (!exported) {
      if (!IsLeftOut(files.weights, name)) unknown.push_back(Quoted(name));
    } else if (!(tied && exported->gguf == "output.weight")) {
      experts[exported->gguf].emplace(exported->expert, &tensor);
    }
  }
  if (!tied && files.weights.contains("shared.weight"))                        // T5 without a scale
    experts["output.weight"].emplace(-1, &files.weights.At("shared.weight"));  // if there is no lm_head.weight
  Check(unknown.empty(), "{}: {} no counterpart in GGUF: {}", files.path,
        unknown.size() == 1 ? "a tensor has" : "tensors have", fmt::join(unknown, ", "));
  for (const auto& [name, numbered] : experts) {
    const bool stacked = numbered.begin()->first >= 0;
    Check(!stacked || numbered.rbegin()->first + 1 == std::ssize(numbered), "{}: {} has experts up to {}, but only {}",
          files.path, Quoted(name), numbered.rbegin()->first, numbered.size());
    std::vector<const StoredTensor*> tensors;
    for (const auto& [expert, tensor] : numbered) tensors.push_back(tensor);
    source.tensors.push_back(exporter.Source(name, tensors, stacked));
  }
  for (const GgufFactors& factor : factors) source.tensors.push_back(FactorsSource(factor));
  source.model = {.architecture = architecture.name,
                  .layers = GgufSize(architecture, config, "block_count"),
                  .heads = exporter.heads,
                  .key_heads = exporter.key_heads,
                  .experts = GgufSize(architecture, config, "expert_count")};
  CheckComplete(architecture, source.tensors, config, tied, files.path);
  return source;
}

GgufSource GgufSourceOf(const Gguf& file) {
  GgufSource source;
  const MappedFile first(file.path());
  for (const GgufEntry& entry : ParseGgufEntries(first.bytes(), file.path()))
    if (!entry.key.starts_with("split.")) source.metadata.SetEntry(entry);
  constexpr const char* alignment = "general.alignment";
  if (file.contains(alignment)) source.alignment = file.Integer(alignment, 8, 1 << 20);
  const std::string architecture = file.Text("general.architecture");
  const auto size = [&](const char* key, std::int64_t least, std::int64_t fallback) {
    const std::string whole = architecture + "." + key;
    const bool integer = file.contains(whole) && std::holds_alternative<std::int64_t>(file.metadata().at(whole));
    return integer ? file.Integer(whole, least, std::int64_t{1} << 31) : fallback;
  };
  source.model = {.architecture = architecture,
                  .layers = size("block_count", 0, 0),
                  .heads = size("attention.head_count", 1, 1),
                  .experts = size("expert_count", 0, 0)};
  source.model.key_heads = size("attention.head_count_kv", 1, source.model.heads);
  for (const GgufTensor& tensor : file.tensors()) {
    GgufTensorSource& to = source.tensors.emplace_back();
    to.plan = {tensor.name, tensor.type, tensor.axes};
    to.bytes = tensor.bytes;
    const std::int64_t bytes = to.plan.RowBytes(), columns = to.plan.RowNumbers();
    to.read = [=](std::int64_t row, float* numbers) {
      kernels::Dequantize(tensor.type, tensor.bytes.data() + row * bytes, columns, numbers);
    };
  }
  return source;
}

}  // namespace headlight
