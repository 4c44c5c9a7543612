// Sentence embeddings: vectors of texts that are near one another where the texts mean the same.
//   const Embedder embedder = Embedder::Load("all-MiniLM-L6-v2");
//   std::vector<float> vector = embedder.Embed("A dog runs.");
//   Tensor vectors = embedder.Embed({"A dog runs.", "A cat sleeps."}).vectors;  // [2, dimension]
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

// The purpose of a text, which chooses among the prompts of sentence-transformers. A query has the prompt "query", and
// a document the first of "document", "passage" and "corpus". Otherwise the default prompt is used.
enum class EmbedAs { text, query, document };

// How sentence-transformers compares two vectors. The larger number is the nearer: distances are negative.
enum class Similarity { cosine, dot, euclidean, manhattan };
HEADLIGHT_API const char* Name(Similarity similarity);
// The similarity of two vectors of the same length. The cosine with a vector of zeros is 0.
HEADLIGHT_API double Compare(Similarity similarity, std::span<const float> a, std::span<const float> b);
// How the vectors of a text's tokens are pooled.
enum class EmbedPooling {
  folder,    // as the folder says, special tokens included
  residues,  // the mean of a protein's residues, without special tokens, as the esm repository's `mean`
  none,      // no pooling: a vector of each residue of a protein
};

struct EmbedOptions {
  std::int64_t batch_tokens = 512;  // tokens that are encoded at once, at least 1: activations of more leave the cache
  bool truncate = false;            // cuts the end of a text that is too long for the model; else that is an Error
  EmbedPooling pooling = EmbedPooling::folder;
  std::function<std::string(std::size_t text)> name_of = {};  // a text's in errors; "text 1" unless given
  EmbedAs purpose = EmbedAs::text;
  std::optional<std::string> prompt_name = {};  // of the prompt in the place of the purpose's
};

struct Embeddings {
  Tensor vectors;                           // [texts, dimension]; without pooling [residues of all texts, dimension]
  std::vector<std::int64_t> truncated;      // indices of the texts that were cut
  std::vector<std::int64_t> residues = {};  // without pooling: of each text, how many vectors are its own
};

// Immutable and cheap to copy; every method may be called from many threads at once. A text's vector does not depend on
// what it is embedded with.
class HEADLIGHT_API Embedder {
 public:
  // A folder of any text encoder, plain or of sentence-transformers, whose `modules.json` gives the pooling and what
  // follows; without that file a vector is the mean of the tokens' states. Throws Error naming the file and what
  // is wrong with it or not supported, and where the processor has no instructions for `compute`.
  static Embedder Load(const std::string& folder, const LoadOptions& options = {});

  // Throws Error naming the text where one is not UTF-8, has no tokens, or is too long and not to be truncated, for a
  // name of a prompt that the model does not have, and with another pooling than the folder's where a residue's letter
  // is not a token of its own, as ESM's are.
  Embeddings Embed(std::span<const std::string> texts, const EmbedOptions& options = {}) const;
  Embeddings Embed(std::initializer_list<std::string> texts, const EmbedOptions& options = {}) const {
    return Embed(std::span(texts.begin(), texts.size()), options);
  }

  // The vector of one text, [dimension].
  std::vector<float> Embed(std::string_view text, const EmbedOptions& options = {}) const;

  std::int64_t dimension() const;  // numbers of a vector
  Similarity similarity() const;   // cosine, unless the folder names another
  std::int64_t longest() const;    // tokens of a text, [CLS] and [SEP] included
  bool reads_proteins() const;     // an ESM, whose texts are sequences of proteins

 private:
  struct State;
  explicit Embedder(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
