// Batches of texts: packed rows of token ids.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/data/batches.h"
#include "headlight/data/corpus.h"

namespace headlight {

// Texts as packed rows. Of pairs, for teacher forcing: target_inputs[t] is what the decoder reads where it has to
// predict labels[t]. A model without an encoder has no source; one without a decoder has no target_inputs, and its
// labels are what the task asks of each text or of each of its tokens.
struct TokenBatch {
  std::vector<std::int32_t> source_ids;     // [source tokens]
  std::vector<std::int32_t> source_types;   // [source tokens]: segments; empty where there are none
  std::vector<std::int32_t> target_inputs;  // [target tokens]: of a pair start, then the target
  std::vector<std::int32_t> labels;         // [target tokens]: of a pair the target, then end; negative: ignored
  Sequences source, target;                 // [batch]
  bool twice = false;                       // of Twice: the labels are those of each half of the texts
};

// Adds ids to the end of rows, as one more sequence.
HEADLIGHT_API void AppendRows(std::vector<std::int32_t>& rows, Sequences& sequences, std::span<const std::int32_t> ids);

// Adds a pair for teacher forcing: the source as the encoder reads it, the target without start and end.
HEADLIGHT_API void AppendPair(std::span<const std::int32_t> source, std::span<const std::int32_t> target,
                              std::int32_t start_id, std::int32_t end_id, TokenBatch& batch);

// The batch's texts, in their order, in parts of about `tokens` rows or fewer that take about as long to compute: rows
// of the target, or half of the source's where those are more, or of the source where no decoder reads the target.
HEADLIGHT_API std::vector<TokenBatch> SplitBatch(const TokenBatch& batch, std::int64_t tokens);

/// The batch's texts, then the same again, with the labels of the first: two passes of R-Drop in one.
HEADLIGHT_API TokenBatch Twice(const TokenBatch& batch);

// How many labels of a batch are not negative.
HEADLIGHT_API std::int64_t LabelCount(const TokenBatch& batch);

// Examples of which batches of tokens are made.
struct TokenExamples {
  std::int64_t size = 0;
  LengthOfExample length;
  // Adds an example to the end of a batch. `random` is RandomOfExample's.
  std::function<void(std::int64_t example, Random& random, TokenBatch& batch)> append;
};

// The examples of a plan, packed.
HEADLIGHT_API TokenBatch PackBatch(const TokenExamples& examples, const BatchPlan& plan, std::uint64_t seed);

struct PairOptions {
  std::int32_t start_id = 0, eos_id = 0;
  // Where set, encodes the text anew each epoch, as MarianTokenizer::EncodeSampled does for BPE-dropout. The corpus
  // must have been made with keep_text. Batches are planned with the lengths of the plain encoding, which a sentence
  // keeps that would exceed the corpus' max_tokens.
  std::function<std::vector<std::int32_t>(std::string_view text, Side side, Random& random)> sample = {};
};

// The pairs of a corpus, which must outlive them, for teacher forcing; a batch is bounded by its labels.
HEADLIGHT_API TokenExamples PairsOf(const Corpus& corpus, const PairOptions& options);

}  // namespace headlight
