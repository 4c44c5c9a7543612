#include "headlight/nn/heads.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "headlight/base/error.h"
#include "headlight/ops/dropout.h"
#include "headlight/ops/embedding.h"

namespace headlight {
namespace {

constexpr std::int64_t kMostClasses = 1 << 20;

// What Transformers calls the problems.
struct NamedProblem {
  const char* name;
  Problem problem;
};
constexpr NamedProblem kProblems[] = {{"single_label_classification", Problem::one_label},
                                      {"multi_label_classification", Problem::several_labels},
                                      {"regression", Problem::number}};

std::vector<std::string> ReadLabels(const JsonView& config) {
  const JsonView names = config["id2label"];
  std::vector<std::string> labels;
  if (!names.present()) {
    const std::int64_t classes = config.Get("num_labels", 2).Integer(1, kMostClasses);
    for (std::int64_t i = 0; i < classes; ++i) labels.push_back("LABEL_" + std::to_string(i));
    return labels;
  }
  const std::vector<std::pair<std::string, JsonView>> members = names.Members();
  labels.resize(members.size());
  for (const auto& [id, label] : members) {
    std::size_t number = members.size();
    std::from_chars(id.data(), id.data() + id.size(), number);
    Check(number < members.size() && std::to_string(number) == id, "{}: {} classes are numbered 0 to {}", label.place(),
          members.size(), members.size() - 1);
    labels[number] = label.String();
  }
  Check(!labels.empty(), "{}: there must be at least one class", names.place());
  Check(config.Get("num_labels", labels.size()).Integer() == static_cast<std::int64_t>(labels.size()),
        "{}: there are {} labels", config["num_labels"].place(), labels.size());
  return labels;
}

// What is meant where nothing is said: one class alone is right or not, as Transformers' text-classification reads it.
Problem UsualProblem(std::size_t classes) { return classes == 1 ? Problem::several_labels : Problem::one_label; }

Problem ReadProblem(const JsonView& config, std::size_t classes) {
  if (!config["problem_type"].present()) return UsualProblem(classes);
  const std::string name = config["problem_type"].String({kProblems[0].name, kProblems[1].name, kProblems[2].name});
  return std::ranges::find(kProblems, name, &NamedProblem::name)->problem;
}

}  // namespace

void CheckConfig(const TextHeadsConfig& config) {
  Check(config.pooler || !config.next_sentence, "whether a sentence is the next is told from what the pooler gives");
  Check(!config.sequence_classes || !config.token_classes, "a classifier is of texts or of tokens, not of both");
  if (!config.sequence_classes && !config.token_classes) return;
  Check(!config.labels.empty() && std::ssize(config.labels) <= kMostClasses, "there must be 1 to {} classes, not {}",
        kMostClasses, config.labels.size());
  Check(std::set(config.labels.begin(), config.labels.end()).size() == config.labels.size(),
        "two classes must not have the same label");
}

TextHeadsConfig ReadTextHeads(const ModelFolder& files, const HeadTensors& tensors) {
  const JsonView& config = files.config;
  const auto has = [&](const std::string& tensor) { return !tensor.empty() && files.weights.contains(tensor); };
  TextHeadsConfig heads{.pooler = has(tensors.pooler),
                        .masked_words = has(tensors.masked_words),
                        .next_sentence = has(tensors.next_sentence),
                        .sequence_classes = has(tensors.sequence_classes),
                        .token_classes = has(tensors.token_classes),
                        .question_spans = has("qa_outputs.weight")};
  if (heads.sequence_classes && heads.token_classes) {
    std::string architecture;
    const JsonView names = config["architectures"];
    if (names.present())
      for (const JsonView& name : names.Items()) architecture = name.String();
    heads.sequence_classes = architecture.ends_with("ForSequenceClassification");
    heads.token_classes = architecture.ends_with("ForTokenClassification");
    Check(heads.sequence_classes || heads.token_classes,
          "{}: {} does not say whether {} tells classes of texts (...ForSequenceClassification) or of tokens "
          "(...ForTokenClassification), and nothing else is supported",
          names.place(), Quoted(architecture), tensors.token_classes);
  }
  if (heads.sequence_classes || heads.token_classes) heads.labels = ReadLabels(config);
  if (heads.sequence_classes) heads.problem = ReadProblem(config, heads.labels.size());
  CheckConfig(heads);
  return heads;
}

void WriteTextHeads(Json& config, const TextHeadsConfig& heads, const std::string& family) {
  const char* kind = heads.sequence_classes                      ? "ForSequenceClassification"
                     : heads.token_classes                       ? "ForTokenClassification"
                     : heads.question_spans                      ? "ForQuestionAnswering"
                     : heads.masked_words && heads.next_sentence ? "ForPreTraining"
                     : heads.masked_words                        ? "ForMaskedLM"
                     : heads.next_sentence                       ? "ForNextSentencePrediction"
                                                                 : "Model";
  config.Set("architectures", Json::Array{family + kind});
  if (heads.labels.empty()) return;
  Json::Object names, numbers;
  for (std::size_t i = 0; i < heads.labels.size(); ++i) {
    names.push_back({std::to_string(i), heads.labels[i]});
    numbers.push_back({heads.labels[i], i});
  }
  config.Set("id2label", std::move(names));
  config.Set("label2id", std::move(numbers));
  if (heads.sequence_classes && heads.problem != UsualProblem(heads.labels.size()))
    config.Set("problem_type", std::ranges::find(kProblems, heads.problem, &NamedProblem::problem)->name);
}

Pooler::Pooler(const Scope& scope, std::int64_t model, Activation activation, double dropout)
    : dense_(scope, {"dense"}, model, model), activation_(activation), dropout_(dropout) {}

Tensor Pooler::operator()(Context& context, const Tensor& hidden, const Sequences& texts) const {
  std::vector<std::int32_t> first;
  for (const Sequence& text : texts) {
    Check(text.length > 0, "an empty text has no first token");
    first.push_back(text.begin);
  }
  return dense_(context, ops::Drop(ops::Embedding(hidden, first), context.NextDropout(dropout_)), activation_);
}

MaskedWordHead::MaskedWordHead(const Scope& transform, const char* norm, const Scope& bias, const Parameter& words,
                               Activation activation, double epsilon)
    : dense_(transform, {"dense"}, words.shape[1], words.shape[1]),
      norm_(transform / norm, words.shape[1], epsilon),
      words_(&words),
      bias_(&bias.Declare("bias", {words.shape[0]}, Initialisation::Constant(0))),
      activation_(activation) {}

Tensor MaskedWordHead::operator()(Context& context, const Tensor& hidden) const {
  const Tensor transformed = norm_(context, dense_(context, hidden, activation_));
  return ops::Linear(transformed, context.UseWeight(*words_), context.Use(*bias_));
}

ClassHead::ClassHead(const Scope& scope, const char* name, std::int64_t model, std::int64_t classes, double dropout)
    : linear_(scope, {name}, model, classes), dropout_(dropout) {}

Tensor ClassHead::operator()(Context& context, const Tensor& x) const {
  return linear_(context, ops::Drop(x, context.NextDropout(dropout_)));
}

}  // namespace headlight
