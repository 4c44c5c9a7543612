#include "headlight/data/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <tuple>

#include "headlight/base/error.h"
#include "headlight/base/option_checks.h"

namespace headlight {
namespace {

std::optional<std::int64_t> IntegerLabel(std::string_view label) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), value);
  if (error != std::errc() || end != label.data() + label.size()) return std::nullopt;
  return value;
}

bool IsInteger(std::string_view label) { return IntegerLabel(label).has_value(); }

// Returns a hint that suggests a known label instead of an unknown one.
std::string HintFor(std::string_view label, const std::vector<std::string>& labels) {
  if (label.find('.') != label.npos && NumberOf(label))
    return "; numbers are the labels of a model with the problem_type regression";
  const std::string_view first = label.substr(0, label.find(','));
  if (first.size() < label.size() && std::ranges::find(labels, first) != labels.end())
    return "; a text has several labels if the model's problem_type is multi_label_classification";
  return "";
}

}  // namespace

std::int32_t NumberOfLabel(std::string_view label, std::vector<std::string>& labels, NewLabels rule,
                           const std::string& location) {
  auto found = std::ranges::find(labels, label);
  if (found != labels.end()) return static_cast<std::int32_t>(found - labels.begin());
  if (rule == NewLabels::refused_but_numbers)
    if (const auto number = IntegerLabel(label);
        number && *number >= 0 && *number < std::ssize(labels) && std::ranges::none_of(labels, IsInteger))
      return static_cast<std::int32_t>(*number);
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  Check(!label.empty() && std::ranges::none_of(label, control),
        "{}: a label must have a name, without control characters", location);
  constexpr std::ptrdiff_t shown = 10;
  constexpr std::size_t most = 1 << 14;
  const auto some = labels.begin() + std::min(std::ssize(labels), shown);
  Check(rule == NewLabels::added, "{}: '{}' is not one of the known labels: {}{}{}", location, label,
        fmt::join(labels.begin(), some, ", "), some == labels.end() ? "" : ", ...", HintFor(label, labels));
  Check(labels.size() < most, "{}: more than {} different labels", location, most);
  labels.emplace_back(label);
  return static_cast<std::int32_t>(labels.size() - 1);
}

std::vector<std::int32_t> SortLabels(std::vector<std::string>& labels) {
  const bool integers = std::ranges::all_of(labels, IsInteger);
  const auto rank = [&](const std::string& label) {
    return std::tuple(integers ? *IntegerLabel(label) : 0, std::string_view(label));
  };
  std::vector<std::int32_t> order(labels.size()), numbers(labels.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::int32_t old) { return rank(labels[static_cast<std::size_t>(old)]); });
  std::vector<std::string> sorted;
  for (const std::int32_t old : order) {
    numbers[static_cast<std::size_t>(old)] = static_cast<std::int32_t>(sorted.size());
    sorted.push_back(labels[static_cast<std::size_t>(old)]);
  }
  labels = std::move(sorted);
  return numbers;
}

void Renumber(const std::vector<std::int32_t>& numbers, std::vector<std::int32_t>& labels) {
  for (std::int32_t& label : labels)
    if (label >= 0) label = numbers[static_cast<std::size_t>(label)];
}

}  // namespace headlight
