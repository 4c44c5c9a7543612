#include "headlight/nn/decoder_cache.h"

#include <algorithm>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/ops/embedding.h"

namespace headlight {
namespace {

// Returns the index of a free entry. Appends an entry if there is none.
template <typename Entries, typename IsFree>
std::int32_t FreeEntry(Entries& entries, const IsFree& is_free) {
  const auto found = std::ranges::find_if(entries, is_free);
  if (found == entries.end()) {
    entries.emplace_back();
    return static_cast<std::int32_t>(entries.size()) - 1;
  }
  return static_cast<std::int32_t>(found - entries.begin());
}

}  // namespace

std::int32_t CountedRows::Take() {
  if (free_.empty()) {
    references_.push_back(1);
    return size() - 1;
  }
  const std::int32_t row = free_.back();
  free_.pop_back();
  references_[static_cast<std::size_t>(row)] = 1;
  return row;
}

void CountedRows::Share(std::span<const std::int32_t> rows) {
  for (const std::int32_t row : rows) ++references_[static_cast<std::size_t>(row)];
}

void CountedRows::Drop(std::span<const std::int32_t> rows) {
  for (const std::int32_t row : rows)
    if (--references_[static_cast<std::size_t>(row)] == 0) free_.push_back(row);
}

DecoderCache::Text& DecoderCache::At(std::int32_t text) {
  Ensure(text >= 0 && text < std::ssize(texts_) && texts_[static_cast<std::size_t>(text)].used,
         "the cache has no text {}", text);
  return texts_[static_cast<std::size_t>(text)];
}

std::int32_t DecoderCache::length(std::int32_t text) const {
  return static_cast<std::int32_t>(texts_.at(static_cast<std::size_t>(text)).rows.size());
}

std::int32_t DecoderCache::AddText(std::int32_t memory) {
  const std::int32_t text = FreeEntry(texts_, [](const Text& entry) { return !entry.used; });
  texts_[static_cast<std::size_t>(text)] = {.used = true, .memory = memory, .rows = {}};
  if (memory >= 0) ++memories_[static_cast<std::size_t>(memory)].references;
  return text;
}

void DecoderCache::SetMemory(std::int32_t text, std::int32_t memory) {
  Ensure(length(text) == 0, "text {} of the cache has tokens that read another memory", text);
  ++memories_[static_cast<std::size_t>(memory)].references;
  if (const std::int32_t before = std::exchange(At(text).memory, memory); before >= 0) DropMemory(before);
}

std::int32_t DecoderCache::CopyText(std::int32_t text, std::int32_t tokens) {
  Ensure(tokens >= 0 && tokens <= length(text), "{} tokens of a text that has {}", tokens, length(text));
  const std::int32_t copy = AddText(At(text).memory);
  const std::vector<std::int32_t>& rows = At(text).rows;
  At(copy).rows.assign(rows.begin(), rows.begin() + tokens);
  self_rows_.Share(At(copy).rows);
  return copy;
}

void DecoderCache::RemoveText(std::int32_t text) {
  Text& removed = At(text);
  self_rows_.Drop(removed.rows);
  if (removed.memory >= 0) DropMemory(removed.memory);
  removed = {};
}

void DecoderCache::Shorten(std::int32_t text, std::int32_t tokens) {
  Text& shortened = At(text);
  Ensure(tokens >= 0 && tokens <= std::ssize(shortened.rows), "{} tokens of a text that has {}", tokens,
         shortened.rows.size());
  self_rows_.Drop(std::span(shortened.rows).subspan(static_cast<std::size_t>(tokens)));
  shortened.rows.resize(static_cast<std::size_t>(tokens));
}

std::int32_t DecoderCache::AddMemory(const Tensor& states) {
  const std::int32_t memory = FreeEntry(memories_, [](const StoredMemory& entry) { return entry.references == 0; });
  StoredMemory& added = memories_[static_cast<std::size_t>(memory)];
  added = {.references = 1, .rows = {}, .states = states};
  for (std::int64_t token = 0; token < states.rows(); ++token) added.rows.push_back(cross_rows_.Take());
  return memory;
}

void DecoderCache::ShareMemory(std::int32_t memory) { ++memories_[static_cast<std::size_t>(memory)].references; }

void DecoderCache::RemoveMemory(std::int32_t memory) { DropMemory(memory); }

void DecoderCache::DropMemory(std::int32_t memory) {
  StoredMemory& stored = memories_[static_cast<std::size_t>(memory)];
  if (--stored.references > 0) return;
  cross_rows_.Drop(stored.rows);
  stored = {};
}

std::vector<std::int32_t> DecoderCache::Append(const Sequences& sequences, const Memory* memory) {
  std::vector<std::int32_t> first_positions;
  if (active_.empty()) {
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      if (memory == nullptr) {
        active_.push_back(AddText());
        continue;
      }
      const Sequence& entry = memory->sequences[i];
      std::vector<std::int32_t> rows;
      for (std::int32_t row = 0; row < entry.length; ++row) rows.push_back(entry.row(row));
      const std::int32_t added = AddMemory(ops::Embedding(memory->rows, rows));
      active_.push_back(AddText(added));
      RemoveMemory(added);
    }
  } else {
    for (const std::int32_t text : active_) first_positions.push_back(length(text));
  }
  RememberLengths();
  Ensure(active_.size() == sequences.size(), "a pass of {} texts is given tokens of {}", active_.size(),
         sequences.size());

