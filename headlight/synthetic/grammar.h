// A grammar that generates German sentences with English translations, so that a translation model can be trained and
// evaluated without downloads.
//
// Every generated German sentence has exactly one English translation. German has one present tense, but English three
// forms: "gerade", "jetzt" and "heute" select the progressive, "morgen" and similar words "will", and without them it
// is the simple present. The German perfect is the English past, except with "schon" and "noch nicht". The polite "Sie"
// is not used.
#pragma once

#include <string>
#include <string_view>

#include "headlight/base/random.h"

namespace headlight {

struct SentencePair {
  std::string german, english;
};

/// Generates a random sentence.
SentencePair SampleSentence(Random& random);

/// One sentence in fifty, selected by a hash of the German text, is held out from training.
enum class Portion { training, held_out };
Portion PortionOf(std::string_view german);
SentencePair SampleSentence(Random& random, Portion portion);

}  // namespace headlight
