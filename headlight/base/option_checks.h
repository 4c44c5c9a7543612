// Checks of option values, used as in Add("--top", options.top, AtLeast(1), "..."). Numeric checks accept only a finite
// number within the bounds, without other characters.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

/// Returns "" if the value is allowed. Otherwise returns the requirement, which is appended to the option's name ("must
/// be at least 1, not 0").
using OptionCheck = std::function<std::string(const std::string& value)>;

/// Return checks for integers.
HEADLIGHT_API OptionCheck AtLeast(std::int64_t least);  ///< at most 2^31 - 1, the limit of all integer options
HEADLIGHT_API OptionCheck Between(std::int64_t least, std::int64_t most);
HEADLIGHT_API OptionCheck Seed();  ///< from 0 to 2^63 - 1

/// Return checks for real numbers.
HEADLIGHT_API OptionCheck NumberFrom(double least);
HEADLIGHT_API OptionCheck NumberFrom(double least, double most);
HEADLIGHT_API OptionCheck NumberAbove(double bound);
HEADLIGHT_API OptionCheck NumberAbove(double bound, double most);
HEADLIGHT_API OptionCheck NumberBelow(double least, double bound);  ///< at least `least` and less than `bound`
HEADLIGHT_API OptionCheck AnyNumber();

HEADLIGHT_API OptionCheck NotEmpty();
HEADLIGHT_API OptionCheck OneOf(const std::vector<std::string>& words);
/// Checks that a folder exists. Unlike the other checks, it throws Error itself, because the message begins with the
/// folder.
HEADLIGHT_API OptionCheck ExistingFolder();
/// Checks that a model, which is a folder or a GGUF file, exists. Like ExistingFolder, throws Error itself.
HEADLIGHT_API OptionCheck ExistingModel();

/// Parse the whole text as a decimal integer or number, without a plus sign or spaces. Return nullopt if this fails.
HEADLIGHT_API std::optional<std::int64_t> IntegerOf(std::string_view text);
HEADLIGHT_API std::optional<double> NumberOf(std::string_view text);

/// Returns the words as a list: "a, b or c".
HEADLIGHT_API std::string Alternatives(const std::vector<std::string>& words);

}  // namespace headlight
