#include "headlight/nn/text_encoder.h"

#include "headlight/base/error.h"

namespace headlight {
namespace {

template <typename Head>
const Head& Have(const std::optional<Head>& head, const char* what) {
  Check(head.has_value(), "this model has no {}", what);
  return *head;
}

}  // namespace

Tensor TextEncoder::Pool(Context& context, const Tensor& hidden, const Sequences& texts) const {
  return Have(heads_.pooler, "pooler")(context, hidden, texts);
}

Tensor TextEncoder::MaskedWordLogits(Context& context, const Tensor& hidden) const {
  return Have(heads_.masked_words, "head for masked words")(context, hidden);
}

Tensor TextEncoder::NextSentenceLogits(Context& context, const Tensor& pooled) const {
  return Have(heads_.next_sentence, "head for the next sentence")(context, pooled);
}

Tensor TextEncoder::SequenceClassLogits(Context& context, const Tensor& hidden, const Sequences& texts) const {
  const ClassHead& head = Have(heads_.sequence_classes, "head for classes of texts");
  return head(context, (*heads_.class_pooler)(context, hidden, texts));
}

Tensor TextEncoder::TokenClassLogits(Context& context, const Tensor& hidden) const {
  return Have(heads_.token_classes, "head for classes of tokens")(context, hidden);
}

Tensor TextEncoder::SpanLogits(Context& context, const Tensor& hidden) const {
  return Have(heads_.question_spans, "head for answers")(context, hidden);
}

}  // namespace headlight