  std::int32_t tokens = 0;
  for (const Sequence& sequence : sequences) tokens = std::max(tokens, sequence.end());
  new_rows_.assign(static_cast<std::size_t>(tokens), -1);
  keys_.clear();
  key_rows_.clear();
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    std::vector<std::int32_t>& rows = At(active_[i]).rows;
    for (std::int32_t token = 0; token < sequences[i].length; ++token) {
      rows.push_back(self_rows_.Take());
      new_rows_[static_cast<std::size_t>(sequences[i].row(token))] = rows.back();
    }
    keys_.push_back({static_cast<std::int32_t>(key_rows_.size()), static_cast<std::int32_t>(rows.size())});
    key_rows_.insert(key_rows_.end(), rows.begin(), rows.end());
  }
  ProjectMemories();
  return first_positions;
}

void DecoderCache::Activate(std::vector<std::int32_t> texts) {
  active_ = std::move(texts);
  RememberLengths();
}

void DecoderCache::RememberLengths() {
  lengths_before_.clear();
  for (const std::int32_t text : active_) lengths_before_.push_back(length(text));
}

void DecoderCache::Undo() {
  for (std::size_t i = 0; i < active_.size(); ++i) Shorten(active_[i], lengths_before_[i]);
  for (StoredMemory& memory : memories_)
    if (!memory.states.empty()) memory.projected = false;
}

// Collects the unprojected memory states of active texts, and lists the keys of their memories. Texts that share a
// memory share one entry, so that attention processes them together.
void DecoderCache::ProjectMemories() {
  new_memory_rows_.clear();
  new_memory_ = {};
  std::vector<StoredMemory*> projected;
  std::int64_t tokens = 0;
  for (StoredMemory& memory : memories_)
    if (memory.projected) memory.states = {};
  for (const std::int32_t text : active_) {
    if (At(text).memory < 0) continue;
    StoredMemory& memory = memories_[static_cast<std::size_t>(At(text).memory)];
    if (memory.states.empty() || memory.projected) continue;
    memory.projected = true;
    projected.push_back(&memory);
    tokens += memory.states.rows();
  }
  if (projected.size() == 1) {
    new_memory_ = projected[0]->states;
  } else if (!projected.empty()) {
    new_memory_ = Tensor::Empty({tokens, projected[0]->states.columns()}, projected[0]->states.dtype());
    std::int64_t row = 0;
    for (const StoredMemory* memory : projected) {
      new_memory_.ViewRows(row, memory->states.rows()).CopyFrom(memory->states);
      row += memory->states.rows();
    }
  }
  for (const StoredMemory* memory : projected)
    new_memory_rows_.insert(new_memory_rows_.end(), memory->rows.begin(), memory->rows.end());

  memory_keys_.clear();
  memory_key_rows_.clear();
  std::vector<std::int32_t> begins(memories_.size(), -1);
  for (const std::int32_t text : active_) {
    const std::int32_t index = At(text).memory;
    if (index < 0) return;
    const std::vector<std::int32_t>& rows = memories_[static_cast<std::size_t>(index)].rows;
    std::int32_t& begin = begins[static_cast<std::size_t>(index)];
    if (begin < 0) {
      begin = static_cast<std::int32_t>(memory_key_rows_.size());
      memory_key_rows_.insert(memory_key_rows_.end(), rows.begin(), rows.end());
    }
    memory_keys_.push_back({begin, static_cast<std::int32_t>(rows.size())});
  }
}

void DecoderCache::SetLayers(std::size_t layers) {
  while (layers_.size() < layers) layers_.emplace_back(type_);
}

DecoderCache::Layer& DecoderCache::LayerAt(std::size_t layer) {
  SetLayers(layer + 1);
  return layers_[layer];
}

void DecoderCache::Write(std::size_t layer, const Tensor& keys, const Tensor& values, std::int32_t heads) {
  Layer& to = LayerAt(layer);
  to.self_keys.Write(new_rows_, self_rows_.size(), keys, heads);
  to.self_values.Write(new_rows_, self_rows_.size(), values, heads);
}

void DecoderCache::WriteCross(std::size_t layer, const Tensor& keys, const Tensor& values, std::int32_t heads) {
  Layer& to = LayerAt(layer);
  to.cross_keys.Write(new_memory_rows_, cross_rows_.size(), keys, heads);
  to.cross_values.Write(new_memory_rows_, cross_rows_.size(), values, heads);
}

ops::CachedKeys DecoderCache::SelfKeys(std::size_t layer) const {
  const Layer& from = layers_.at(layer);
  return {&from.self_keys, &from.self_values, keys_, key_rows_};
}

ops::CachedKeys DecoderCache::CrossKeys(std::size_t layer) const {
  const Layer& from = layers_.at(layer);
  return {&from.cross_keys, &from.cross_values, memory_keys_, memory_key_rows_};
}

std::span<const std::int32_t> DecoderCache::RowsOf(std::size_t active) const {
  const Sequence& keys = keys_.at(active);
  return std::span(key_rows_).subspan(static_cast<std::size_t>(keys.begin), static_cast<std::size_t>(keys.length));
}

std::int64_t DecoderCache::bytes() const {
  std::int64_t bytes = 0;
  for (const Layer& layer : layers_)
    for (const ops::CacheBlocks* blocks :
         {&layer.self_keys, &layer.self_values, &layer.cross_keys, &layer.cross_values})
      bytes += blocks->bytes();
  return bytes;
}

std::int64_t DecoderCache::token_bytes() const {
  std::int64_t bytes = 0;
  for (const Layer& layer : layers_) bytes += layer.self_keys.row_bytes() + layer.self_values.row_bytes();
  return bytes;
}

}  // namespace headlight
