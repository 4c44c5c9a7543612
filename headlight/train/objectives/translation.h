// Translation training on a corpus with BLEU as the validation score.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/train/objectives/teacher_forcing.h"

namespace headlight {

struct TranslationValidation {
  std::vector<std::vector<std::int32_t>> sources, targets;  // token ids without end tokens
  std::vector<std::string> source_texts, references;
  std::function<std::string(std::span<const std::int32_t> ids)> decode;  // converts ids to text
};

/// Trains with teacher forcing on pairs. A validation's score is the BLEU of greedy translations, which are at most as
/// long as the longest target. The model, the corpus and the validation set must outlive the task.
HEADLIGHT_API TrainingTask TranslationTask(EncoderDecoder& model, const Corpus& corpus, const PairOptions& pairs,
                                           const TranslationValidation& validation,
                                           const TeacherForcingOptions& options);

}  // namespace headlight
