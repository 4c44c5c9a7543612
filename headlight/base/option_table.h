// Describes options for the command line, option files, help and completion.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/option_checks.h"

namespace headlight {

/// The variable that an option sets. The variable must outlive the option's table.
class HEADLIGHT_API OptionTarget {
 public:
  OptionTarget(bool& value);  ///< a flag: takes no value and sets `true`
  OptionTarget(std::int32_t& value);
  OptionTarget(std::int64_t& value);
  OptionTarget(std::uint64_t& value);
  OptionTarget(float& value);
  OptionTarget(double& value);
  OptionTarget(std::string& value);
  OptionTarget(std::optional<std::int32_t>& value);
  OptionTarget(std::optional<std::int64_t>& value);
  OptionTarget(std::optional<std::uint64_t>& value);
  OptionTarget(std::optional<float>& value);
  OptionTarget(std::optional<double>& value);
  OptionTarget(std::optional<std::string>& value);
  OptionTarget(std::vector<std::int64_t>& values);  ///< one or more values
  OptionTarget(std::vector<std::string>& values);
  /// Makes an option without a variable. The option calls `set` with at most `most_values` values. 0 makes a flag, and
  /// kMany means no limit.
  OptionTarget(std::function<void(const std::vector<std::string>& values)> set, int most_values);

  static constexpr int kMany = 1 << 20;

  std::function<void(const std::vector<std::string>& values)> set;  ///< throws Error for an invalid value
  std::function<bool()> is_set;  ///< returns true if the variable has a value; empty if it always has one
  std::string shown;             ///< the variable's initial value, or "" if it has none
  std::string type;              ///< how help shows a value: N (integer), X (real number), TEXT, or "" for a flag
  int most_values = 1;
};

/// One option or positional argument. Member functions return the option itself, so that calls can be chained.
class HEADLIGHT_API Option {
 public:
  /// `names` is "--top-k", several names separated by commas, or an argument's name without dashes. All front ends use
  /// this name: as a flag, or without its first dashes as a key of an option file. Messages of the library name the
  /// variable instead, as in "`top_k` must be ...", and front ends replace it with their own name.
  Option(std::string_view names, OptionTarget target, std::string description);
  Option(const Option&) = delete;

  Option& Required();
  Option& Type(std::string name);      ///< how help shows a value, such as N, FILE or a|b
  Option& Check(OptionCheck check);    ///< applied to each value
  Option& Group(std::string title);    ///< the heading in help; "" hides the option
  Option& Describe(std::string text);  ///< replaces the description
  Option& Default(std::string text);   ///< the default shown in brackets in help
  Option& ShowDefault();               ///< calls Default() with the variable's value
  Option& Values(int count);           ///< requires exactly this many values
  Option& OneAtATime();                ///< allows one value per occurrence
  Option& Delimiter(char delimiter);   ///< separator of several values
  /// Declares that the value is a model's folder or file. Front ends may accept the name of a downloaded model instead.
  Option& Model(OptionCheck check = ExistingModel());
  Option& Excludes(Option& other);       ///< the two options exclude each other
  Option& StopExcluding(Option& other);  ///< undoes Excludes()
  Option& Needs(const Option& other);
  Option& HasValueIf(
      std::function<bool()> is_set);  ///< sets the function that returns true if the variable has a value

  const std::vector<std::string>& names() const { return names_; }
  const std::string& name() const { return names_.front(); }
  bool is_argument() const { return !name().starts_with('-'); }
  bool is_flag() const { return target_.most_values == 0; }
  bool takes_many() const { return target_.most_values == OptionTarget::kMany; }
  bool one_at_a_time() const { return one_at_a_time_; }
  int least_values() const { return least_values_; }
  int most_values() const { return target_.most_values; }
  bool is_model() const { return is_model_; }
  bool required() const { return required_; }
  char delimiter() const { return delimiter_; }
  const std::string& type() const { return target_.type; }
  const std::string& group() const { return group_; }
  const std::string& description() const { return description_; }
  const std::string& default_text() const { return default_; }
  const std::vector<OptionCheck>& checks() const { return checks_; }
  const std::vector<const Option*>& excluded() const { return excluded_; }
  const std::vector<const Option*>& needed() const { return needed_; }

  /// Sets the variable. Throws Error for values that do not fit its type. Does not call the checks.
  void Give(const std::vector<std::string>& values);
  bool given() const { return given_; }
  /// Returns true if the variable has a value. Only for variables that can be empty, such as a std::optional or a
  /// std::string.
  bool has_value() const;

 private:
  std::vector<std::string> names_;
  OptionTarget target_;
  std::string description_, group_ = "Options", default_;
  std::vector<OptionCheck> checks_;
  std::vector<const Option*> excluded_, needed_;
  int least_values_ = 1;
  char delimiter_ = '\0';
  bool required_ = false, is_model_ = false, one_at_a_time_ = false, given_ = false;
};

/// The options of a command, in the order in which help lists them.
class HEADLIGHT_API OptionTable {
 public:
  Option& Add(std::string_view names, OptionTarget target, std::string description);
  Option& Add(std::string_view names, OptionTarget target, OptionCheck check, std::string description);
  /// Adds an option for one or several files, shown as `type` in help. The name must not be empty.
  Option& AddFile(std::string_view names, OptionTarget target, std::string description, std::string type = "FILE");
  /// Adds an option with one value, which is passed to `set`.
  Option& AddFunction(std::string_view names, std::function<void(const std::string& value)> set,
                      std::string description);
  /// Adds a flag that calls `set`.
  Option& AddFlag(std::string_view names, std::function<void()> set, std::string description);
  /// Adds an option whose value is one of `words`. `set` receives the index of the value. `initial` is the index of the
  /// default, if there is one.
  Option& AddChoice(std::string_view names, const std::vector<std::string>& words, std::optional<std::size_t> initial,
                    std::function<void(std::size_t index)> set, std::string description);

  /// Finds an option by name, such as "--top" or "FILE". Returns null if there is none.
  Option* Find(std::string_view name);
  const Option* Find(std::string_view name) const;
  /// Finds an option by name. A missing option is an internal error.
  Option& Get(std::string_view name);
  const Option& Get(std::string_view name) const;
  void Remove(std::string_view name);
  bool Given(std::string_view name) const { return Get(name).given(); }

  const std::vector<std::unique_ptr<Option>>& options() const { return options_; }

 private:
  std::vector<std::unique_ptr<Option>> options_;
};

}  // namespace headlight
