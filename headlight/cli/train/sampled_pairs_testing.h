// Writes parallel sentences from the demo's grammar, for tests of training.
#pragma once

#include <string>

#include "headlight/base/file.h"
#include "headlight/base/random.h"
#include "headlight/synthetic/grammar.h"

namespace headlight {

inline void WriteSampledPairs(const std::string& german_path, const std::string& english_path, int pairs) {
  Random random(11);
  std::string german, english;
  for (int i = 0; i < pairs; ++i) {
    const SentencePair pair = SampleSentence(random, Portion::training);
    german += pair.german + '\n';
    english += pair.english + '\n';
  }
  WriteFile(german_path, german);
  WriteFile(english_path, english);
}

}  // namespace headlight
