// The encoding of data in pages, which their scripts read (page/common.js).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "headlight/base/json.h"

namespace headlight {

/// Weights from 0 to 1, two base 64 digits each; a run of weights near 0 takes two digits in total.
std::string PackWeights(std::span<const float> weights);

/// Numbers from `least` to `most`, two digits each, quantized to 4,094 steps with an exact middle.
std::string PackNumbers(std::span<const float> numbers, float least, float most);

/// Bytes, three per four digits, padded with zeros.
std::string PackBytes(std::span<const std::uint8_t> bytes);

/// The colours of weights from 0 to 1 by theme: {"light": ..., "dark": ...}, 256 with six hexadecimal digits each.
Json Ramps();

/// The page with this name (in page/), with each {{name}} replaced by the title, the data as JSON, or the file of page/
/// with that name.
std::string FillPage(std::string_view page, std::string_view title, const Json& data);

}  // namespace headlight
