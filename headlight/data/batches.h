// Batches of examples, such as sentence pairs: which of them, in which order, and their packed rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/random.h"
#include "headlight/base/sequences.h"
#include "headlight/data/corpus.h"

namespace headlight {

// A place in the endless row of batches; what a checkpoint keeps of the data.
struct BatchPosition {
  std::int64_t epoch = 0, batch = 0;
  bool operator==(const BatchPosition&) const = default;
};

// Examples as packed rows. Of sentence pairs, for teacher forcing: target_inputs[t] is what the decoder reads where it
// has to say labels[t]. A model without an encoder has no source; one without a decoder has no target_inputs, and its
// labels are what the task asks of each text or of each of its tokens.
struct Batch {
  std::vector<std::int32_t> source_ids;     // [source tokens]: of a pair each sentence, then eos
  std::vector<std::int32_t> source_types;   // [source tokens]: segments; empty where there are none
  std::vector<std::int32_t> target_inputs;  // [target tokens]: of a pair start, then each sentence
  std::vector<std::int32_t> labels;         // [target tokens]: of a pair each sentence, then eos; negative: not asked
  Sequences source, target;                 // [batch]
  BatchPosition next;                       // the place after this batch; next.batch is 0 after an epoch's last
  std::int64_t batches_in_epoch = 0;
};

// The batch's examples, in their order, in parts of about `tokens` rows or fewer, alike in size: rows of the target, or
// half of the source's where those are more, or of the source where no decoder reads the target. Every part's `next`
// and `batches_in_epoch` are the batch's.
HEADLIGHT_API std::vector<Batch> SplitBatch(const Batch& batch, std::int64_t tokens);

// How many labels of a batch ask for something.
HEADLIGHT_API std::int64_t LabelCount(const Batch& batch);

// What batches are dealt from.
class HEADLIGHT_API Examples {
 public:
  virtual ~Examples() = default;
  virtual std::int64_t size() const = 0;

  struct Lengths {
    std::int64_t rows = 0;   // that count towards a batch's bound
    std::int64_t other = 0;  // examples of as many rows are sorted by
  };
  virtual Lengths LengthsOf(std::int64_t example) const = 0;

  // Adds an example to the end of a batch. `random` depends on the seed, the epoch and the example alone.
  virtual void Append(std::int64_t example, Random& random, Batch& batch) const = 0;
};

struct BatchOptions {
  std::int64_t batch_tokens = 4096;  // rows a batch, at most: labels of pairs; one with more is a batch alone
  std::int32_t start_id = 0, eos_id = 0;
  std::uint64_t seed = 1;
  // Where set, Next encodes the text with it, each epoch anew, as MarianTokenizer::EncodeSampled does for BPE-dropout.
  // The corpus must have been made with keep_text. Batches are planned with the lengths of the plain encoding, which a
  // sentence keeps that would exceed the corpus' max_length.
  std::function<std::vector<std::int32_t>(std::string_view text, Side side, Random& random)> sample = {};
};

// The batches of a corpus, or of other examples, epoch after epoch without end, from a place on. Each epoch deals them
// anew: shuffled, sorted by length within pools of about a hundred batches, so that a batch holds sentences of similar
// length, cut, and the batches shuffled. All of it is a function of the examples, the options and the place.
// Memory: about 12 bytes an example at most. The corpus must outlive it. Throws Error for impossible options and for a
// place that the epoch does not have.
class HEADLIGHT_API BatchStream {
 public:
  BatchStream(const Corpus& corpus, BatchOptions options, BatchPosition position = {});
  // Of the options, batch_tokens and seed are read.
  BatchStream(std::shared_ptr<const Examples> examples, BatchOptions options, BatchPosition position = {});

  Batch Next();

 private:
  struct Range {
    std::uint32_t begin, end;  // of order_
  };

  void PlanEpoch();

  std::shared_ptr<const Examples> examples_;
  BatchOptions options_;
  BatchPosition position_;
  std::int64_t planned_epoch_ = -1;
  std::vector<std::uint32_t> order_;  // [pairs], batch after batch
  std::vector<Range> batches_;
};

}  // namespace headlight
