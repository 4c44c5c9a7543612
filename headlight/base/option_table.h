// A description of options, each given once: it serves the command line, files of options, help and completion.
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

/// The variable that an option sets. It must outlive the option's table.
class HEADLIGHT_API OptionTarget {
 public:
  OptionTarget(bool& value);  // a flag: it takes no value, and sets `true`
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
  OptionTarget(std::vector<std::int64_t>& values);  // one or more values
  OptionTarget(std::vector<std::string>& values);
  /// No variable: `set` gets the values, of which there are at most `most_values`; 0 makes a flag, kMany no limit.
  OptionTarget(std::function<void(const std::vector<std::string>& values)> set, int most_values);

  static constexpr int kMany = 1 << 20;

  std::function<void(const std::vector<std::string>& values)> set;  // throws Error for what is no such value
  std::function<bool()> is_set;  // whether the variable has a value; empty for one that always has
  std::string shown;             // the variable's value when the target is made; "" if it has none
  std::string type;              // how help shows a value: N (integer), X (real number), TEXT, or "" for a flag
  int most_values = 1;
};

/// One option or positional argument. The functions return the option itself, so that calls can be chained.
class HEADLIGHT_API Option {
 public:
  /// `names`: "--top", or several with commas between them, or an argument's name without dashes.
  Option(std::string_view names, OptionTarget target, std::string description);
  Option(const Option&) = delete;

  Option& Required();
  Option& Type(std::string name);                       // how help shows a value, such as N, FILE or a|b
  Option& Check(OptionCheck check);                     // of each value
  Option& Model(OptionCheck check = ExistingModel());   // a model; front ends may take its name for it
  Option& Group(std::string title);                     // the heading in help; "" hides the option
  Option& Describe(std::string text);                   // replaces the description
  Option& Default(std::string text);                    // help shows it in brackets
  Option& ShowDefault();                                // Default() of the variable's value
  Option& Values(int count);                            // exactly as many values
  Option& OneAtATime();                                 // a value for each time it is given
  Option& Delimiter(char delimiter);                    // divides a value into several
  Option& Excludes(Option& other);                      // in both directions
  Option& StopExcluding(Option& other);                 // undoes Excludes()
  Option& Needs(const Option& other);
  Option& HasValueIf(std::function<bool()> is_set);  // tells whether the variable has a value

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

  /// Sets the variable. Throws Error for values that the option's type cannot hold; does not call the checks.
  void Give(const std::vector<std::string>& values);
  bool given() const { return given_; }
  /// Whether the variable has a value. It must be one that can be empty, such as a std::optional or a std::string.
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

/// The options of a command, in the order in which help shows them.
class HEADLIGHT_API OptionTable {
 public:
  Option& Add(std::string_view names, OptionTarget target, std::string description);
  Option& Add(std::string_view names, OptionTarget target, OptionCheck check, std::string description);
  /// A file, or several, shown as `type`; the name must not be empty.
  Option& AddFile(std::string_view names, OptionTarget target, std::string description, std::string type = "FILE");
  /// An option of one value, which `set` gets.
  Option& AddFunction(std::string_view names, std::function<void(const std::string& value)> set,
                      std::string description);
  /// A flag that calls `set`.
  Option& AddFlag(std::string_view names, std::function<void()> set, std::string description);
  /// One of `words`; `set` gets its index. `initial`: the index of the default, if there is one.
  Option& AddChoice(std::string_view names, const std::vector<std::string>& words, std::optional<std::size_t> initial,
                    std::function<void(std::size_t index)> set, std::string description);

  /// By a name, such as "--top" or "FILE": null if there is none.
  Option* Find(std::string_view name);
  const Option* Find(std::string_view name) const;
  /// The same; a missing one is an internal error.
  Option& Get(std::string_view name);
  const Option& Get(std::string_view name) const;
  void Remove(std::string_view name);
  bool Given(std::string_view name) const { return Get(name).given(); }

  const std::vector<std::unique_ptr<Option>>& options() const { return options_; }

 private:
  std::vector<std::unique_ptr<Option>> options_;
};

}  // namespace headlight
