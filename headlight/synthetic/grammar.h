// A grammar that writes German sentences with their English translations, so that a Transformer can be trained and
// judged without any download.
//
// German has one present tense where English has two and a future: "gerade", "jetzt" and "heute" ask for the English
// progressive, "morgen" and the like for "will", and without them a present is the simple present. The perfect is the
// English past, but for "schon" and "noch nicht". There is no polite "Sie". So every German sentence that is written
// has exactly one English one.
#pragma once

#include <string>
#include <string_view>

#include "headlight/base/random.h"

namespace headlight {

struct SentencePair {
  std::string german, english;
};

// A random sentence.
SentencePair SampleSentence(Random& random);

// One sentence in fifty, by a hash of the German, is never for training.
enum class Portion { training, held_out };
Portion PortionOf(std::string_view german);
SentencePair SampleSentence(Random& random, Portion portion);

}  // namespace headlight
