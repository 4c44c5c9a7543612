// The modules of sentence-transformers that compute the vector of a text: modules.json and the files that it lists.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kernels/activation.h"
#include "headlight/pipelines/embedding.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// The poolings of sentence-transformers, over n tokens: the mean; the sum divided by sqrt(n); the mean weighted by the
/// positions 1, ..., n; the first token's state; the last token's state; the maximum of each column.
enum class Pooling { mean, mean_sqrt, weighted_mean, first, last, most };

/// A module that follows the pooling.
struct VectorModule {
  enum class Kind { dense, layer_norm, normalize };
  Kind kind = Kind::normalize;
  Tensor weight, bias;  ///< dense: [outputs, inputs], and [outputs] or empty; layer_norm: [inputs] each
  Activation activation = Activation::none;  ///< for dense
  bool adds_input = false;                   ///< for dense: true if there is a residual connection
  Tensor residual;  ///< weight of the residual connection, [outputs, inputs]; empty: the identity
};

/// The pooling and modules of a folder. The default, for a folder without modules.json, is the mean over all tokens.
struct HEADLIGHT_API SentenceModules {
  bool given = false;                               ///< true if the folder has a modules.json
  std::vector<Pooling> poolings = {Pooling::mean};  ///< the vectors of the poolings are concatenated
  bool pools_prompt = true;
  std::vector<VectorModule> modules = {};         ///< applied in this order
  std::optional<std::int64_t> truncate_dim = {};  ///< vectors are truncated to this length
  std::optional<std::int64_t> longest = {};
  std::map<std::string, std::string> prompts = {};  ///< by name
  std::optional<std::string> default_prompt_name = {};
  Similarity similarity = Similarity::cosine;

  bool normalizes() const;
  /// Returns the length of a vector. `model` is the length of a token's hidden state.
  std::int64_t Dimension(std::int64_t model) const;
  /// Returns the prompt that precedes a text. Throws Error for a name that is not among the prompts.
  std::string PromptOf(EmbedAs purpose, const std::optional<std::string>& name = {}) const;
};

/// Reads the modules for a model with hidden states of length `model`. Throws Error naming the file and the problem if
/// a file is invalid or not supported.
HEADLIGHT_API SentenceModules ReadSentenceModules(const std::string& folder, std::int64_t model);

HEADLIGHT_API const char* Name(Pooling pooling);
/// Returns the names of the poolings, joined by "+".
HEADLIGHT_API std::string Names(const std::vector<Pooling>& poolings);

/// Returns the vector of a text, [1, dimension], from the hidden states of its tokens, [length, model]. The first
/// `prompt_tokens` tokens are the prompt and the special tokens before it.
Tensor VectorOf(const Tensor& hidden, const SentenceModules& reading, std::int64_t prompt_tokens);

}  // namespace headlight
