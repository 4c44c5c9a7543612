#include "headlight/nn/region_text_encoder.h"

#include <map>

#include "headlight/base/error.h"

namespace headlight {

AnswerHead::AnswerHead(const Scope& scope, std::int64_t inputs, std::int64_t hidden, std::int64_t outputs)
    : inner(scope / "logit_fc", {"0"}, inputs, hidden),
      norm(scope / "logit_fc" / 2, hidden, 1e-12),
      outer(scope / "logit_fc", {"3"}, hidden, outputs) {}

Tensor AnswerHead::operator()(Context& context, const Tensor& x) const {
  return outer(context, norm(context, inner(context, x, Activation::gelu)));
}

Json::Object RegionTextEncoder::Description() const {
  std::vector<std::string> names = head_names();
  if (pair_heads_.regions) names.emplace_back("regions");
  if (pair_heads_.alignment) names.emplace_back("alignment");
  if (pair_heads_.answers) names.emplace_back("answers");
  Json::Object description = {{"positions", limits_.positions},
                              {"features", limits_.features},
                              {"box_numbers", limits_.box_numbers},
                              {"heads", names}};
  if (limits_.tasks > 0) description.push_back({"tasks", limits_.tasks});
  if (!labels_.empty()) description.push_back({"labels", labels_});
  return description;
}

std::unique_ptr<RegionTextEncoder> GiveAnswers(const RegionTextEncoder& model, const std::vector<std::string>& labels,
                                               std::uint64_t seed) {
  std::unique_ptr<RegionTextEncoder> made = model.WithAnswers(labels);
  made->parameters().Initialise(seed);
  std::map<std::string_view, const Parameter*> had;
  for (const Parameter& parameter : model.parameters().all()) had[parameter.names.front()] = &parameter;
  const std::unique_ptr<RegionTextEncoder> encoder =
      model.WithAnswers(labels == model.labels() ? labels : std::vector<std::string>{});
  made->parameters().Unpack();
  for (const Parameter& kept : encoder->parameters().all()) {
    const std::string_view name = kept.names.front();
    // A folder of an encoder alone has no `bert.` in front of its names.
    const auto same = had.contains(name) ? had.find(name) : had.find(name.substr(name.find('.') + 1));
    Ensure(same != had.end() && same->second->shape == kept.shape, "{} is not kept", name);
    for (const Parameter& parameter : made->parameters().all())
      if (parameter.names.front() == name) parameter.value.CopyFrom(same->second->value);
  }
  made->parameters().Pack();
  return made;
}

}  // namespace headlight
