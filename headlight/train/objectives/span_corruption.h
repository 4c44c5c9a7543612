// T5's hidden spans (Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text
// Transformer", 2020, section 3.1.4).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/train/objectives/corrupted_texts.h"

namespace headlight {

struct SpanOptions {
  double share = 0.15;                       // of the tokens that are hidden, in spans
  double mean_length = 3;                    // of a span
  std::vector<std::int32_t> sentinels = {};  // <extra_id_0> and on: one for each span, and one for the end
};

// The text with a sentinel for each span, and the spans, each behind its sentinel, with another sentinel at the end. At
// least one token is hidden, spans do not touch each other, and every way to place them is as likely.
HEADLIGHT_API SequenceExample HideSpans(std::span<const std::int32_t> text, const SpanOptions& spans, Random& random);

// Learns to write the spans. The texts are ids alone. Throws Error for a text that is longer than the model or needs
// more sentinels than there are.
HEADLIGHT_API TrainingTask SpanCorruptionTask(EncoderDecoder& model, const TextSets& texts, const AroundTexts& around,
                                              const SpanOptions& spans, const TeacherForcingOptions& options);

}  // namespace headlight
