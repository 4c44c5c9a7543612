#include "headlight/nn/decoder_cache.h"

#include <algorithm>
#include <utility>

namespace headlight {

std::vector<std::int32_t> DecoderCache::Append(const Sequences& sentences) {
  std::vector<std::int32_t> first_positions = lengths();
  if (rows.empty()) rows.resize(sentences.size());
  Ensure(rows.size() == sentences.size(), "a cache of {} hypotheses is given tokens of {}", rows.size(),
         sentences.size());
  std::int32_t tokens = 0;
  for (const Sequence& sentence : sentences) tokens = std::max(tokens, sentence.end());
  if (used + tokens > capacity) {
    DropUnusedRows();
    capacity = std::max(capacity, (used + tokens) * 3 / 2);
  }
  first_new = used;
  used += tokens;
  keys.clear();
  key_rows.clear();
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    for (std::int32_t token = 0; token < sentences[i].length; ++token)
      rows[i].push_back(first_new + sentences[i].begin + token);
    keys.push_back({static_cast<std::int32_t>(key_rows.size()), static_cast<std::int32_t>(rows[i].size())});
    key_rows.insert(key_rows.end(), rows[i].begin(), rows[i].end());
  }
  return first_positions;
}

void DecoderCache::Select(std::span<const std::int32_t> from) {
  std::vector<std::vector<std::int32_t>> selected;
  Sequences selected_memory;
  for (const std::int32_t hypothesis : from) {
    selected.push_back(rows[static_cast<std::size_t>(hypothesis)]);
    if (!memory.empty()) selected_memory.push_back(memory[static_cast<std::size_t>(hypothesis)]);
  }
  rows = std::move(selected);
  memory = std::move(selected_memory);
}

void DecoderCache::Forget(std::size_t tokens) {
  for (auto& of_hypothesis : rows) of_hypothesis.resize(of_hypothesis.size() - tokens);
}

void DecoderCache::DropUnusedRows() {
  std::vector<std::int32_t> place(static_cast<std::size_t>(used),
                                  -1);  // the new index of a row, never a larger one; -1: dropped
  for (const auto& tokens : rows)
    for (const std::int32_t row : tokens) place[static_cast<std::size_t>(row)] = 0;
  used = 0;
  for (std::int32_t& row : place)
    if (row == 0) row = used++;

  for (const Layer& layer : layers) {
    if (layer.self.empty()) continue;
    Dispatch(layer.self.dtype(), [&]<typename T>(T) {
      const Matrix<T> self = layer.self.matrix<T>();
      for (std::size_t row = 0; row < place.size(); ++row)
        if (place[row] >= 0 && place[row] != static_cast<std::int32_t>(row))
          std::copy_n(self.row(static_cast<std::int64_t>(row)), self.columns, self.row(place[row]));
    });
  }
  for (auto& tokens : rows)
    for (std::int32_t& row : tokens) row = place[static_cast<std::size_t>(row)];
}

std::vector<std::int32_t> DecoderCache::lengths() const {
  std::vector<std::int32_t> lengths;
  for (const auto& tokens : rows) lengths.push_back(static_cast<std::int32_t>(tokens.size()));
  return lengths;
}

const Tensor& DecoderCache::SelfRows(std::size_t layer, std::int64_t width, DType dtype) {
  if (layers.size() <= layer) layers.resize(layer + 1);
  Tensor& self = layers[layer].self;
  const std::int64_t held = self.empty() ? 0 : self.shape()[0];
  if (held < capacity) {
    const Tensor larger = Tensor::Empty({capacity, width}, dtype);
    if (held > 0) larger.ViewRows(0, held).CopyFrom(self);
    self = larger;
  }
  return self;
}

}  // namespace headlight
