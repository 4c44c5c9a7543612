// A grammar that generates German sentences with English translations, to train and evaluate translation models without
// downloads.
//
// Every generated German sentence has exactly one English translation. The German present tense corresponds to three
// English forms. The adverbs "gerade", "jetzt" and "heute" select the progressive, and "morgen" and similar words
// select "will". Without an adverb, the simple present is used. The German perfect is translated as the English past,
// except with "schon" and "noch nicht". The polite "Sie" is not used.
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

/// The sentences for training or for evaluation. One sentence in fifty, selected by a hash of the German text, is held
/// out.
enum class Portion { training, held_out };
Portion PortionOf(std::string_view german);
SentencePair SampleSentence(Random& random, Portion portion);

}  // namespace headlight
