// A decoder's cache: the keys and values of each layer for the tokens that texts have so far, and for the memories that
// cross-attention reads.
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

// Rows that are counted by those who refer to them; without any a row is free and is taken again.
class HEADLIGHT_API CountedRows {
 public:
  std::int32_t Take();  // a row that one refers to
  void Share(std::span<const std::int32_t> rows);
  void Drop(std::span<const std::int32_t> rows);

  std::int32_t used() const { return static_cast<std::int32_t>(references_.size() - free_.size()); }
  std::int32_t size() const { return static_cast<std::int32_t>(references_.size()); }  // the most that were in use

 private:
  std::vector<std::int32_t> references_, free_;
};

// A text is a list of rows, one per token. Texts that begin alike, as beams do, share the rows of their common
// tokens, and no operation moves keys or values. Texts join and leave between passes. A pass (Append) gives every
// active text its next tokens. All of a text's results have the same bits whatever other texts there are, and however
// its tokens are divided into passes.
struct HEADLIGHT_API DecoderCache {
  // `type` is that of the keys and values.
  explicit DecoderCache(kernels::CacheType type = kernels::CacheType::unrounded) : type_(type) {}

  // A text without tokens. `memory`, from AddMemory, is what its cross-attention reads; -1: nothing.
  std::int32_t AddText(std::int32_t memory = -1);
  // The memory of a text without tokens, instead of what it had.
  void SetMemory(std::int32_t text, std::int32_t memory);
  // A text that shares the first `tokens` tokens of another, and its memory.
  std::int32_t CopyText(std::int32_t text, std::int32_t tokens);
  std::int32_t CopyText(std::int32_t text) { return CopyText(text, length(text)); }
  void RemoveText(std::int32_t text);
  // Drops all tokens of the text but the first `tokens`.
  void Shorten(std::int32_t text, std::int32_t tokens);
  std::int32_t length(std::int32_t text) const;

  // Keeps states [tokens, model] until their keys and values are projected, in the first pass of a text that reads
  // them; texts that are given the result share those. It is dropped after RemoveMemory and the last of its texts.
  std::int32_t AddMemory(const Tensor& states);
  void ShareMemory(std::int32_t memory);  // one more RemoveMemory is needed
  void RemoveMemory(std::int32_t memory);

  // The texts of the passes to come, in the order of a pass's sentences. Unless it is called, the sentences of the
  // first pass become texts.
  void Activate(std::vector<std::int32_t> texts);
  const std::vector<std::int32_t>& active() const { return active_; }

  // Begins a pass: takes rows for the next tokens of every active text (`sentences`, packed), which every layer then
  // writes. Returns the position of each text's first of them, or nothing if there are no texts yet; in that case they
  // are made, with the entries of `memory` unless it is null.
  std::vector<std::int32_t> Append(const Sequences& sentences, const Memory* memory = nullptr);

  // Drops the tokens of the last pass, which failed, perhaps before Append. Memories whose states it was to project
  // wait for the next one.
  void Undo();

  // Writes keys and values [new tokens, heads * head_dim] of a layer, in the order of the pass.
  void Write(std::size_t layer, const Tensor& keys, const Tensor& values, std::int32_t heads);
  // Those of all tokens of the active texts, for their queries.
  ops::CachedKeys SelfKeys(std::size_t layer) const;

  // The states of active texts that no layer has projected yet, [tokens, model]; empty if there are none. Every layer
  // writes their keys and values in this pass.
  const Tensor& new_memory() const { return new_memory_; }
  void WriteCross(std::size_t layer, const Tensor& keys, const Tensor& values, std::int32_t heads);
  // Those of the active texts' memories.
  ops::CachedKeys CrossKeys(std::size_t layer) const;

  // Of each active text, where its tokens are among SelfKeys' rows; and the rows of one, by its index in the pass.
  std::span<const Sequence> SelfSequences() const { return keys_; }
  std::span<const std::int32_t> RowsOf(std::size_t active) const;

  bool empty() const { return active_.empty(); }
  std::size_t layers() const { return layers_.size(); }
  void SetLayers(std::size_t layers);
  std::int32_t used() const { return self_rows_.used(); }  // rows of tokens that some text has
  std::int64_t bytes() const;                              // of all keys and values, also of free rows
  std::int64_t token_bytes() const;  // keys and values of one token in all layers; 0 before the first pass

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
    Tensor states;           // until a pass has projected them
    bool projected = false;  // by the last pass
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

  // Of the current pass.
  std::vector<std::int32_t> lengths_before_, new_rows_, new_memory_rows_;
  Tensor new_memory_;
  Sequences keys_, memory_keys_;  // of each active text, where its rows are in key_rows_ and memory_key_rows_
  std::vector<std::int32_t> key_rows_, memory_key_rows_;
};

}  // namespace headlight
