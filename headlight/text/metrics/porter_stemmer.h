// Porter's stemmer (Porter, "An algorithm for suffix stripping", 1980), with NLTK's modifications.
#pragma once

#include <string>

namespace headlight {

/// The stem of a word of lower-case ASCII letters and digits, as NLTK's PorterStemmer computes it by default. Words of
/// up to two letters are unchanged, some irregular ones are in a table, and a few rules differ from the paper (marked
/// NLTK in the code).
std::string PorterStem(std::string word);

}  // namespace headlight
