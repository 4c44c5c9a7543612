// Checks of the values that options are given, as in Add("--top", options.top, AtLeast(1), "..."). Those of numbers
// refuse what is not wholly a finite number within their bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/option_table.h"

namespace headlight {

// Integers.
OptionCheck AtLeast(std::int64_t least);  // and at most 2^31 - 1, which fits every integer that an option sets
OptionCheck Between(std::int64_t least, std::int64_t most);
OptionCheck Seed();  // from 0 to 2^63 - 1

// Numbers of any kind.
OptionCheck NumberFrom(double least);
OptionCheck NumberFrom(double least, double most);
OptionCheck NumberAbove(double bound);
OptionCheck NumberAbove(double bound, double most);
OptionCheck NumberBelow(double least, double bound);  // from `least`, and below `bound`
OptionCheck AnyNumber();

OptionCheck NotEmpty();
OptionCheck OneOf(const std::vector<std::string>& words);
// The only one that throws Error itself, since its message begins with the folder.
OptionCheck ExistingFolder();

// The whole text as an integer or a number, without a sign +, spaces or another base.
std::optional<std::int64_t> IntegerOf(std::string_view text);
std::optional<double> NumberOf(std::string_view text);

// "a, b or c"
std::string Alternatives(const std::vector<std::string>& words);

}  // namespace headlight
