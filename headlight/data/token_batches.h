// Batches of texts as packed rows of token ids.
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

/// Texts as packed rows. For pairs with teacher forcing, target_inputs[t] is the decoder input for predicting
/// labels[t]. Encoder-only and decoder-only models have only one side. Without an encoder there is no source. Without a
/// decoder there are no target_inputs, and labels are the targets of each text or of each token.
struct TokenBatch {
  std::vector<std::int32_t> source_ids;     ///< [source tokens]
  std::vector<std::int32_t> source_types;   ///< [source tokens]: token types; empty if there are none
  std::vector<std::int32_t> target_inputs;  ///< [target tokens]: for a pair the start token, then the target
  std::vector<std::int32_t> labels;  ///< [target tokens]: for a pair the target, then the end token; negative: ignored
  Sequences source, target;          ///< [batch]
  bool twice = false;                ///< if true, made by Twice: the labels apply to each half of the texts
};

/// Appends ids as another sequence of `sequences`.
HEADLIGHT_API void AppendRows(std::vector<std::int32_t>& rows, Sequences& sequences, std::span<const std::int32_t> ids);

/// Appends a pair for teacher forcing: the source with the encoder's special tokens, the target without start and end.
HEADLIGHT_API void AppendPair(std::span<const std::int32_t> source, std::span<const std::int32_t> target,
                              std::int32_t start_id, std::int32_t end_id, TokenBatch& batch);

/// Divides the batch's texts, in order, into micro-batches of at most about `tokens` rows with similar computation
/// time. Counts the rows of the target, or half of the source's rows if that is more. Without a decoder, counts the
/// source's rows.
HEADLIGHT_API std::vector<TokenBatch> SplitBatch(const TokenBatch& batch, std::int64_t tokens);

/// Returns a batch with each text twice, and the labels of the first half. A single pass then computes both outputs of
/// R-Drop.
HEADLIGHT_API TokenBatch Twice(const TokenBatch& batch);

/// Returns the number of labels in a batch that are not negative.
HEADLIGHT_API std::int64_t LabelCount(const TokenBatch& batch);

/// Examples that are combined into batches of tokens.
struct TokenExamples {
  std::int64_t size = 0;
  LengthOfExample length;
  /// Appends an example to a batch. `random` is the stream of RandomOfExample.
  std::function<void(std::int64_t example, Random& random, TokenBatch& batch)> append;
};

/// Returns the packed examples of a plan.
HEADLIGHT_API TokenBatch PackBatch(const TokenExamples& examples, const BatchPlan& plan, std::uint64_t seed);

struct PairOptions {
  std::int32_t start_id = 0, eos_id = 0;
  /// If set, encodes the text again in each epoch, for example with MarianTokenizer::EncodeSampled for BPE-dropout. The
  /// corpus must have been created with keep_text. Batches are planned with the lengths of the plain encoding. The
  /// plain encoding is also used for a sentence that would otherwise exceed the corpus' max_tokens.
  std::function<std::vector<std::int32_t>(std::string_view text, Side side, Random& random)> sample = {};
};

/// Returns the pairs of a corpus for teacher forcing. The batch size is measured in labels. The corpus must outlive the
/// result.
HEADLIGHT_API TokenExamples PairsOf(const Corpus& corpus, const PairOptions& options);

}  // namespace headlight
