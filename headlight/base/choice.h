// Options with a fixed set of values.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/option_table.h"

namespace headlight {

/// Binds an option to a fixed set of values. `choices` lists the name of each value. The initial `value` is the
/// default. If it is an empty std::optional, there is no default.
template <typename Enum, typename Value>
Option& AddChoice(OptionTable& table, const char* name, Value& value,
                  const std::vector<std::pair<std::string, Enum>>& choices, std::string description) {
  std::vector<std::string> words;
  std::vector<Enum> values;
  std::optional<std::size_t> initial;
  for (const auto& [word, choice] : choices) {
    if (value == choice) initial = words.size();
    words.push_back(word);
    values.push_back(choice);
  }
  Option& option = table.AddChoice(
      name, words, initial, [&value, values = std::move(values)](std::size_t index) { value = values[index]; },
      std::move(description));
  if constexpr (std::is_same_v<Value, std::optional<Enum>>) option.HasValueIf([&value] { return value.has_value(); });
  return option;
}

}  // namespace headlight
