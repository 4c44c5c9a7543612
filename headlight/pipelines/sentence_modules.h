// How a folder of sentence-transformers makes one vector of a text: modules.json and what it names.
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

// Of sentence-transformers. With n tokens: the mean; the sum over the root of n; the mean weighted by the positions
// 1, ..., n; the first token's state; the last one's; the largest number of each column.
enum class Pooling { mean, mean_sqrt, weighted_mean, first, last, most };

// A module after the pooling.
struct VectorModule {
  enum class Kind { dense, layer_norm, normalize };
  Kind kind = Kind::normalize;
  Tensor weight, bias;  // dense: [outputs, inputs] and [outputs] or empty; layer_norm: [inputs] each
  Activation activation = Activation::none;  // of dense
  bool adds_input = false;                   // dense: the input is added to the result,
  Tensor residual;                           // [outputs, inputs] times the input unless this is empty
};

// The mean of all tokens, where the folder is plain.
struct HEADLIGHT_API SentenceModules {
  bool given = false;                               // the folder has a modules.json
  std::vector<Pooling> poolings = {Pooling::mean};  // their vectors are concatenated
  bool pools_prompt = true;
  std::vector<VectorModule> modules = {};         // in this order
  std::optional<std::int64_t> truncate_dim = {};  // of a vector, only so many numbers are kept
  std::optional<std::int64_t> longest = {};
  std::map<std::string, std::string> prompts = {};  // by name
  std::optional<std::string> default_prompt_name = {};
  Similarity similarity = Similarity::cosine;

  bool normalizes() const;
  // The numbers of a vector, from those of a token's state.
  std::int64_t Dimension(std::int64_t model) const;
  // What is put before a text. Throws Error for a name that is not among the prompts.
  std::string PromptOf(EmbedAs purpose, const std::optional<std::string>& name = {}) const;
};

// Throws Error naming the file and what is wrong with it or not supported. Of a token's state with `model` numbers.
HEADLIGHT_API SentenceModules ReadSentenceModules(const std::string& folder, std::int64_t model);

HEADLIGHT_API const char* Name(Pooling pooling);
// Joined by +.
HEADLIGHT_API std::string Names(const std::vector<Pooling>& poolings);

// The vector of a text [1, dimension] from the states of its tokens, hidden [length, model], of which the first
// `prompt_tokens` are a prompt's, with what the tokenizer puts before it.
Tensor VectorOf(const Tensor& hidden, const SentenceModules& reading, std::int64_t prompt_tokens);

}  // namespace headlight
