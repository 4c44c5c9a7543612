// Texts as vectors, which lie near one another where the texts mean the same.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

struct EmbedOptions {
  std::int64_t batch_tokens = 512;  // tokens that are encoded at once: what a layer makes of more leaves the cache
  bool truncate = false;            // a text of more tokens than the model reads loses its end; else it is refused
};

struct Embeddings {
  Tensor vectors;                       // [texts, dimension]
  std::vector<std::int64_t> truncated;  // the texts that lost their end, counted from 0
};

// Immutable and cheap to copy; every method may be called from many threads at once. A text's vector does not depend on
// what it is embedded with.
class HEADLIGHT_API Embedder {
 public:
  // A folder of any encoder of texts, or one of sentence-transformers with such a one in it, whose pooling and
  // normalisation are read from its `modules.json`; without that a vector is the mean of the tokens'. Throws Error
  // naming the file and what is wrong with it or not supported, and where the processor does not have the type to
  // compute in.
  static Embedder Load(const std::string& folder, std::optional<Compute> compute = {});

  // Throws Error where a text is not UTF-8, or too long and not to be truncated.
  Embeddings Embed(std::span<const std::string> texts, const EmbedOptions& options = {}) const;

  std::int64_t dimension() const;
  std::int64_t longest() const;  // tokens of a text, [CLS] and [SEP] included

 private:
  struct State;
  explicit Embedder(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
