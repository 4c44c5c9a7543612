#include "headlight/nn/text_encoder.h"

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

template <typename Head>
const Head& Have(const std::optional<Head>& head, const char* what) {
  Check(head.has_value(), "this model has no {}", what);
  return *head;
}

}  // namespace

Json::Object TextEncoder::Description() const {
  const TextHeadsConfig& heads = heads_.config;
  Json::Array names;
  for (const auto& [has, name] :
       {std::pair(heads.pooler, "pooler"), std::pair(heads.masked_words, "masked words"),
        std::pair(heads.next_sentence, "next sentence"), std::pair(heads.sequence_classes, "classes of texts"),
        std::pair(heads.token_classes, "classes of tokens"), std::pair(heads.question_spans, "answers")})
    if (has) names.emplace_back(name);
  return {{"positions", limits().positions}, {"heads", std::move(names)}};
}

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

namespace {

TextHeadsConfig HeadsOfBoth(const TextHeadsConfig& a, const TextHeadsConfig& b) {
  TextHeadsConfig both{.pooler = a.pooler && b.pooler,
                       .masked_words = a.masked_words && b.masked_words,
                       .next_sentence = a.next_sentence && b.next_sentence,
                       .sequence_classes = a.sequence_classes && b.sequence_classes && a.labels == b.labels,
                       .token_classes = a.token_classes && b.token_classes && a.labels == b.labels,
                       .question_spans = a.question_spans && b.question_spans};
  if (both.sequence_classes || both.token_classes) both.labels = a.labels;
  return both;
}

}  // namespace

std::unique_ptr<TextEncoder> GiveHeads(const TextEncoder& model, const TextHeadsConfig& heads, std::uint64_t seed) {
  std::unique_ptr<TextEncoder> made = model.WithHeads(heads);
  made->parameters().Initialise(seed);
  std::map<std::string_view, const Parameter*> had;
  for (const Parameter& parameter : model.parameters().all()) had[parameter.names.front()] = &parameter;
  // Two heads may have the same names, such as `classifier`: what is kept is what a model of the common heads has.
  const std::unique_ptr<TextEncoder> kept = model.WithHeads(HeadsOfBoth(model.heads(), made->heads()));
  std::set<std::string_view> names;
  for (const Parameter& parameter : kept->parameters().all()) names.insert(parameter.names.front());
  made->parameters().Unpack();
  for (const Parameter& parameter : made->parameters().all()) {
    const std::string_view name = parameter.names.front();
    if (!names.contains(name)) continue;
    // A folder of an encoder alone has no `bert.` in front of its names.
    const auto same = had.contains(name) ? had.find(name) : had.find(name.substr(name.find('.') + 1));
    Ensure(same != had.end() && same->second->shape == parameter.shape, "{} is not kept", name);
    parameter.value.CopyFrom(same->second->value);
  }
  made->parameters().Pack();
  return made;
}

}  // namespace headlight
