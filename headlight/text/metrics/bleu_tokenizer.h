// The tokenizations of sacreBLEU: how BLEU divides a line into words.
//   const BleuTokenizer tokenizer = MakeBleuTokenizer("zh");
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

struct BleuTokenizer {
  std::string name;                                                 ///< in a signature, such as "13a"
  std::function<std::vector<std::string>(std::string_view)> words;  ///< of a line in UTF-8, without a newline
};

/// The names that MakeBleuTokenizer knows.
inline constexpr const char* kBleuTokenizations[] = {"13a", "zh", "intl", "char", "none"};

/// - `13a`: the rules of mteval-v13a.pl, for languages with spaces between words;
/// - `zh`: Chinese characters and marks stand alone, and the rest follows those rules;
/// - `intl`: the rules of mteval-v14.pl: Unicode's punctuation and symbols stand alone, except in numbers;
/// - `char`: each character is a word;
/// - `none`: words are between spaces.
/// Throws Error for another name.
HEADLIGHT_API BleuTokenizer MakeBleuTokenizer(std::string_view name);

/// The pieces that a model of subwords divides a line into, as in spBLEU (Goyal et al., "The Flores-101 Evaluation
/// Benchmark", 2022). White space within a piece divides it.
HEADLIGHT_API BleuTokenizer MakeBleuTokenizer(std::string name,
                                              std::function<std::vector<std::string>(std::string_view)> pieces);

}  // namespace headlight
