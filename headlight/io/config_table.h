// Description of a model's config.json. A family's Describe(table, config) gives each setting its key, member and rule.
// The same description is used to read files, to write them, and to check configurations from code.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/export.h"
#include "headlight/base/json.h"

namespace headlight {

inline constexpr std::int64_t kLargestSize = 1 << 24;  ///< upper bound of dimensions, vocabularies and tables

/// The name of an enumeration's value in a file. If a value has several names, the first one is written.
template <typename Value>
struct ConfigName {
  std::string_view name;
  Value value;
};

/// Overrides for the dropout probabilities of a configuration.
struct ChosenDropout {
  std::optional<double> all = {};        ///< for all layers
  std::optional<double> attention = {};  ///< for attention weights, if different
};

class HEADLIGHT_API ConfigTable {
 public:
  enum class Pass { read, write, check, set_dropout };

  /// Creates a table that reads `json` (a missing key leaves its member unchanged), writes, or checks. Errors of a
  /// check begin with `source` unless it is empty.
  explicit ConfigTable(const JsonView& json) : pass_(Pass::read), json_(json) {}
  explicit ConfigTable(Pass pass, std::string_view source = "");
  /// Creates a table that replaces dropout probabilities.
  explicit ConfigTable(const ChosenDropout& dropout) : ConfigTable(Pass::set_dropout) { dropout_ = dropout; }

  bool reads() const { return pass_ == Pass::read; }
  bool writes() const { return pass_ == Pass::write; }
  const JsonView& json() const { return json_; }  ///< only for a table that reads

  /// Describe settings. Each function throws Error with the rule and the key or, for checks, `name`. The first three
  /// describe integers from `least` to `most`, from 1 to kLargestSize, and from 1 to 1024.
  template <std::integral T>
  void Integer(std::string_view key, T& value, std::string_view name, std::int64_t least, std::int64_t most) {
    value = static_cast<T>(IntegerField(key, value, name, least, most));
  }
  template <std::integral T>
  void Size(std::string_view key, T& value, std::string_view name) {
    Integer(key, value, name, 1, kLargestSize);
  }
  void Layers(std::string_view key, int& value, std::string_view name = "the number of layers") {
    Integer(key, value, name, 1, 1024);
  }
  /// Describes a number of heads, which must divide the model dimension.
  void Heads(std::string_view key, std::int32_t& value, std::int64_t model,
             std::string_view name = "the number of heads");
  /// Describes a list of 1 to 16 integers from 1 to `most`, for example one per stage of a network.
  void Integers(std::string_view key, std::vector<std::int64_t>& values, std::int64_t most);
  /// Describes a token id, which must be in the vocabulary.
  void Token(std::string_view key, std::int32_t& id, std::int64_t vocabulary);
  void Flag(std::string_view key, bool& value);
  void Probability(std::string_view key, double& value);  ///< a dropout probability: at least 0, below 1
  void Probability(std::string_view key, std::optional<double>& value);
  void Epsilon(std::string_view key, double& value);  ///< between 0 and 1
  void Number(std::string_view key, double& value, double least, double most);
  /// Describes a setting that is one of several named values.
  template <typename Value>
  void Choice(std::string_view key, Value& value, std::span<const ConfigName<std::type_identity_t<Value>>> names);
  template <typename Value>
  void Choice(std::string_view key, Value& value,
              std::initializer_list<ConfigName<std::type_identity_t<Value>>> names) {
    Choice(key, value, std::span(names.begin(), names.size()));
  }
  /// Returns the value with the given name.
  template <typename Value>
  static Value Named(const JsonView& given, std::span<const ConfigName<Value>> names);

