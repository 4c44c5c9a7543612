#include "headlight/pipelines/text_classifier.h"

#include <algorithm>
#include <cmath>

#include "headlight/base/error.h"
#include "headlight/ops/softmax.h"
#include "headlight/pipelines/encoder_folder.h"

namespace headlight {

TextClassifier TextClassifier::Load(const std::string& folder, const LoadOptions& options) {
  EncoderFolder loaded =
      LoadEncoderFolder(folder, options, NeededHead{&TextHeadsConfig::sequence_classes, "classes of texts"});
  return TextClassifier(std::make_shared<EncoderFolder>(std::move(loaded)));
}

std::vector<std::vector<LabelScore>> TextClassifier::Classify(std::span<const TextOrPair> texts,
                                                              const ClassifyOptions& options) const {
  return LabelScores(Scores(texts, options), labels(), problem(), options.top_k);
}

std::vector<LabelScore> TextClassifier::Classify(std::string_view text, const ClassifyOptions& options) const {
  return Classify({TextOrPair{std::string(text)}}, options).front();
}

Tensor TextClassifier::Scores(std::span<const TextOrPair> texts, const ClassifyOptions& options) const {
  const TextEncoder& model = *loaded_->model;
  const PipelineTokenizer& tokenizer = loaded_->tokenizer;
  const Tensor result = Tensor::Empty({std::ssize(texts), std::ssize(labels())});
  std::vector<Encoding> encodings;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto& [first, second] = texts[i];
    CheckText(first, options.name_of, i);
    if (second) CheckText(*second, options.name_of, i);
    constexpr EncodeOptions plain{.read_special = false};
    encodings.push_back(second ? tokenizer.EncodePair(first, *second, plain) : tokenizer.Encode(first, plain));
    if (options.truncate && Truncate(encodings[i], longest(), tokenizer.cut_at()) && options.on_truncated)
      options.on_truncated(i);
    CheckLength(encodings[i], model, NameOf(options.name_of, i), kTruncateAdvice);
  }
  const auto classify = [&](Context& context, const Tensor& hidden, const Sequences& places,
                            std::span<const std::size_t> which) {
    Tensor scores = model.SequenceClassLogits(context, hidden, places);
    for (std::size_t i = 0; i < which.size(); ++i)
      CheckFinite(scores.ViewRows(static_cast<std::int64_t>(i), 1), model,
                  "classifying " + NameOf(options.name_of, which[i]));
    if (problem() == Problem::one_label) scores = ops::Softmax(scores);
    if (problem() == Problem::several_labels)
      for (float& score : scores.span<float>()) score = 1 / (1 + std::exp(-score));
    for (std::size_t i = 0; i < which.size(); ++i)
      result.ViewRows(static_cast<std::int64_t>(which[i]), 1)
          .CopyFrom(scores.ViewRows(static_cast<std::int64_t>(i), 1));
  };
  EncodeInBatches(model, encodings, options.batch_tokens, classify);
  return result;
}

const std::vector<std::string>& TextClassifier::labels() const { return loaded_->model->heads().labels; }
Problem TextClassifier::problem() const { return loaded_->model->heads().problem; }
std::int64_t TextClassifier::longest() const { return loaded_->model->limits().positions; }

}  // namespace headlight
