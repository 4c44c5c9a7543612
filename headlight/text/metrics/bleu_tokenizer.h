// The tokenizations of sacreBLEU, which divide a line into words for BLEU.
//   const BleuTokenizer tokenizer = MakeBleuTokenizer("zh");
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

struct BleuTokenizer {
  std::string name;                                                 ///< the name in a signature, such as "13a"
  std::function<std::vector<std::string>(std::string_view)> words;  ///< splits a UTF-8 line without a newline
};

/// The names that MakeBleuTokenizer accepts.
inline constexpr const char* kBleuTokenizations[] = {"13a", "zh", "intl", "char", "none"};

/// Returns a tokenization by its name:
/// - `13a`: the rules of mteval-v13a.pl, for languages with spaces between words;
/// - `zh`: Chinese characters and marks are separate words, and the rest follows the rules of `13a`;
/// - `intl`: the rules of mteval-v14.pl: Unicode punctuation and symbols are separate words, except in numbers;
/// - `char`: each character is a word;
/// - `none`: splits at spaces.
/// Throws Error for any other name.
HEADLIGHT_API BleuTokenizer MakeBleuTokenizer(std::string_view name);

/// Returns a tokenization whose words are the pieces of a subword model, as in spBLEU (Goyal et al., "The Flores-101
/// Evaluation Benchmark", 2022). Pieces are also split at white space.
HEADLIGHT_API BleuTokenizer MakeBleuTokenizer(std::string name,
                                              std::function<std::vector<std::string>(std::string_view)> pieces);

}  // namespace headlight
