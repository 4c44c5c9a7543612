// The heads on an encoder of texts: the last layers of a task.
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

class Safetensors;  // io/safetensors.h

// The state of each text's first token, [texts, model]. Throws Error for an empty text.
HEADLIGHT_API Tensor FirstStates(const Tensor& hidden, const Sequences& texts);

/// The state of each text's last token, [texts, model]. Throws Error for an empty text.
Tensor LastStates(const Tensor& hidden, const Sequences& texts);

// The heads that a model has.
struct TextHeadsConfig {
  bool pooler = false;                   // a state of the whole text, from its first token's
  bool masked_words = false;             // masked language modelling: scores of every token
  bool next_sentence = false;            // next-sentence prediction
  bool sequence_classes = false;         // a class of one text or of a pair
  bool token_classes = false;            // a class of each token
  bool question_spans = false;           // where in a text an answer begins and ends
  std::vector<std::string> labels = {};  // the classes' names, by number
  Problem problem = Problem::one_label;  // of sequence_classes
};

// Throws Error naming the rule where there can be no such heads.
HEADLIGHT_API void CheckConfig(const TextHeadsConfig& config);

// The full names of the heads' parts in a family's checkpoints, and how its heads compute. A name is empty where
// the family has no such head. Heads of texts and of tokens may have one name: then `architectures` decides.
struct TextHeadsLayout {
  std::string family;                                                 // begins the names in `architectures`: Bert
  std::string pooler = "";                                            // a Linear
  std::string masked_dense = "", masked_norm = "", masked_bias = "";  // the last a vector
  Activation masked_activation = Activation::gelu;
  double norm_epsilon = 1e-12;
  std::string next_sentence = "";
  std::string class_pooler = "";  // below the classes of texts; `pooler` may be both
  Activation class_activation = Activation::tanh;
  double class_pooler_dropout = 0;
  std::string sequence_classes = "classifier", token_classes = "classifier", question_spans = "qa_outputs";
  double sequence_dropout = 0.1, token_dropout = 0.1, question_dropout = 0;
  bool classes_of_last_token = false;  // of texts: of the last token's state, without a pooler and a bias, as GPT-2's
};

// The heads that a folder has, with id2label and problem_type. Throws Error where labels are not those of the classes
// 0, 1, ..., or it does not say which classes they are.
TextHeadsConfig ReadTextHeads(const JsonView& config, const Safetensors& weights, const TextHeadsLayout& layout);

/// Transformers' name, such as "regression".
HEADLIGHT_API const char* ProblemName(Problem problem);

// How the scores of so many classes are read, by problem_type or as Transformers does without it.
HEADLIGHT_API Problem ReadProblem(const JsonView& config, std::size_t classes);

// `architectures`, id2label, label2id and problem_type.
void WriteTextHeads(Json& config, const TextHeadsConfig& heads, const TextHeadsLayout& layout);

// The heads that both have, with the same labels.
TextHeadsConfig CommonHeads(const TextHeadsConfig& a, const TextHeadsConfig& b);

// The heads on an encoder's states, `hidden` [tokens, model] or some of their rows. Each head throws
// Error where the model does not have it. A new head is added in this file and heads.cc.
class HEADLIGHT_API TextHeads {
 public:
  const TextHeadsConfig& heads() const { return config_; }
  std::vector<std::string> head_names() const;  // in words

  // activation(W first + b), of the first token's state of each text: [texts, model]. Throws Error for an empty text.
  Tensor Pool(Context& context, const Tensor& hidden, const Sequences& texts) const;
  // LayerNorm(activation(W hidden + b)) tokens^T + bias, by the tokens' own table: [rows, vocabulary].
  Tensor MaskedWordLogits(Context& context, const Tensor& hidden) const;
  Tensor NextSentenceLogits(Context& context, const Tensor& pooled) const;  // [texts, 2]: it is, it is not
  Tensor SequenceClassLogits(Context& context, const Tensor& hidden, const Sequences& texts) const;  // [texts, labels]
  Tensor TokenClassLogits(Context& context, const Tensor& hidden) const;                             // [rows, labels]
  Tensor SpanLogits(Context& context, const Tensor& hidden) const;  // [rows, 2]: an answer begins, ends here

 protected:
  // For the constructor of a family's model: declares the heads' parameters.
  void DeclareHeads(Parameters& parameters, const TextHeadsConfig& config, const TextHeadsLayout& layout,
                    const TokenEmbedding& tokens);

 private:
  struct Pooler {
    Linear dense;
    Activation activation;
    double dropout;  // of the first token's state
    Tensor operator()(Context& context, const Tensor& hidden, const Sequences& texts) const;
  };
  struct MaskedWordHead {
    Linear dense;
    LayerNorm norm;
    const Parameter* bias;
    Activation activation;
    TokenEmbedding tokens;
  };
  // W dropout(x) + b.
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
