#include "headlight/demo/grammar.h"

#include <algorithm>

#include "headlight/base/hash.h"
#include "headlight/demo/grammar_tree.h"

namespace headlight {

SentencePair SampleSentence(Random& random) {
  const Sentence sentence = SampleTree(random);
  return {ToGerman(sentence), ToEnglish(sentence)};
}

Portion PortionOf(std::string_view german) {
  Hash64 hash;
  hash.Update(german);
  return hash.value() % 50 == 0 ? Portion::held_out : Portion::training;
}

SentencePair SampleSentence(Random& random, Portion portion) {
  while (true) {
    SentencePair pair = SampleSentence(random);
    if (PortionOf(pair.german) == portion) return pair;
  }
}

std::uint64_t CountSentences() {
  // How many there are of a noun in the singular, with an adjective or without.
  const auto phrases = [](Kinds kinds) {
    std::uint64_t count = 0;
    for (const Noun& noun : Nouns())
      if ((noun.kinds & kinds) != 0)
        count += 1 + static_cast<std::uint64_t>(std::ranges::count_if(
                         Adjectives(), [&](const Adjective& word) { return (word.kinds & noun.kinds) != 0; }));
    return count;
  };
  std::uint64_t count = 0;
  for (const Verb& verb : Verbs())
    if (verb.frame == Frame::accusative) count += phrases(verb.subject) * phrases(verb.object);
  return count;
}

}  // namespace headlight
