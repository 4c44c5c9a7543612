// T5's span corruption (Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text
// Transformer", 2020, section 3.1.4).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/train/objectives/corrupted_texts.h"

namespace headlight {

struct SpanOptions {
  double share = 0.15;                       // fraction of the tokens that are hidden, in spans
  double mean_length = 3;                    // mean length of a span
  std::vector<std::int32_t> sentinels = {};  // <extra_id_0>, <extra_id_1>, ...: one per span and one for the end
};

/// Returns a source-target pair. The source is the text with a sentinel in place of each span. The target contains each
/// span, preceded by its sentinel, and a final sentinel. At least one token is hidden. The spans are not adjacent, and
/// their positions are uniformly distributed.
HEADLIGHT_API SequenceExample HideSpans(std::span<const std::int32_t> text, const SpanOptions& spans, Random& random);

/// Trains the model to generate the spans. Only the ids of the texts are used. Throws Error for a text that does not
/// fit into the model's positions or needs more sentinels than the model has.
HEADLIGHT_API TrainingTask SpanCorruptionTask(EncoderDecoder& model, const TextSets& texts, const AroundTexts& around,
                                              const SpanOptions& spans, const TeacherForcingOptions& options);

}  // namespace headlight
