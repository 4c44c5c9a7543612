// The vectors of texts, the options by which they are made, and how they are compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// The purpose of a text, which chooses among the prompts of sentence-transformers. A query has the prompt "query", and
/// a document the first of "document", "passage" and "corpus". Otherwise the default prompt is used.
enum class EmbedAs { text, query, document };

/// How sentence-transformers compares two vectors. The larger number is the nearer: distances are negative.
enum class Similarity { cosine, dot, euclidean, manhattan };
HEADLIGHT_API const char* Name(Similarity similarity);
/// The similarity of two vectors of the same length. The cosine with a vector of zeros is 0.
HEADLIGHT_API double Compare(Similarity similarity, std::span<const float> a, std::span<const float> b);
/// How the vectors of a text's tokens are pooled.
enum class EmbedPooling {
  folder,    ///< as the folder says, special tokens included
  residues,  ///< the mean of a protein's residues, without special tokens, as the esm repository's `mean`
  none,      ///< no pooling: a vector of each residue of a protein
};

struct EmbedOptions {
  std::int64_t batch_tokens =
      512;                ///< tokens that are encoded at once, at least 1: activations of more leave the cache
  bool truncate = false;  ///< cuts the end of a text that is too long for the model; else that is an Error
  EmbedPooling pooling = EmbedPooling::folder;
  std::function<std::string(std::size_t text)> name_of = {};  ///< a text's in errors; "text 1" unless given
  EmbedAs purpose = EmbedAs::text;
  std::optional<std::string> prompt_name = {};  ///< of the prompt in the place of the purpose's
};

struct Embeddings {
  Tensor vectors;                           ///< [texts, dimension]; without pooling [residues of all texts, dimension]
  std::vector<std::int64_t> truncated;      ///< indices of the texts that were cut
  std::vector<std::int64_t> residues = {};  ///< without pooling: of each text, how many vectors are its own
};

}  // namespace headlight
