#include "headlight/io/gguf_model.h"

#include <fmt/format.h>

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/gguf.h"
#include "headlight/io/gguf_architectures.h"
#include "headlight/io/gguf_config.h"

namespace headlight {
namespace {

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

// The memory of the tensors: the mapped file, and the tensors with other values than in the file.
struct Memory {
  explicit Memory(const std::string& path) : file(path) {}
  Gguf file;
  std::deque<std::vector<std::byte>> own;
};

using SourceRow = std::function<std::int64_t(std::int64_t row)>;

// Reorders the rows of each head: row 2 i + j of rotary pair i becomes row j * half + i.
SourceRow Separated(const GgufTensor& tensor, std::int64_t heads, const std::string& path) {
  const std::int64_t rows = tensor.axes[0], of_head = rows / heads, half = of_head / 2;
  Check(rows == heads * half * 2, "{}: tensor {}: {} rows do not match {} heads with an even size", path,
        Quoted(tensor.name), rows, heads);
  return [=](std::int64_t row) { return row / of_head * of_head + 2 * (row % of_head % half) + row % of_head / half; };
}

// Reorders all queries, all keys and all values into groups. Each group has its queries, one key and one value.
SourceRow Grouped(const GgufTensor& tensor, std::int64_t heads, std::int64_t key_heads, const std::string& path) {
  const std::int64_t rows = tensor.axes[0], all = heads + 2 * key_heads, of_head = rows / all;
  Check(rows == all * of_head && heads % key_heads == 0,
        "{}: tensor {}: {} rows do not match {} heads and {} key heads", path, Quoted(tensor.name), rows, heads,
        key_heads);
  const std::int64_t queries = heads / key_heads;  // query heads per group
  return [=](std::int64_t row) {
    const std::int64_t head = row / of_head, group = head / (queries + 2), member = head % (queries + 2);
    const std::int64_t source = member < queries    ? group * queries + member
                                : member == queries ? heads + group
                                                    : heads + key_heads + group;
    return source * of_head + row % of_head;
  };
}

std::span<const std::byte> LessOne(const GgufTensor& tensor, Memory& memory) {
  std::vector<float> numbers = GgufNumbers(tensor);
  for (float& number : numbers) number -= 1;
  const auto bytes = std::as_bytes(std::span(numbers));
  return memory.own.emplace_back(bytes.begin(), bytes.end());
}

// Adds the matrix of each expert of a layer. In the file, they are stacked in one tensor.
void AddExperts(const StoredTensor& stacked, std::int64_t experts, const std::string& location,
                std::vector<StoredTensor>& tensors) {
  const std::size_t star = stacked.name.find('*');
  Check(stacked.shape.rank() == 3 && stacked.shape[0] == experts, "{}: {} is not the shape of {} experts", location,
        ToString(stacked.shape), experts);
  const std::size_t size = stacked.bytes.size() / static_cast<std::size_t>(experts);
  for (std::int64_t expert = 0; expert < experts; ++expert) {
    StoredTensor one = stacked;
    one.name.replace(star, 1, std::to_string(expert));
    one.shape = {stacked.shape[1], stacked.shape[2]};
    one.bytes = stacked.bytes.subspan(static_cast<std::size_t>(expert) * size, size);
    tensors.push_back(std::move(one));
  }
}

}  // namespace

GgufModel OpenGgufModel(const std::string& path) {
  const auto memory = std::make_shared<Memory>(path);
  const Gguf& file = memory->file;
  const GgufArchitecture& architecture = GgufArchitectureOf(file);
  JsonView config(GgufConfig(file, architecture), path);
  const auto size = [&](const std::string& key, std::int64_t fallback) {
    const std::string whole = std::string(architecture.name) + "." + key;
    return file.contains(whole) ? file.Integer(whole, 0, std::int64_t{1} << 31) : fallback;
  };
  const std::int64_t heads = size("attention.head_count", 1), key_heads = size("attention.head_count_kv", heads),
                     experts = size("expert_count", 0);
  std::vector<StoredTensor> tensors;
  for (const GgufTensor& tensor : file.tensors()) {
    if (tensor.name == kRopeFactors || tensor.name == kShortFactors || tensor.name == kLongFactors) continue;
    StoredTensor stored = {CheckpointName(architecture, tensor.name), StoredTypeOf(tensor.type), Shape(tensor.axes),
                           tensor.bytes};
    stored.block = tensor.type;
    const auto is = [&](const char* part) { return tensor.name.find(part) != std::string::npos; };
    if (!tensor.axes.empty() && architecture.rows == GgufRows::pairs && (is(".attn_q.") || is(".attn_k.")))
      stored.source_row = Separated(tensor, is(".attn_q.") ? heads : key_heads, path);
    if (!tensor.axes.empty() && architecture.rows == GgufRows::by_matrix && is(".attn_qkv."))
      stored.source_row = Grouped(tensor, heads, key_heads, path);
    if (architecture.norm_weights_plus_1 && stored.name.ends_with("norm.weight")) {
      stored.bytes = LessOne(tensor, *memory);
      stored.type = StoredType::f32;
    }
    if (stored.name.ends_with("shared_expert_gate.weight") && stored.shape.rank() == 1)
      stored.shape = {1, stored.shape[0]};
    if (stored.name.find('*') != std::string::npos)
      AddExperts(stored, experts, fmt::format("{}: tensor {}", path, Quoted(tensor.name)), tensors);
    else
      tensors.push_back(std::move(stored));
  }
  return {std::move(config), Safetensors::Of(path, std::move(tensors), memory)};
}

}  // namespace headlight
