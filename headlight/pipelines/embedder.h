// Sentence embeddings: vectors that are close if the texts have a similar meaning.
//   const Embedder embedder = Embedder::Load("all-MiniLM-L6-v2");
//   std::vector<float> vector = embedder.Embed("A dog runs.");
//   Tensor vectors = embedder.Embed({"A dog runs.", "A cat sleeps."}).vectors;  // [2, dimension]
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/pipelines/embedding.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// Computes the vectors of texts. Immutable and cheap to copy. All methods are thread-safe. A text's vector does not
/// depend on the other texts of a call.
class HEADLIGHT_API Embedder {
 public:
  /// Loads a text encoder from a folder, with or without the files of sentence-transformers, or from a GGUF file of a
  /// BERT. `modules.json` specifies the pooling and the modules after it. Without that file, a vector is the mean of
  /// the hidden states of all tokens. Throws Error that names the file and the problem if a file is invalid or not
  /// supported. Throws Error if the processor does not support the compute type.
  static Embedder Load(const std::string& folder, const LoadOptions& options = {});

  /// Returns the vectors of the texts, [texts, dimension], or without pooling [residues of all texts, dimension].
  /// Throws Error that names the text if it is not UTF-8, has no tokens, or is too long and `truncate` is not set.
  /// Throws Error for an unknown prompt name. EmbedPooling::residues and EmbedPooling::none require a tokenizer with
  /// one token per residue, such as the tokenizer of an ESM.
  Embeddings Embed(std::span<const std::string> texts, const EmbedOptions& options = {}) const;
  Embeddings Embed(std::initializer_list<std::string> texts, const EmbedOptions& options = {}) const {
    return Embed(std::span(texts.begin(), texts.size()), options);
  }

  /// Returns the vector of one text, [dimension].
  std::vector<float> Embed(std::string_view text, const EmbedOptions& options = {}) const;

  std::int64_t dimension() const;  ///< length of a vector
  Similarity similarity() const;   ///< cosine, unless the folder names another similarity
  std::int64_t longest() const;    ///< maximum number of tokens of a text, including [CLS] and [SEP]
  bool reads_proteins() const;     ///< true for an ESM, whose texts are protein sequences

 private:
  struct State;
  explicit Embedder(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
