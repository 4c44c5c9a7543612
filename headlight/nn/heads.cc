#include "headlight/nn/heads.h"

#include <algorithm>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/io/safetensors.h"
#include "headlight/nn/labels.h"
#include "headlight/ops/dropout.h"
#include "headlight/ops/embedding.h"

namespace headlight {
namespace {

// A problem type with its name in Transformers.
struct NamedProblem {
  const char* name;
  Problem problem;
};
constexpr NamedProblem kProblems[] = {{"single_label_classification", Problem::one_label},
                                      {"multi_label_classification", Problem::several_labels},
                                      {"regression", Problem::number}};

struct HeadName {
  bool TextHeadsConfig::*has;
  const char* name;
};
constexpr HeadName kHeadNames[] = {{&TextHeadsConfig::pooler, "pooler"},
                                   {&TextHeadsConfig::masked_words, "masked words"},
                                   {&TextHeadsConfig::next_sentence, "next sentence"},
                                   {&TextHeadsConfig::sequence_classes, "classes of texts"},
                                   {&TextHeadsConfig::token_classes, "classes of tokens"},
                                   {&TextHeadsConfig::question_spans, "answers"}};

template <typename Head>
const Head& Have(const std::optional<Head>& head, const char* what) {
  Check(head.has_value(), "this model has no {}", what);
  return *head;
}

// Returns the default of Transformers' text-classification pipeline. With several classes, exactly one is correct.
Problem UsualProblem(std::size_t classes) { return classes == 1 ? Problem::several_labels : Problem::one_label; }

}  // namespace

const char* ProblemName(Problem problem) { return std::ranges::find(kProblems, problem, &NamedProblem::problem)->name; }

Problem ReadProblem(const JsonView& config, std::size_t classes) {
  if (!config["problem_type"].present()) return UsualProblem(classes);
  const std::string name = config["problem_type"].String({kProblems[0].name, kProblems[1].name, kProblems[2].name});
  return std::ranges::find(kProblems, name, &NamedProblem::name)->problem;
}

void CheckConfig(const TextHeadsConfig& config) {
  Check(config.pooler || !config.next_sentence, "the next-sentence head needs the pooler");
  Check(!config.sequence_classes || !config.token_classes, "a model classifies texts or tokens, not both");
  if (!config.sequence_classes && !config.token_classes) return;
  CheckLabels(config.labels);
}

TextHeadsConfig ReadTextHeads(const JsonView& config, const Safetensors& weights, const TextHeadsLayout& layout) {
  const auto has = [&](const std::string& tensor) { return weights.contains(tensor); };
  // A tied bias may have the name lm_head.bias or lm_head.decoder.bias.
  const std::string decoder_bias = layout.masked_bias.substr(0, layout.masked_bias.rfind('.') + 1) + "decoder.bias";
  TextHeadsConfig heads{.pooler = has(layout.pooler + ".weight"),
                        .masked_words = has(layout.masked_bias) || has(decoder_bias),
                        .next_sentence = has(layout.next_sentence + ".weight"),
                        .sequence_classes = has(layout.sequence_classes + ".weight"),
                        .token_classes = has(layout.token_classes + ".weight"),
                        .question_spans = has(layout.question_spans + ".weight")};
  if (heads.sequence_classes && heads.token_classes) {
    std::string architecture;
    const JsonView names = config["architectures"];
    if (names.present())
      for (const JsonView& name : names.Items()) architecture = name.String();
    heads.sequence_classes = architecture.ends_with("ForSequenceClassification");
    heads.token_classes = architecture.ends_with("ForTokenClassification");
    Check(heads.sequence_classes || heads.token_classes,
          "{}: {} must end in ForSequenceClassification or ForTokenClassification, since {} may belong to either",
          names.location(), Quoted(architecture), layout.token_classes + ".weight");
  }
  if (heads.sequence_classes || heads.token_classes) heads.labels = ReadLabels(config);
  if (heads.sequence_classes) heads.problem = ReadProblem(config, heads.labels.size());
  const bool classes_need_it =
      heads.sequence_classes && !layout.classes_of_last_token && layout.class_pooler == layout.pooler;
  Check(heads.pooler || (!heads.next_sentence && !classes_need_it), "{}: there is no {}, which {} needs",
        weights.path(), Quoted(layout.pooler + ".weight"),
        Quoted((classes_need_it ? layout.sequence_classes : layout.next_sentence) + ".weight"));
  CheckConfig(heads);
  return heads;
}

void WriteTextHeads(Json& config, const TextHeadsConfig& heads, const TextHeadsLayout& layout) {
  const char* kind = heads.sequence_classes                      ? "ForSequenceClassification"
                     : heads.token_classes                       ? "ForTokenClassification"
                     : heads.question_spans                      ? "ForQuestionAnswering"
                     : heads.masked_words && heads.next_sentence ? "ForPreTraining"
                     : heads.masked_words                        ? "ForMaskedLM"
                     : heads.next_sentence                       ? "ForNextSentencePrediction"
                                                                 : "Model";
  config.Set("architectures", Json::Array{layout.family + kind});
  if (heads.labels.empty()) return;
  WriteLabels(config, heads.labels);
  if (heads.sequence_classes && heads.problem != UsualProblem(heads.labels.size()))
    config.Set("problem_type", ProblemName(heads.problem));
}

TextHeadsConfig CommonHeads(const TextHeadsConfig& a, const TextHeadsConfig& b) {
  TextHeadsConfig both;
  for (const HeadName& head : kHeadNames) both.*head.has = a.*head.has && b.*head.has;
  if (a.labels != b.labels) both.sequence_classes = both.token_classes = false;
  if (both.sequence_classes || both.token_classes) both.labels = a.labels;
  return both;
}

void TextHeads::DeclareHeads(Parameters& parameters, const TextHeadsConfig& config, const TextHeadsLayout& layout,
                             const TokenEmbedding& tokens) {
  CheckConfig(config);
  config_ = config;
  const Scope root(parameters);
  const std::int64_t model = tokens.table().shape[1], labels = std::ssize(config.labels);
  const auto linear = [&](const std::string& name, std::int64_t outputs) {
    return Linear(root, {name}, model, outputs);
  };
  if (config.pooler) pooler_ = Pooler{linear(layout.pooler, model), Activation::tanh, 0};
  if (config.masked_words) {
    Linear dense = linear(layout.masked_dense, model);
    const LayerNorm norm(root / layout.masked_norm, model, layout.norm_epsilon);
    const Parameter& bias = root.Declare(layout.masked_bias, {tokens.table().shape[0]}, Initialization::Constant(0));
    masked_words_ = MaskedWordHead{std::move(dense), norm, &bias, layout.masked_activation, tokens};
  }
  if (config.next_sentence) next_sentence_ = ClassHead{linear(layout.next_sentence, 2), 0};
  if (config.sequence_classes && layout.classes_of_last_token) {
    classes_of_last_token_ = true;
    sequence_classes_ = ClassHead{Linear(root, {layout.sequence_classes}, model, labels, /*bias=*/false), 0};
  } else if (config.sequence_classes) {
    Check(config.pooler || layout.class_pooler != layout.pooler, "the head for classes of texts needs the pooler");
    if (layout.class_pooler == layout.pooler)
      class_pooler_ = pooler_;
    else
      class_pooler_ = Pooler{linear(layout.class_pooler, model), layout.class_activation, layout.class_pooler_dropout};
    sequence_classes_ = ClassHead{linear(layout.sequence_classes, labels), layout.sequence_dropout};
  }
  if (config.token_classes) token_classes_ = ClassHead{linear(layout.token_classes, labels), layout.token_dropout};
  if (config.question_spans) question_spans_ = ClassHead{linear(layout.question_spans, 2), layout.question_dropout};
}

std::vector<std::string> TextHeads::head_names() const {
  std::vector<std::string> names;
  for (const HeadName& head : kHeadNames)
    if (config_.*head.has) names.emplace_back(head.name);
  return names;
}

Tensor FirstStates(const Tensor& hidden, const Sequences& texts) {
  std::vector<std::int32_t> first;
  for (const Sequence& text : texts) {
    Check(text.length > 0, "an empty text has no first token");
    first.push_back(text.begin);
  }
  return ops::Embedding(hidden, first);
}

Tensor LastStates(const Tensor& hidden, const Sequences& texts) {
  std::vector<std::int32_t> last;
  for (const Sequence& text : texts) {
    Check(text.length > 0, "an empty text has no last token");
    last.push_back(text.begin + text.length - 1);
  }
  return ops::Embedding(hidden, last);
}

Tensor TextHeads::Pooler::operator()(Context& context, const Tensor& hidden, const Sequences& texts) const {
  return dense(context, ops::Drop(FirstStates(hidden, texts), context.NextDropout(dropout)), activation);
}

Tensor TextHeads::ClassHead::operator()(Context& context, const Tensor& x) const {
  return linear(context, ops::Drop(x, context.NextDropout(dropout)));
}

Tensor TextHeads::Pool(Context& context, const Tensor& hidden, const Sequences& texts) const {
  return Have(pooler_, "pooler")(context, hidden, texts);
}

Tensor TextHeads::MaskedTokenLogits(Context& context, const Tensor& hidden) const {
  const MaskedWordHead& head = Have(masked_words_, "head for masked words");
  const Tensor transformed = head.norm(context, head.dense(context, hidden, head.activation));
  return head.tokens.Scores(context, transformed, context.Use(*head.bias));
}

Tensor TextHeads::NextSentenceLogits(Context& context, const Tensor& pooled) const {
  return Have(next_sentence_, "head for the next sentence")(context, pooled);
}

Tensor TextHeads::SequenceClassLogits(Context& context, const Tensor& hidden, const Sequences& texts) const {
  const ClassHead& head = Have(sequence_classes_, "head for classes of texts");
  if (classes_of_last_token_) return head(context, LastStates(hidden, texts));
  return head(context, Have(class_pooler_, "pooler")(context, hidden, texts));
}

Tensor TextHeads::TokenClassLogits(Context& context, const Tensor& hidden) const {
  return Have(token_classes_, "head for classes of tokens")(context, hidden);
}

Tensor TextHeads::SpanLogits(Context& context, const Tensor& hidden) const {
  return Have(question_spans_, "head for answers")(context, hidden);
}

}  // namespace headlight
