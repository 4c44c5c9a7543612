#include "headlight/synthetic/grammar.h"

#include "headlight/base/hash.h"
#include "headlight/synthetic/grammar_tree.h"

namespace headlight {

SentencePair SampleSentence(Random& random) {
  const Sentence sentence = SampleTree(random);
  return {ToGerman(sentence), ToEnglish(sentence)};
}

Portion PortionOf(std::string_view german) { return HashOf(german) % 50 == 0 ? Portion::held_out : Portion::training; }

SentencePair SampleSentence(Random& random, Portion portion) {
  while (true) {
    SentencePair pair = SampleSentence(random);
    if (PortionOf(pair.german) == portion) return pair;
  }
}

}  // namespace headlight
