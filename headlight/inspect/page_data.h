// The encoding of data in pages, which their scripts read (page/common.js).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "headlight/base/json.h"

namespace headlight {

/// Encodes weights from 0 to 1 as two base 64 digits each. A run of weights near 0 takes two digits in total.
std::string PackWeights(std::span<const float> weights);

/// Encodes values from `least` to `most` as two digits each. The values are quantized to 4,094 steps, and the middle is
/// exact.
std::string PackNumbers(std::span<const float> numbers, float least, float most);

/// Encodes bytes, three per four digits, padded with zeros.
std::string PackBytes(std::span<const std::uint8_t> bytes);

/// Returns 256 colors of weights from 0 to 1 for each theme, {"light": ..., "dark": ...}, as six hexadecimal digits
/// each.
Json Ramps();

/// Returns the page with this name in page/. Each {{name}} is replaced by the title, the data as JSON, or a file of
/// page/.
std::string FillPage(std::string_view page, std::string_view title, const Json& data);

}  // namespace headlight
