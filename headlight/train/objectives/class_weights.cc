#include "headlight/train/objectives/class_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

std::vector<double> NamedWeights(std::string_view rule, const std::vector<std::string>& labels) {
  std::vector<double> weights(labels.size(), 1);
  std::vector<bool> named(labels.size());
  while (!rule.empty()) {
    const std::string_view item = rule.substr(0, rule.find(','));
    rule.remove_prefix(std::min(item.size() + 1, rule.size()));
    const std::size_t equals = item.rfind('=');
    Check(equals != std::string_view::npos, "`class_weights` must be 'balanced' or LABEL=WEIGHT,..., not {}",
          Quoted(item));
    const std::string_view label = item.substr(0, equals), number = item.substr(equals + 1);
    double weight = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), weight);
    Check(error == std::errc() && end == number.data() + number.size() && weight > 0 && std::isfinite(weight),
          "`class_weights`: the weight of {} must be a number above 0, not {}", Quoted(label), Quoted(number));
    const auto found = static_cast<std::size_t>(std::ranges::find(labels, label) - labels.begin());
    Check(found < labels.size(), "`class_weights`: {} is not one of the labels: {}", Quoted(label),
          fmt::join(labels.begin(), labels.begin() + std::min<std::ptrdiff_t>(10, std::ssize(labels)), ", "));
    Check(!named[found], "`class_weights`: {} has two weights", Quoted(label));
    named[found] = true;
    weights[found] = weight;
  }
  return weights;
}

}  // namespace

std::vector<double> ClassWeights(std::string_view rule, const std::vector<std::string>& labels,
                                 const std::vector<TextExample>& texts) {
  std::vector<double> counts(labels.size());
  double all = 0;
  for (const TextExample& text : texts)
    for (const std::int32_t label : text.labels)
      if (label >= 0) ++counts.at(static_cast<std::size_t>(label)), ++all;
  std::vector<double> weights = rule == "balanced" ? std::vector<double>(labels.size(), 1) : NamedWeights(rule, labels);
  if (rule == "balanced")
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (counts[i] > 0) weights[i] = 1 / counts[i];
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) sum += counts[i] * weights[i];
  for (double& weight : weights) weight *= all / sum;
  return weights;
}

}  // namespace headlight
