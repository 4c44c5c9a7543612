// A model's config.json described once: a family's Describe(table, config) gives each setting its key, its member and
// its rule, and that serves reading a file, writing one and checking a configuration that code has made.
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

inline constexpr std::int64_t kLargestSize = 1 << 24;  // of any dimension, vocabulary or table

// The name of an enumeration's value in a file. Of several names of one value the first is written.
template <typename Value>
struct ConfigName {
  std::string_view name;
  Value value;
};

// Dropout probabilities in the place of a configuration's own.
struct ChosenDropout {
  std::optional<double> all = {};        // of every part
  std::optional<double> attention = {};  // of attention weights, where they differ
};

class HEADLIGHT_API ConfigTable {
 public:
  enum class Pass { read, write, check, set_dropout };

  // A table that reads `json`, where a missing key leaves the member as it is; that writes; or that checks, with errors
  // that begin with `source` where there is one.
  explicit ConfigTable(const JsonView& json) : pass_(Pass::read), json_(json) {}
  explicit ConfigTable(Pass pass, std::string_view source = "");
  // A table that replaces the probabilities of dropout.
  explicit ConfigTable(const ChosenDropout& dropout) : ConfigTable(Pass::set_dropout) { dropout_ = dropout; }

  bool reads() const { return pass_ == Pass::read; }
  bool writes() const { return pass_ == Pass::write; }
  const JsonView& json() const { return json_; }  // of a table that reads

  // Settings. Each throws Error that names the key, or `name` where a configuration is checked, and the rule.
  // An integer from `least` to `most`, from 1 to kLargestSize, and from 1 to 1024.
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
  // Heads of equal width.
  void Heads(std::string_view key, std::int32_t& value, std::int64_t model,
             std::string_view name = "the number of heads");
  // A list of 1 to 16 integers from 1 to `most`, such as one for each stage of a network.
  void Integers(std::string_view key, std::vector<std::int64_t>& values, std::int64_t most);
  // The id of a word of the vocabulary.
  void Token(std::string_view key, std::int32_t& id, std::int64_t vocabulary);
  void Flag(std::string_view key, bool& value);
  void Probability(std::string_view key, double& value);  // of dropout: at least 0, below 1
  void Probability(std::string_view key, std::optional<double>& value);
  void Epsilon(std::string_view key, double& value);  // between 0 and 1
  void Number(std::string_view key, double& value, double least, double most);
  // One of several values that have names.
  template <typename Value>
  void Choice(std::string_view key, Value& value, std::span<const ConfigName<std::type_identity_t<Value>>> names);
  template <typename Value>
  void Choice(std::string_view key, Value& value,
              std::initializer_list<ConfigName<std::type_identity_t<Value>>> names) {
    Choice(key, value, std::span(names.begin(), names.size()));
  }
  // The value of this name.
  template <typename Value>
  static Value Named(const JsonView& given, std::span<const ConfigName<Value>> names);

  // A setting of which only one value is supported; it is not written. `why`: the meaning of other values, for errors.
  void Only(std::string_view key, const Json& value, std::string_view why = "");
  // Written for others, and not read.
  void Note(std::string_view key, Json value);
  // The value of a missing key, where it differs from the member's initial value.
  template <typename T>
  void Default(T& value, std::type_identity_t<T> meant) {
    if (reads()) value = std::move(meant);
  }
  // These keys may not be missing.
  void Require(std::initializer_list<std::string_view> keys) { required_.insert(keys.begin(), keys.end()); }
  /// Refuses keys that no model of Transformers knows, too: of a family that it does not have, or a part of one that it
  /// refuses them in.
  void RefuseUnknown() { refuses_unknown_ = true; }
  // Keys that are not read and change nothing of what the model computes.
  void Harmless(std::initializer_list<std::string_view> keys) { harmless_.insert(harmless_.end(), keys); }
  // A rule between settings, checked when all have been read.
  template <typename... Args>
  void Rule(bool kept, fmt::format_string<Args...> message, Args&&... args) const {
    if (pass_ == Pass::check && !kept) Fail("{}{}", source_, fmt::format(message, std::forward<Args>(args)...));
  }

  // Refuses every key that some model of Transformers knows and that was neither read nor is harmless here or in every
  // model that Transformers writes, since what it asks for would be missing from the result. The error lists them. Keys
  // that no model knows are the user's own, and are ignored unless RefuseUnknown was called.
  void RefuseUnread() const;
  bool has_attention_dropout() const { return has_attention_dropout_; }  // of a table that replaces probabilities
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
  std::string source_;  // a file's path and a colon, or nothing
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

/// Why a key of config.json that no family reads is ignored.
std::string_view ReasonToIgnoreKey(std::string_view key);

// Throws Error naming the hyperparameter and the rule where there can be no model of this configuration.
template <typename Config>
void CheckConfig(Config config, std::string_view source = "") {
  ConfigTable table(ConfigTable::Pass::check, source);
  Describe(table, config);
}

/// `config` after CheckConfig, for a member's initialisation.
template <typename Config>
const Config& Checked(const Config& config) {
  CheckConfig(config);
  return config;
}

// Reads a config.json into `config`, whose initial values stand for missing keys. Throws Error naming the file and
// the key for what is missing, of a wrong type or out of range, for settings that are not supported, and as
// CheckConfig. With `dropout` in the place of the file's.
template <typename Config>
void ReadConfig(const JsonView& json, Config& config, const ChosenDropout& dropout = {}) {
  ConfigTable table(json);
  Describe(table, config);
  table.RefuseUnread();
  if (dropout.all || dropout.attention) {
    ConfigTable chosen(dropout);
    Describe(chosen, config);
    Check(!dropout.attention || chosen.has_attention_dropout(),
          "{}: this model has one dropout for all its parts, and none of attention weights alone", json.place());
  }
  CheckConfig(config, json.place());
}

template <typename Config>
Json WriteConfig(Config config) {
  ConfigTable table(ConfigTable::Pass::write);
  Describe(table, config);
  return std::move(table).written();
}

}  // namespace headlight
