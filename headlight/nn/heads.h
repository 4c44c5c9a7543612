// Task heads of text encoders.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/base/sequences.h"
#include "headlight/nn/context.h"
#include "headlight/nn/layers.h"
#include "headlight/nn/problem.h"

namespace headlight {

class Safetensors;  // defined in io/safetensors.h

/// Returns the state of each text's first token, [texts, model]. Throws Error for an empty text.
HEADLIGHT_API Tensor FirstStates(const Tensor& hidden, const Sequences& texts);

/// Returns the state of each text's last token, [texts, model]. Throws Error for an empty text.
HEADLIGHT_API Tensor LastStates(const Tensor& hidden, const Sequences& texts);

/// The heads of a model. Each flag is true if the model has the head.
struct TextHeadsConfig {
  bool pooler = false;                   ///< a state of the whole text, computed from the first token's state
  bool masked_words = false;             ///< masked language modeling: logits of all tokens of the vocabulary
  bool next_sentence = false;            ///< next-sentence prediction
  bool sequence_classes = false;         ///< a class per text or text pair
  bool token_classes = false;            ///< a class per token
  bool question_spans = false;           ///< the start and end of an answer in the text
  std::vector<std::string> labels = {};  ///< class names by index
  Problem problem = Problem::one_label;  ///< problem type of sequence_classes
};

/// Throws Error if the heads are inconsistent.
HEADLIGHT_API void CheckConfig(const TextHeadsConfig& config);

/// The names of the heads' parameters in a family's checkpoints, and options for computing the heads. A name is empty
/// if the family has no such head. If sequence and token classification have the same name, `architectures` determines
/// which head exists.
struct TextHeadsLayout {
  std::string family;       ///< prefix of the names in `architectures`, such as Bert
  std::string pooler = "";  ///< name of a Linear
  std::string masked_dense = "", masked_norm = "", masked_bias = "";  ///< masked_bias is the name of a vector
  Activation masked_activation = Activation::gelu;
  double norm_epsilon = 1e-12;
  std::string next_sentence = "";
  std::string class_pooler = "";  ///< for sequence classification; may be equal to `pooler`
  Activation class_activation = Activation::tanh;
  double class_pooler_dropout = 0;
  std::string sequence_classes = "classifier", token_classes = "classifier", question_spans = "qa_outputs";
  double sequence_dropout = 0.1, token_dropout = 0.1, question_dropout = 0;
  bool classes_of_last_token =
      false;  ///< if true, sequence classes use the last token's state, without a pooler or a bias, as in GPT-2
};

/// Reads the heads of a model folder, with id2label and problem_type. Throws Error if the labels are not numbered 0, 1,
/// ..., or if the folder does not specify whether they classify sequences or tokens.
HEADLIGHT_API TextHeadsConfig ReadTextHeads(const JsonView& config, const Safetensors& weights,
                                            const TextHeadsLayout& layout);

/// Returns the name of the problem type in Transformers, for example "regression".
HEADLIGHT_API const char* ProblemName(Problem problem);

/// Returns the problem type of a head with this number of classes: `problem_type`, or the default of Transformers.
HEADLIGHT_API Problem ReadProblem(const JsonView& config, std::size_t classes);

/// Writes `architectures`, id2label, label2id and problem_type.
HEADLIGHT_API void WriteTextHeads(Json& config, const TextHeadsConfig& heads, const TextHeadsLayout& layout);

/// Returns the heads that `a` and `b` have in common. Classification heads must also have the same labels.
HEADLIGHT_API TextHeadsConfig CommonHeads(const TextHeadsConfig& a, const TextHeadsConfig& b);

/// Computes the heads from an encoder's states `hidden` [tokens, model] or a subset of its rows. Each function throws
/// Error if the model lacks that head. New heads are added in this file and in heads.cc.
class HEADLIGHT_API TextHeads {
 public:
  const TextHeadsConfig& heads() const { return config_; }
  std::vector<std::string> head_names() const;  ///< names of the heads, as shown to users

  /// Returns activation(W x + b) of each text's first state x, [texts, model]. Throws Error for an empty text.
  Tensor Pool(Context& context, const Tensor& hidden, const Sequences& texts) const;
  /// Returns LayerNorm(activation(W hidden + b)) tokens^T + bias with the tied token embedding, [rows, vocabulary].
  Tensor MaskedTokenLogits(Context& context, const Tensor& hidden) const;
  Tensor NextSentenceLogits(Context& context, const Tensor& pooled) const;  ///< [texts, 2]: "is next", "is not next"
  Tensor SequenceClassLogits(Context& context, const Tensor& hidden,
                             const Sequences& texts) const;               ///< [texts, labels]
  Tensor TokenClassLogits(Context& context, const Tensor& hidden) const;  ///< [rows, labels]
  Tensor SpanLogits(Context& context, const Tensor& hidden) const;  ///< [rows, 2]: logits of the answer's start and end

 protected:
  /// Declares the heads' parameters. The constructor of a family's model must call DeclareHeads.
  void DeclareHeads(Parameters& parameters, const TextHeadsConfig& config, const TextHeadsLayout& layout,
                    const TokenEmbedding& tokens);

 private:
  struct Pooler {
    Linear dense;
    Activation activation;
    double dropout;  ///< dropout rate of the first token's state
    Tensor operator()(Context& context, const Tensor& hidden, const Sequences& texts) const;
  };
  struct MaskedWordHead {
    Linear dense;
    LayerNorm norm;
    const Parameter* bias;
    Activation activation;
    TokenEmbedding tokens;
  };
  // A head that computes W dropout(x) + b.
  struct ClassHead {
    Linear linear;
    double dropout;
    Tensor operator()(Context& context, const Tensor& x) const;
  };

  TextHeadsConfig config_;
  bool classes_of_last_token_ = false;
  std::optional<Pooler> pooler_, class_pooler_;
  std::optional<MaskedWordHead> masked_words_;
  std::optional<ClassHead> next_sentence_, sequence_classes_, token_classes_, question_spans_;
};

}  // namespace headlight
