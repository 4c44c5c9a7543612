// The form in which pages hold their data: text that scripts read (page/common.js).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "headlight/base/json.h"

namespace headlight {

// Weights from 0 to 1, two digits of base 64 each; a run of weights near 0 takes two in all.
std::string PackWeights(std::span<const float> weights);

// Numbers from `least` to `most` as two digits each, in 4,094ths of that range, whose middle is exact.
std::string PackNumbers(std::span<const float> numbers, float least, float most);

// Bytes, three in four digits; the last are filled up with zeros.
std::string PackBytes(std::span<const std::uint8_t> bytes);

// The colours of weights from 0 to 1 in the themes: {"light": ..., "dark": ...}, 256 of six hexadecimal digits each.
Json Ramps();

// The page of that name (of page/), with each {{name}} in it replaced: by the title, the data as JSON, or the file of
// page/ that bears it.
std::string FillPage(std::string_view page, std::string_view title, const Json& data);

}  // namespace headlight