  /// Describes a setting with a single supported value, which is not written. `why` explains the error for other
  /// values.
  void Only(std::string_view key, const Json& value, std::string_view why = "");
  /// Writes a key that is never read.
  void Note(std::string_view key, Json value);
  /// Sets the default of a missing key, if the default differs from the member's initial value.
  template <typename T>
  void Default(T& value, std::type_identity_t<T> meant) {
    if (reads()) value = std::move(meant);
  }
  /// Makes these keys required.
  void Require(std::initializer_list<std::string_view> keys) { required_.insert(keys.begin(), keys.end()); }
  /// Also rejects keys that no model of Transformers has. Intended for families that Transformers lacks, and for parts
  /// of a config in which Transformers rejects such keys.
  void RefuseUnknown() { refuses_unknown_ = true; }
  /// Adds keys that are not read and do not change the model's outputs.
  void Harmless(std::initializer_list<std::string_view> keys) { harmless_.insert(harmless_.end(), keys); }
  /// Adds a rule about several settings. Rules are checked after all settings have been read.
  template <typename... Args>
  void Rule(bool kept, fmt::format_string<Args...> message, Args&&... args) const {
    if (pass_ == Pass::check && !kept) Fail("{}{}", source_, fmt::format(message, std::forward<Args>(args)...));
  }

  /// Throws Error listing unread keys that could change the result. These are keys of any model of Transformers,
  /// except harmless ones. Other keys are user-defined, and are ignored unless RefuseUnknown was called.
  void RefuseUnread() const;
  /// Returns true if there is an attention dropout probability. Only for a table that sets dropout probabilities.
  bool has_attention_dropout() const { return has_attention_dropout_; }
  Json written() && { return std::move(written_); }

 private:
  std::int64_t IntegerField(std::string_view key, std::int64_t value, std::string_view name, std::int64_t least,
                            std::int64_t most);
  JsonView Given(std::string_view key, Json fallback) const;
  [[noreturn]] static void RefuseName(const JsonView& given, const std::vector<std::string_view>& names);

  Pass pass_;
  ChosenDropout dropout_;
  bool has_attention_dropout_ = false, refuses_unknown_ = false;
  JsonView json_;
  std::string source_;  // a file's path and a colon, or empty
  Json written_ = Json::Object{};
  std::set<std::string_view> required_;
  std::vector<std::string_view> harmless_;
};

template <typename Value>
Value ConfigTable::Named(const JsonView& given, std::span<const ConfigName<Value>> names) {
  const auto found = std::ranges::find(names, given.String(), &ConfigName<Value>::name);
  std::vector<std::string_view> known;
  for (const ConfigName<Value>& one : names) known.push_back(one.name);
  if (found == names.end()) RefuseName(given, known);
  return found->value;
}

template <typename Value>
void ConfigTable::Choice(std::string_view key, Value& value,
                         std::span<const ConfigName<std::type_identity_t<Value>>> names) {
  const auto own = std::ranges::find(names, value, &ConfigName<Value>::value);
  Rule(own != names.end(), "{}: this value has no name in a configuration", key);
  const std::string_view name = own == names.end() ? "" : own->name;
  if (writes()) Note(key, name);
  if (!reads()) return;
  const JsonView given = Given(key, name);
  value = Named<Value>(given, names);
}

/// Returns the reason why a key of config.json that no family reads is ignored.
std::string_view ReasonToIgnoreKey(std::string_view key);

/// Throws Error naming the setting and the rule if the configuration is invalid.
template <typename Config>
void CheckConfig(Config config, std::string_view source = "") {
  ConfigTable table(ConfigTable::Pass::check, source);
  Describe(table, config);
}

/// Returns `config` after CheckConfig. Intended for member initializers.
template <typename Config>
const Config& Checked(const Config& config) {
  CheckConfig(config);
  return config;
}

/// Reads a config.json into `config`. Missing keys keep their initial values. Throws Error naming the file and the key
/// for missing or invalid values and unsupported settings. Also throws the errors of CheckConfig. `dropout` overrides
/// the file's probabilities.
template <typename Config>
void ReadConfig(const JsonView& json, Config& config, const ChosenDropout& dropout = {}) {
  ConfigTable table(json);
  Describe(table, config);
  table.RefuseUnread();
  if (dropout.all || dropout.attention) {
    ConfigTable chosen(dropout);
    Describe(chosen, config);
    Check(!dropout.attention || chosen.has_attention_dropout(),
          "{}: this model has a single dropout probability, not a separate one for attention weights", json.location());
  }
  CheckConfig(config, json.location());
}

template <typename Config>
Json WriteConfig(Config config) {
  ConfigTable table(ConfigTable::Pass::write);
  Describe(table, config);
  return std::move(table).written();
}

}  // namespace headlight
