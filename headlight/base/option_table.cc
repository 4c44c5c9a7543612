#include "headlight/base/option_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <typename T>
T Parsed(const std::string& text) {
  if constexpr (std::is_same_v<T, std::string>) {
    return text;
  } else {
    T number{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    Check(error == std::errc() && stop == end, "{} is not {}", text, std::is_integral_v<T> ? "an integer" : "a number");
    return number;
  }
}

template <typename T>
std::string Shown(const T& value) {
  if constexpr (std::is_floating_point_v<T>)
    return fmt::format("{:g}", value);
  else
    return fmt::format("{}", value);
}

template <typename T>
std::string TypeOf() {
  return std::is_integral_v<T> ? "N" : std::is_floating_point_v<T> ? "X" : "TEXT";
}

template <typename T>
void BindOne(OptionTarget& target, T& value) {
  if constexpr (IsOptional<T>::value) {
    using Held = typename T::value_type;
    target.set = [&value](const std::vector<std::string>& texts) { value = Parsed<Held>(texts.back()); };
    target.type = TypeOf<Held>();
    target.is_set = [&value] { return value.has_value(); };
    if (value) target.shown = Shown(*value);
  } else {
    target.set = [&value](const std::vector<std::string>& texts) { value = Parsed<T>(texts.back()); };
    target.type = TypeOf<T>();
    target.shown = Shown(value);
    if constexpr (std::is_same_v<T, std::string>) target.is_set = [&value] { return !value.empty(); };
  }
}

template <typename T>
void BindMany(OptionTarget& target, std::vector<T>& values) {
  target.set = [&values](const std::vector<std::string>& texts) {
    values.clear();
    for (const std::string& text : texts) values.push_back(Parsed<T>(text));
  };
  target.type = TypeOf<T>();
  target.is_set = [&values] { return !values.empty(); };
  target.most_values = OptionTarget::kMany;
}

}  // namespace

OptionTarget::OptionTarget(bool& value)
    : set([&value](const std::vector<std::string>&) { value = true; }),
      is_set([&value] { return value; }),
      most_values(0) {}
OptionTarget::OptionTarget(std::int32_t& value) { BindOne(*this, value); }
OptionTarget::OptionTarget(std::int64_t& value) { BindOne(*this, value); }
OptionTarget::OptionTarget(std::uint64_t& value) { BindOne(*this, value); }
OptionTarget::OptionTarget(float& value) { BindOne(*this, value); }
OptionTarget::OptionTarget(double& value) { BindOne(*this, value); }
OptionTarget::OptionTarget(std::string& value) { BindOne(*this, value); }
OptionTarget::OptionTarget(std::optional<std::int32_t>& value) { BindOne(*this, value); }
OptionTarget::OptionTarget(std::optional<std::int64_t>& value) { BindOne(*this, value); }
OptionTarget::OptionTarget(std::optional<std::uint64_t>& value) { BindOne(*this, value); }
OptionTarget::OptionTarget(std::optional<float>& value) { BindOne(*this, value); }
OptionTarget::OptionTarget(std::optional<double>& value) { BindOne(*this, value); }
OptionTarget::OptionTarget(std::optional<std::string>& value) { BindOne(*this, value); }
OptionTarget::OptionTarget(std::vector<std::int64_t>& values) { BindMany(*this, values); }
OptionTarget::OptionTarget(std::vector<std::string>& values) { BindMany(*this, values); }
OptionTarget::OptionTarget(std::function<void(const std::vector<std::string>&)> set_values, int most)
    : set(std::move(set_values)), type(most == 0 ? "" : "TEXT"), most_values(most) {}

