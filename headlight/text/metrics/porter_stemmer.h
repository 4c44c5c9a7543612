// Porter's stemmer (Porter, "An algorithm for suffix stripping", 1980), with the changes that NLTK makes to it.
#pragma once

#include <string>

namespace headlight {

// The stem of a word of lower-case ASCII letters and digits, as NLTK's PorterStemmer has it by default: words of up to
// two letters stay, some irregular ones are looked up, and a few rules differ from the paper's (marked NLTK in the
// code).
std::string PorterStem(std::string word);

}  // namespace headlight
