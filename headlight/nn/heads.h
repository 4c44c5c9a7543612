// What stands on an encoder of texts: the last layers of a task.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/io/model_folder.h"
#include "headlight/nn/context.h"
#include "headlight/nn/layers.h"
#include "headlight/nn/problem.h"

namespace headlight {

// Which heads a model has.
struct TextHeadsConfig {
  bool pooler = false;                   // a state of the whole text, from its first token's
  bool masked_words = false;             // which word is hidden
  bool next_sentence = false;            // whether the second text follows the first
  bool sequence_classes = false;         // a class of a text or of two
  bool token_classes = false;            // a class of each token
  bool question_spans = false;           // where in a text an answer begins and ends
  std::vector<std::string> labels = {};  // the classes' names, by number
  Problem problem = Problem::one_label;  // of sequence_classes
};

// Throws Error naming the rule where there can be no such heads.
HEADLIGHT_API void CheckConfig(const TextHeadsConfig& config);

// A tensor of each head, by which a folder shows that it has it; empty for a head that the family has not. A
// `classifier` of sequences may be called as one of tokens is: then `architectures` tells.
struct HeadTensors {
  std::string pooler, masked_words, next_sentence, sequence_classes, token_classes;
};

// Which heads a folder has, with id2label and problem_type. Throws Error where labels are not those of the classes 0,
// 1, ..., or it does not say which classes they are.
TextHeadsConfig ReadTextHeads(const ModelFolder& files, const HeadTensors& tensors);

// `architectures`, from the class's first part, such as Bert, and id2label, label2id and problem_type.
void WriteTextHeads(Json& config, const TextHeadsConfig& heads, const std::string& family);

// activation(W first + b), the first token's state of each text.
class HEADLIGHT_API Pooler {
 public:
  Pooler(const Scope& scope, std::int64_t model, Activation activation = Activation::tanh, double dropout = 0);
  // hidden [tokens, model] to [texts, model]. Throws Error for an empty text.
  Tensor operator()(Context& context, const Tensor& hidden, const Sequences& texts) const;

 private:
  Linear dense_;
  Activation activation_;
  double dropout_;  // of the first token's state
};

// Scores for every word by the words' own table: LayerNorm(activation(W x + b)) words^T + bias.
class HEADLIGHT_API MaskedWordHead {
 public:
  // `transform` holds dense and the norm of that name, `bias` the words' bias.
  MaskedWordHead(const Scope& transform, const char* norm, const Scope& bias, const Parameter& words,
                 Activation activation, double epsilon);
  Tensor operator()(Context& context, const Tensor& hidden) const;  // [rows, model] to [rows, vocabulary]

 private:
  Linear dense_;
  LayerNorm norm_;
  const Parameter *words_, *bias_;
  Activation activation_;
};

// W dropout(x) + b.
class HEADLIGHT_API ClassHead {
 public:
  ClassHead(const Scope& scope, const char* name, std::int64_t model, std::int64_t classes, double dropout = 0);
  Tensor operator()(Context& context, const Tensor& x) const;  // [rows, model] to [rows, classes]

 private:
  Linear linear_;
  double dropout_;
};

// The heads of a model, for its family to fill in.
struct TextHeads {
  TextHeadsConfig config;
  std::optional<Pooler> pooler, class_pooler;  // class_pooler: what sequence_classes stand on
  std::optional<MaskedWordHead> masked_words;
  std::optional<ClassHead> next_sentence, sequence_classes, token_classes, question_spans;
};

}  // namespace headlight
