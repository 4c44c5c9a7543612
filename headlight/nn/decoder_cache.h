// A decoder's cache: the keys and values of each layer, for the tokens of each text and for the memories that
// cross-attention attends to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/nn/memory.h"
#include "headlight/ops/attention.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// Reference-counted rows. A row without references is free and is reused.
class HEADLIGHT_API CountedRows {
 public:
  std::int32_t Take();  ///< returns a row with one reference
  void Share(std::span<const std::int32_t> rows);
  void Drop(std::span<const std::int32_t> rows);

  std::int32_t used() const { return static_cast<std::int32_t>(references_.size() - free_.size()); }
  /// Returns the peak number of rows in use.
  std::int32_t size() const { return static_cast<std::int32_t>(references_.size()); }

 private:
  std::vector<std::int32_t> references_, free_;
};

/// A cache in which each text is a list of rows, one per token. Texts with a common prefix, such as beams, share the
/// rows of the prefix. No operation moves keys or values. Texts join and leave between passes. A pass (Append) adds the
/// next tokens of every active text. The bits of a text's results do not depend on other texts or on the division of
/// its tokens into passes.
struct HEADLIGHT_API DecoderCache {
  /// `type` is the storage type of keys and values.
  explicit DecoderCache(kernels::CacheType type = kernels::CacheType::unrounded) : type_(type) {}

  /// Adds a text without tokens and returns its id. Its cross-attention attends to `memory`, an id from AddMemory, or
  /// to nothing if `memory` is -1.
  std::int32_t AddText(std::int32_t memory = -1);
  /// Replaces the memory of a text that has no tokens.
  void SetMemory(std::int32_t text, std::int32_t memory);
  /// Adds a text that shares the memory and the first `tokens` tokens of another text.
  std::int32_t CopyText(std::int32_t text, std::int32_t tokens);
  std::int32_t CopyText(std::int32_t text) { return CopyText(text, length(text)); }
  void RemoveText(std::int32_t text);
  /// Removes all tokens of the text after the first `tokens`.
  void Shorten(std::int32_t text, std::int32_t tokens);
  std::int32_t length(std::int32_t text) const;

  /// Adds a memory [tokens, model] and returns its id. The first pass of a text with this memory projects the states to
  /// keys and values, which all texts with this memory share. The memory is freed once RemoveMemory has been called and
  /// the last text with this memory is removed.
  std::int32_t AddMemory(const Tensor& states);
  void ShareMemory(std::int32_t memory);  ///< requires one more call of RemoveMemory
  void RemoveMemory(std::int32_t memory);

  /// Selects the texts of the next passes, in the order of a pass's sequences. If Activate is never called, the first
  /// pass creates one text per sequence.
  void Activate(std::vector<std::int32_t> texts);
  const std::vector<std::int32_t>& active() const { return active_; }

  /// Begins a pass: allocates rows for the next tokens of every active text (`sequences`, packed). Every layer then
  /// writes these rows. Returns the position of each text's first new token. If there are no texts yet, creates one per
  /// sequence, with the entries of `memory` unless it is null, and returns an empty vector.
  std::vector<std::int32_t> Append(const Sequences& sequences, const Memory* memory = nullptr);

  /// Removes the tokens of the last pass after it failed, even if it failed before Append. The next pass projects the
  /// memories that the failed pass should have projected.
  void Undo();

  /// Writes the keys and values [new tokens, heads * head_dim] of a layer, in the token order of the pass.
  void Write(std::size_t layer, const Tensor& keys, const Tensor& values, std::int32_t heads);
  /// Returns the keys and values of all tokens of the active texts.
  ops::CachedKeys SelfKeys(std::size_t layer) const;

  /// Returns the encoder states of new texts, [tokens, model], or an empty tensor if there are none. Each layer must
  /// project them in this pass and store the keys and values with WriteCross.
  const Tensor& new_memory() const { return new_memory_; }
  void WriteCross(std::size_t layer, const Tensor& keys, const Tensor& values, std::int32_t heads);
  /// Returns the keys and values of the active texts' memories.
  ops::CachedKeys CrossKeys(std::size_t layer) const;

  /// SelfSequences returns the range of each active text in the rows of SelfKeys. RowsOf returns the rows of the text
  /// with the index `active` in the pass.
  std::span<const Sequence> SelfSequences() const { return keys_; }
  std::span<const std::int32_t> RowsOf(std::size_t active) const;

  bool empty() const { return active_.empty(); }
  std::size_t layers() const { return layers_.size(); }
  void SetLayers(std::size_t layers);
  std::int32_t used() const { return self_rows_.used(); }  ///< number of rows whose tokens belong to a text
  std::int64_t bytes() const;                              ///< size of all keys and values, including free rows
  std::int64_t token_bytes() const;  ///< size of the keys and values of one token; 0 before the first pass

 private:
  struct Layer {
    explicit Layer(kernels::CacheType type)
        : self_keys(type), self_values(type), cross_keys(type), cross_values(type) {}
    ops::CacheBlocks self_keys, self_values, cross_keys, cross_values;
  };
  struct Text {
    bool used = false;
    std::int32_t memory = -1;
    std::vector<std::int32_t> rows;
  };
  struct StoredMemory {
    std::int32_t references = 0;
    std::vector<std::int32_t> rows;
    Tensor states;           ///< kept until a pass has projected them
    bool projected = false;  ///< true if the last pass projected the memory
  };

  Layer& LayerAt(std::size_t layer);
  Text& At(std::int32_t text);
  void DropMemory(std::int32_t memory);
  void ProjectMemories();
  void RememberLengths();

  kernels::CacheType type_;
  std::vector<Layer> layers_;
  CountedRows self_rows_, cross_rows_;
  std::vector<Text> texts_;
  std::vector<StoredMemory> memories_;
  std::vector<std::int32_t> active_;

  // State of the current pass.
  std::vector<std::int32_t> lengths_before_, new_rows_, new_memory_rows_;
  Tensor new_memory_;
  Sequences keys_, memory_keys_;  // ranges of each active text in key_rows_ and memory_key_rows_
  std::vector<std::int32_t> key_rows_, memory_key_rows_;
};

}  // namespace headlight
