// Sequence-to-sequence training on arbitrary pairs of texts.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/train/objectives/teacher_forcing.h"

namespace headlight {

/// The token ids of a pair.
struct SequenceExample {
  std::vector<std::int32_t> source, target;
  bool operator==(const SequenceExample&) const = default;
};

/// The pairs of training and validation. Each source includes the special tokens that the model expects around a text.
/// Each target includes the special tokens before the text, but not the end token. The sets must outlive the task.
struct SequenceSets {
  std::vector<SequenceExample> train, valid;
  std::vector<std::string> valid_sources;                                // sources as text, for the samples of a report
  std::function<std::string(std::span<const std::int32_t> ids)> decode;  // converts ids to text
};

/// Trains with teacher forcing on pairs. A validation's score is the percentage of sources whose greedily decoded text
/// equals the target. It also reports the BLEU of these texts. Throws Error for a sequence that does not fit into the
/// model's positions.
HEADLIGHT_API TrainingTask SequenceTask(EncoderDecoder& model, const SequenceSets& sets,
                                        const TeacherForcingOptions& options);

HEADLIGHT_API std::uint64_t HashOfSequences(const std::vector<SequenceExample>& examples);

/// Returns the lengths of a pair's longer and shorter sides. Only the longer side counts toward the size of a batch.
ExampleLength LengthOfPair(std::size_t source, std::size_t labels);

}  // namespace headlight
