// Porter's stemmer (Porter, "An algorithm for suffix stripping", 1980), with NLTK's modifications.
#pragma once

#include <string>

namespace headlight {

/// Returns the stem of a word of lower-case ASCII letters and digits, as NLTK's PorterStemmer computes it by default.
/// Words of up to two letters are unchanged. Some irregular words are in a table. A few rules differ from the paper,
/// and are marked NLTK in the code.
std::string PorterStem(std::string word);

}  // namespace headlight
