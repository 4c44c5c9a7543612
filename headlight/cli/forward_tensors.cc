#include "headlight/cli/forward_tensors.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {

void CheckInputs(const Safetensors& file, const std::vector<std::string_view>& known) {
  for (const auto& [name, ignored] : file.tensors())
    Check(std::ranges::find(known, name) != known.end(), "{}: {} is no input; there are {} and {}", file.path(),
          Quoted(name), fmt::join(known.begin(), known.end() - 1, ", "), known.back());
}

Tensor ReadIntegers(const Safetensors& file, std::string_view name) {
  const StoredTensor& stored = file.At(name);
  Check(stored.type == StoredType::i64 || stored.type == StoredType::i32 || stored.type == StoredType::boolean,
        "{}: {} is {}, and must be I64, I32 or BOOL", file.path(), name, Name(stored.type));
  Check(stored.shape.rank() == 2 && stored.shape.elements() > 0,
        "{}: {} has the shape {}, and must be [batch, length] with neither of them 0", file.path(), name,
        ToString(stored.shape));
  return file.Read(name, DType::int32);
}

void NamedTensors::AddAttention(const char* name, const LayerAttention& seen, const Padded& queries,
                                const Padded& keys) {
  const Shape& shape = seen.weights.shape();
  const auto [entry, is_new] = tensors.try_emplace(fmt::format("{}.{}", name, seen.layer));
  if (is_new) entry->second = Tensor::Zeros({queries.batch, shape[1], queries.length, keys.length});
  const auto sentence = static_cast<std::size_t>(seen.sentence);
  for (std::int64_t head = 0; head < shape[1]; ++head)
    for (std::int64_t query = 0; query < shape[2]; ++query) {
      const std::int64_t row = (seen.sentence * shape[1] + head) * queries.length + queries.begin[sentence] + query;
      std::copy_n(seen.weights.matrix<float>().row(head * shape[2] + query), shape[3],
                  entry->second.matrix<float>().row(row) + keys.begin[sentence]);
    }
}

}  // namespace headlight
