// Trains encoder-decoders on pairs of texts, and on corrupted texts.
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
  TeacherForcingOptions teacher_forcing{.batches = {}, .label_smoothing = 0};  ///< `batches` is not used
};

struct SequenceToSequenceTraining : SequenceTraining {
  enum class Family { bart, t5 };
  Family family = Family::bart;  ///< for a model from scratch
  std::string prefix;            ///< prefix of each source, such as T5's "summarize: "
  PairColumns columns;           ///< columns of .jsonl and .csv files
};

struct SpanCorruptionTraining : SequenceTraining {
  SpanOptions spans;  ///< the sentinels are set from the tokenizer
};

struct DenoisingTraining : SequenceTraining {
  NoiseOptions noise;  ///< tokens are set from the tokenizer
};

HEADLIGHT_API void Describe(OptionTable& table, SequenceToSequenceTraining& options);
HEADLIGHT_API void Describe(OptionTable& table, SpanCorruptionTraining& options);
HEADLIGHT_API void Describe(OptionTable& table, DenoisingTraining& options);

/// Train an encoder-decoder, and save a model folder. TrainSequenceToSequence trains a BART or T5 on pairs.
/// TrainSpanCorruption trains a T5 on masked spans (Raffel et al., 2020). TrainDenoising trains a BART on corrupted
/// texts (Lewis et al., 2020). Throw Error if a file or an option is wrong.
HEADLIGHT_API TrainingResult TrainSequenceToSequence(SequenceToSequenceTraining options,
                                                     const TrainingObserver& observer);
HEADLIGHT_API TrainingResult TrainSpanCorruption(SpanCorruptionTraining options, const TrainingObserver& observer);
HEADLIGHT_API TrainingResult TrainDenoising(DenoisingTraining options, const TrainingObserver& observer);

}  // namespace headlight
