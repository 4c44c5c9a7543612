// Pairs of texts of any kind: a model reads one and writes the other.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/train/objectives/teacher_forcing.h"

namespace headlight {

// The tokens of a pair.
struct SequenceExample {
  std::vector<std::int32_t> source, target;
  bool operator==(const SequenceExample&) const = default;
};

// The pairs of a training and of its validations: each source with the special tokens that the model expects around a
// text, each target with those before it and without its end. They must outlive the task.
struct SequenceSets {
  std::vector<SequenceExample> train, valid;
  std::vector<std::string> valid_sources;                                // as texts, for the samples of a report
  std::function<std::string(std::span<const std::int32_t> ids)> decode;  // ids to text
};

// Teacher forcing on pairs. A validation's score is the share of the sources whose greedy text is the target, in per
// cent. Throws Error for a sequence that is longer than the model.
HEADLIGHT_API TrainingTask SequenceTask(EncoderDecoder& model, const SequenceSets& sets,
                                        const TeacherForcingOptions& options);

HEADLIGHT_API std::uint64_t HashOfSequences(const std::vector<SequenceExample>& examples);

// A batch is bounded by the longer side, whichever it is: a summary's text, or the spans that a text hides.
ExampleLength LengthOfPair(std::size_t source, std::size_t labels);

}  // namespace headlight
