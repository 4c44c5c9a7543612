// Batches of sentence pairs: which pairs, in which order, and their packed rows.
#pragma once

#include <cstdint>
#include <functional>
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

// Sentence pairs as packed rows, for teacher forcing: target_inputs[t] is what the decoder reads where it has to say
// labels[t].
struct Batch {
  std::vector<std::int32_t> source_ids;     // [source tokens]: each sentence, then eos
  std::vector<std::int32_t> target_inputs;  // [target tokens]: start, then each sentence
  std::vector<std::int32_t> labels;         // [target tokens]: each sentence, then eos
  Sequences source, target;                 // [batch]
  BatchPosition next;                       // the place after this batch; next.batch is 0 after an epoch's last
  std::int64_t batches_in_epoch = 0;
};

// The batch's sentences, in their order, in parts of about `tokens` labels or fewer, alike in size. Every part's `next`
// and `batches_in_epoch` are the batch's.
HEADLIGHT_API std::vector<Batch> SplitBatch(const Batch& batch, std::int64_t tokens);

struct BatchOptions {
  std::int64_t batch_tokens = 4096;  // labels a batch, at most; a pair with more is a batch alone
  std::int32_t start_id = 0, eos_id = 0;
  std::uint64_t seed = 1;
  // Where set, Next encodes the text with it, each epoch anew, as Tokenizer::EncodeSampled does for BPE-dropout. The
  // corpus must have been made with keep_text. Batches are planned with the lengths of the plain encoding, which a
  // sentence keeps that would exceed the corpus' max_length.
  std::function<std::vector<std::int32_t>(std::string_view text, Side side, Random& random)> sample = {};
};

// The batches of a corpus, epoch after epoch without end, from a place on. Each epoch deals the pairs anew: shuffled,
// sorted by length within pools of about a hundred batches, so that a batch holds sentences of similar length, cut, and
// the batches shuffled. All of it is a function of the corpus, the options and the place.
// Memory: about 12 bytes a pair at most. The corpus must outlive it. Throws Error for impossible options and for a
// place that the epoch does not have.
class HEADLIGHT_API BatchStream {
 public:
  BatchStream(const Corpus& corpus, BatchOptions options, BatchPosition position = {});

  Batch Next();

 private:
  struct Range {
    std::uint32_t begin, end;  // of order_
  };

  void PlanEpoch();
  void Append(std::int64_t pair, Batch& batch) const;

  const Corpus& corpus_;
  BatchOptions options_;
  BatchPosition position_;
  std::int64_t planned_epoch_ = -1;
  std::vector<std::uint32_t> order_;  // [pairs], batch after batch
  std::vector<Range> batches_;
};

}  // namespace headlight
