#include "headlight/kinds/forward_tensors.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {

void CheckInputs(const Safetensors& file, const std::vector<std::string_view>& known) {
  for (const auto& [name, ignored] : file.tensors())
    Check(std::ranges::find(known, name) != known.end(), "{}: {} is not an input; there are {} and {}", file.path(),
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

Padded ReadPadded(const Safetensors& file, std::string_view ids_name, std::string_view mask_name,
                  std::int64_t vocabulary, std::int64_t positions) {
  const Tensor ids = ReadIntegers(file, ids_name);
  const Tensor mask = file.contains(mask_name) ? ReadIntegers(file, mask_name) : Tensor();
  Check(mask.empty() || mask.shape() == ids.shape(), "{}: {} has the shape {} and {} the shape {}: they must be equal",
        file.path(), ids_name, ToString(ids.shape()), mask_name, ToString(mask.shape()));
  Padded padded{ids.shape()[0], ids.shape()[1], {}, {}, {}};
  for (std::int64_t row = 0; row < padded.batch; ++row) {
    std::int64_t begin = 0, end = padded.length;
    if (!mask.empty()) {
      const std::int32_t* first = mask.matrix<std::int32_t>().row(row);
      const std::int32_t* last = first + padded.length;
      Check(std::all_of(first, last, [](std::int32_t value) { return value == 0 || value == 1; }),
            "{}: {}, row {}: must be 0 or 1", file.path(), mask_name, row);
      begin = std::find(first, last, 1) - first;
      end = std::find(first + begin, last, 0) - first;
      Check(begin < end && std::find(first + end, last, 1) == last,
            "{}: {}, row {}: must have one run of 1, with padding only before or after it", file.path(), mask_name,
            row);
    }
    Check(end - begin <= positions, "{}: {}, row {}: {} tokens, and the model reads at most {}", file.path(), ids_name,
          row, end - begin, positions);
    padded.begin.push_back(begin);
    padded.sequences.push_back({static_cast<std::int32_t>(padded.ids.size()), static_cast<std::int32_t>(end - begin)});
    for (std::int64_t column = begin; column < end; ++column) {
      const std::int32_t id = ids.matrix<std::int32_t>().row(row)[column];
      Check(id >= 0 && id < vocabulary, "{}: {}, row {}, column {}: {} is outside the vocabulary of {}", file.path(),
            ids_name, row, column, id, vocabulary);
      padded.ids.push_back(id);
    }
  }
  return padded;
}

Tensor Pad(const Tensor& rows, const Padded& padded) {
  const Tensor result = Tensor::Zeros({padded.batch, padded.length, rows.columns()});
  for (std::int64_t b = 0; b < padded.batch; ++b) {
    const Sequence sequence = padded.sequences[static_cast<std::size_t>(b)];
    const std::int64_t row = b * padded.length + padded.begin[static_cast<std::size_t>(b)];
    for (std::int32_t i = 0; i < sequence.length; ++i)
      std::copy_n(rows.matrix<float>().row(sequence.row(i)), rows.columns(), result.matrix<float>().row(row + i));
  }
  return result;
}

std::vector<std::int32_t> ReadLikeIds(const Safetensors& file, std::string_view name, const Padded& padded) {
  const Tensor all = ReadIntegers(file, name);
  Check(all.shape()[0] == padded.batch && all.shape()[1] == padded.length,
        "{}: {} has the shape {}, and must be [{}, {}]", file.path(), name, ToString(all.shape()), padded.batch,
        padded.length);
  std::vector<std::int32_t> entries;
  for (std::int64_t row = 0; row < padded.batch; ++row) {
    const auto index = static_cast<std::size_t>(row);
    const std::int32_t* const first = all.matrix<std::int32_t>().row(row) + padded.begin[index];
    entries.insert(entries.end(), first, first + padded.sequences[index].length);
  }
  return entries;
}

void NamedTensors::AddAttention(const char* name, const LayerAttention& seen, const Padded& queries,
                                const Padded& keys) {
  const Shape& shape = seen.weights.shape();
  const auto [entry, is_new] = tensors.try_emplace(fmt::format("{}.{}", name, seen.layer));
  if (is_new) entry->second = Tensor::Zeros({queries.batch, shape[1], queries.length, keys.length});
  const auto sequence = static_cast<std::size_t>(seen.sequence);
  for (std::int64_t head = 0; head < shape[1]; ++head)
    for (std::int64_t query = 0; query < shape[2]; ++query) {
      const std::int64_t row = (seen.sequence * shape[1] + head) * queries.length + queries.begin[sequence] + query;
      std::copy_n(seen.weights.matrix<float>().row(head * shape[2] + query), shape[3],
                  entry->second.matrix<float>().row(row) + keys.begin[sequence]);
    }
}

void NamedTensors::AddAttention(const LayerAttention& seen, const Padded& source, const Padded& target) {
  static constexpr const char* kNames[] = {"encoder_attentions", "decoder_attentions", "cross_attentions"};
  AddAttention(kNames[static_cast<int>(seen.kind)], seen, seen.kind == AttentionKind::encoder_self ? source : target,
               seen.kind == AttentionKind::decoder_self ? target : source);
}

}  // namespace headlight
