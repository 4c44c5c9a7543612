// Sentence embeddings: vectors of texts that are near one another where the texts mean the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
  std::int64_t batch_tokens = 512;  // tokens that are encoded at once: activations of more leave the cache
  bool truncate = false;            // cuts the end of a text that is too long for the model; else that is an Error
  std::function<std::string(std::size_t text)> name_of = {};  // a text's in errors; "text 1" unless given
};

struct Embeddings {
  Tensor vectors;                       // [texts, dimension]
  std::vector<std::int64_t> truncated;  // indices of the texts that were cut
};

// Immutable and cheap to copy; every method may be called from many threads at once. A text's vector does not depend on
// what it is embedded with.
class HEADLIGHT_API Embedder {
 public:
  // A folder of any text encoder, plain or of sentence-transformers, whose `modules.json` gives pooling and
  // normalisation; without that file a vector is the mean of the tokens' states. Throws Error naming the file and what
  // is wrong with it or not supported, and where the processor has no instructions for `compute`.
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
