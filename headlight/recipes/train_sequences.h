// Training models that read one text and write another: on pairs of texts, and on corrupted texts.
#pragma once

#include <optional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/data/text_pairs.h"
#include "headlight/recipes/text_training.h"
#include "headlight/train/objectives/denoising.h"
#include "headlight/train/objectives/span_corruption.h"

namespace headlight {

struct SequenceTraining : TextTraining {
  TeacherForcingOptions teacher_forcing{.batches = {}, .label_smoothing = 0};  ///< without its batches
};

struct SequenceToSequenceTraining : SequenceTraining {
  enum class Family { bart, t5 };
  Family family = Family::bart;  ///< of a model from scratch
  std::string prefix;            ///< of each source, such as T5's "summarize: "
  PairColumns columns;           ///< of .jsonl and .csv files
};

struct SpanCorruptionTraining : SequenceTraining {
  SpanOptions spans;  ///< without the sentinels, which are the tokenizer's
};

struct DenoisingTraining : SequenceTraining {
  NoiseOptions noise;  ///< without the tokens, which are the tokenizer's
};

HEADLIGHT_API void Describe(OptionTable& table, SequenceToSequenceTraining& options);
HEADLIGHT_API void Describe(OptionTable& table, SpanCorruptionTraining& options);
HEADLIGHT_API void Describe(OptionTable& table, DenoisingTraining& options);

/// Train an encoder-decoder, and save a model folder: on pairs from scratch a BART or a T5, on masked spans a T5
/// (Raffel et al., 2020), on corrupted texts a BART (Lewis et al., 2020). Throw Error if a file or an option is wrong.
HEADLIGHT_API TrainingResult TrainSequenceToSequence(SequenceToSequenceTraining options,
                                                     const TrainingObserver& observer);
HEADLIGHT_API TrainingResult TrainSpanCorruption(SpanCorruptionTraining options, const TrainingObserver& observer);
HEADLIGHT_API TrainingResult TrainDenoising(DenoisingTraining options, const TrainingObserver& observer);

}  // namespace headlight
