// Embeddings of texts, the options for computing them, and their similarity.
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

/// The purpose of a text, which selects a prompt of sentence-transformers. For queries, this is the prompt "query". For
/// documents, this is the first existing prompt of "document", "passage" and "corpus". Otherwise the default prompt is
/// used.
enum class EmbedAs { text, query, document };

/// The similarity functions of sentence-transformers. A larger value means more similar. Distances are negated.
enum class Similarity { cosine, dot, euclidean, manhattan };
HEADLIGHT_API const char* Name(Similarity similarity);
/// Returns the similarity of two vectors of the same length. The cosine similarity with a zero vector is 0.
HEADLIGHT_API double Compare(Similarity similarity, std::span<const float> a, std::span<const float> b);
/// The pooling of the hidden states of a text's tokens.
enum class EmbedPooling {
  folder,    ///< the folder's pooling, including special tokens
  residues,  ///< the mean of a protein's residues, without special tokens, like `mean` in the esm repository
  none,      ///< no pooling: one vector for each residue of a protein
};

struct EmbedOptions {
  /// The number of tokens that are encoded at once, at least 1. With more than 512, activations do not fit in the
  /// processor's cache.
  std::int64_t batch_tokens = 512;
  /// If true, truncates texts that are too long for the model. Otherwise such texts are errors.
  bool truncate = false;
  EmbedPooling pooling = EmbedPooling::folder;
  std::function<std::string(std::size_t text)> name_of = {};  ///< text name in error messages; "text 1" by default
  EmbedAs purpose = EmbedAs::text;
  std::optional<std::string> prompt_name = {};  ///< name of the prompt to use; default: the prompt for the purpose
};

struct Embeddings {
  Tensor vectors;                           ///< [texts, dimension]; without pooling [residues of all texts, dimension]
  std::vector<std::int64_t> truncated;      ///< indices of the truncated texts
  std::vector<std::int64_t> residues = {};  ///< without pooling: the number of vectors of each text
};

}  // namespace headlight
