// Checks of the values that options are given, as in ->check(AtLeast(1)). Each refuses what is not wholly a finite
// number within its bounds, in words that follow the option's name: "must be at least 1, not 0".
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace headlight {

// Whole numbers.
CLI::Validator AtLeast(
    std::int64_t least);  // and at most 2^31 - 1, which fits every integer that an option is read into
CLI::Validator Between(std::int64_t least, std::int64_t most);
CLI::Validator Seed();  // from 0 to 2^63 - 1

// Numbers of any kind.
CLI::Validator NumberFrom(double least);
CLI::Validator NumberFrom(double least, double most);
CLI::Validator NumberAbove(double bound);
CLI::Validator NumberAbove(double bound, double most);
CLI::Validator NumberBelow(double least, double bound);  // from `least`, and below `bound`
CLI::Validator AnyNumber();

CLI::Validator NotEmpty();
CLI::Validator OneOf(const std::vector<std::string>& words);
// The only one that throws Error itself, since its message begins with the folder.
CLI::Validator Folder();

// Adds an option of one number, shown as N where it is a whole one and else as X.
template <typename Value>
CLI::Option* AddNumber(CLI::App& command, const std::string& name, Value& value, const CLI::Validator& check,
                       const std::string& description) {
  using Number = std::remove_cvref_t<decltype(*std::optional(value))>;  // of a std::optional what it may hold
  return command.add_option(name, value, description)
      ->check(check)
      ->type_name(std::is_floating_point_v<Number> ? "X" : "N");
}

// Adds an option that names a file, or several.
template <typename Value>
CLI::Option* AddFile(CLI::App& command, const std::string& name, Value& value, const std::string& description,
                     const std::string& type = "FILE") {
  return command.add_option(name, value, description)->check(NotEmpty())->type_name(type);
}

// Adds the argument DIR, which is required.
CLI::Option* AddFolder(CLI::App& command, std::string& folder, const std::string& description);

// "a, b or c"
std::string Alternatives(const std::vector<std::string>& words);

}  // namespace headlight