Option::Option(std::string_view names, OptionTarget target, std::string description)
    : target_(std::move(target)), description_(std::move(description)), least_values_(is_flag() ? 0 : 1) {
  while (!names.empty()) {
    const std::size_t comma = std::min(names.find(','), names.size());
    names_.emplace_back(names.substr(0, comma));
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
}

Option& Option::Required() {
  required_ = true;
  return *this;
}
Option& Option::Type(std::string name) {
  target_.type = std::move(name);
  return *this;
}
Option& Option::Check(OptionCheck check) {
  checks_.push_back(std::move(check));
  return *this;
}
Option& Option::Model(OptionCheck check) {
  is_model_ = true;
  return Check(std::move(check));
}
Option& Option::Group(std::string title) {
  group_ = std::move(title);
  return *this;
}
Option& Option::Describe(std::string text) {
  description_ = std::move(text);
  return *this;
}
Option& Option::Default(std::string text) {
  default_ = std::move(text);
  return *this;
}
Option& Option::ShowDefault() { return Default(target_.shown); }
Option& Option::Values(int count) {
  least_values_ = target_.most_values = count;
  return *this;
}
Option& Option::OneAtATime() {
  one_at_a_time_ = true;
  return *this;
}
Option& Option::Delimiter(char delimiter) {
  delimiter_ = delimiter;
  return *this;
}
Option& Option::Excludes(Option& other) {
  excluded_.push_back(&other);
  other.excluded_.push_back(this);
  return *this;
}
Option& Option::StopExcluding(Option& other) {
  std::erase(excluded_, &other);
  std::erase(other.excluded_, this);
  return *this;
}
Option& Option::Needs(const Option& other) {
  needed_.push_back(&other);
  return *this;
}

Option& Option::HasValueIf(std::function<bool()> is_set) {
  target_.is_set = std::move(is_set);
  return *this;
}

bool Option::has_value() const {
  Ensure(target_.is_set != nullptr, "the variable of {} always has a value", name());
  return target_.is_set();
}

void Option::Give(const std::vector<std::string>& values) {
  given_ = true;
  if (delimiter_ == '\0') return target_.set(values);
  std::vector<std::string> parts;
  for (const std::string& value : values) {
    std::istringstream text(value);
    for (std::string part; std::getline(text, part, delimiter_);) parts.push_back(part);
  }
  target_.set(parts);
}

Option& OptionTable::Add(std::string_view names, OptionTarget target, std::string description) {
  options_.push_back(std::make_unique<Option>(names, std::move(target), std::move(description)));
  return *options_.back();
}

Option& OptionTable::Add(std::string_view names, OptionTarget target, OptionCheck check, std::string description) {
  return Add(names, std::move(target), std::move(description)).Check(std::move(check));
}

Option& OptionTable::AddFile(std::string_view names, OptionTarget target, std::string description, std::string type) {
  return Add(names, std::move(target), NotEmpty(), std::move(description)).Type(std::move(type));
}

Option& OptionTable::AddFunction(std::string_view names, std::function<void(const std::string&)> set,
                                 std::string description) {
  const auto set_last = [set = std::move(set)](const std::vector<std::string>& values) { set(values.back()); };
  return Add(names, OptionTarget(set_last, 1), std::move(description));
}

Option& OptionTable::AddFlag(std::string_view names, std::function<void()> set, std::string description) {
  return Add(names, OptionTarget([set = std::move(set)](const std::vector<std::string>&) { set(); }, 0),
             std::move(description));
}

Option& OptionTable::AddChoice(std::string_view names, const std::vector<std::string>& words,
                               std::optional<std::size_t> initial, std::function<void(std::size_t)> set,
                               std::string description) {
  const auto set_word = [words, set = std::move(set)](const std::vector<std::string>& values) {
    const auto found = std::ranges::find(words, values.back());
    Ensure(found != words.end(), "{} is none of the option's words", values.back());
    set(static_cast<std::size_t>(found - words.begin()));
  };
  std::string type;
  for (const std::string& word : words) type += (type.empty() ? "" : "|") + word;
  return Add(names, OptionTarget(set_word, 1), OneOf(words), std::move(description))
      .Type(std::move(type))
      .Default(initial ? words[*initial] : "");
}

Option* OptionTable::Find(std::string_view name) {
  const auto found = std::ranges::find_if(
      options_, [&](const auto& option) { return std::ranges::find(option->names(), name) != option->names().end(); });
  return found == options_.end() ? nullptr : found->get();
}
const Option* OptionTable::Find(std::string_view name) const { return const_cast<OptionTable*>(this)->Find(name); }

Option& OptionTable::Get(std::string_view name) {
  Option* const option = Find(name);
  Ensure(option != nullptr, "there is no option {}", name);
  return *option;
}
const Option& OptionTable::Get(std::string_view name) const { return const_cast<OptionTable*>(this)->Get(name); }

void OptionTable::Remove(std::string_view name) {
  Option* const removed = &Get(name);
  for (const auto& option : options_) option->StopExcluding(*removed);
  std::erase_if(options_, [&](const auto& option) { return option.get() == removed; });
}

}  // namespace headlight
