// Translations of texts, and the options for generating them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headlight/inspect/attention_record.h"
#include "headlight/pipelines/word_alignment.h"

namespace headlight {

/// Options that are not set are read from generation_config.json in the folder, or from config.json if that file is
/// missing. The key of an option is its name, or the name in brackets in its comment. If the key is missing too, the
/// default in the comment applies.
struct TranslateOptions {
  /// Options for the search. Beam search keeps the beam_size best partial translations. A beam_size of 1 selects greedy
  /// search.
  std::optional<std::int32_t> beam_size = {};  ///< 1 to 1024 [num_beams]; default: 4
  std::optional<double> length_penalty = {};   ///< alpha in score = log-probability / length^alpha; default: 1
  std::optional<std::int32_t> n_best =
      {};  ///< translations per text; without sampling at most beam_size [num_return_sequences]; default: 1
  /// The maximum number of tokens of a translation, including the end token. If 0, the folder's max_length is used, or
  /// three times the source's length plus 50 if the folder has none. The maximum is limited to the model's positions.
  std::int32_t max_length = 0;
  std::optional<std::int32_t> min_length = {};    ///< minimum number of tokens of a translation; default: 0
  std::optional<double> repetition_penalty = {};  ///< values above 1 make repeated tokens less likely; default: 1
  std::optional<std::int32_t> no_repeat_ngram_size =
      {};  ///< the size of n-grams that must not repeat; default: 0 (no limit)

  /// Options for sampling, which replaces the search. The next token is sampled from softmax(logits / temperature).
  /// `top_k` and then `top_p` restrict the choice to the most likely tokens, by number and by the sum of their
  /// probabilities. With sampling, the key num_beams is ignored.
  std::optional<bool> sample = {};  ///< true if temperature, top_k or top_p is set; else [do_sample]; default: false
  std::optional<double> temperature = {};  ///< above 0; default: 1
  std::optional<std::int32_t> top_k = {};  ///< 0 means all; default: 50
  std::optional<double> top_p = {};        ///< above 0, at most 1; default: 1
  std::optional<std::uint64_t> seed = {};  ///< seed of sampling; by default 1
  std::uint64_t first_stream = 0;          ///< text i uses the random stream (seed, first_stream + i)

  /// Options for other inputs. `target_prefix` has the beginning of the translations, which the model continues: one
  /// prefix for all texts, or one per text. The prefix is part of the translation and counts towards its length, but
  /// not towards the score. Only the first part of a split text has the prefix.
  std::vector<std::string> target_prefix = {};
  std::string task = {};             ///< name in task_specific_params of config.json, for its prefix and settings
  std::string prefix = {};           ///< put before each text, after the task's prefix, such as T5's "summarize: "
  std::string source_language = {};  ///< a special token, such as mBART's "de_DE"; default: the tokenizer's default
  /// A special token, like source_language. Default: [forced_bos_token_id]. If the decoder begins with a language, this
  /// token replaces the start token.
  std::string target_language = {};

  /// Options for the results.
  bool alignment = false;     ///< if true, fills Translation::alignment
  bool token_scores = false;  ///< if true, fills Translation::token_scores
  bool attention = false;     ///< if true, fills Translation::attention

  std::int64_t batch_tokens = 2048;  ///< source tokens that are translated at once
  /// Called between steps, from any thread but never concurrently. If it returns true, the call throws Cancelled.
  std::function<bool()> cancelled = {};
};

/// A token of a translation.
struct TranslatedToken {
  std::string piece;  ///< the token as it is in the vocabulary, such as "▁dog"
  /// The index of the word in Translation::text, or -1 if there is none, such as for the end token. A space belongs to
  /// the word after it.
  std::int32_t word = -1;
  std::optional<double> log_probability = {};  ///< not set for the tokens of target_prefix
};

struct Translation {
  std::string text;         ///< the translation, on one line
  double score = 0;         ///< log-probability / length^alpha; for a text in parts, the sum over the parts
  std::int64_t tokens = 0;  ///< number of source tokens, including special tokens
  std::int32_t parts = 1;   ///< more than 1 if the text had more tokens than the model has positions
  bool complete = true;     ///< false if max_length or the model's positions truncated the translation
  WordAlignment alignment;  ///< if requested
  std::vector<TranslatedToken> token_scores;  ///< if requested: each token and the end token, over all parts
  std::optional<AttentionRecord>
      attention;  ///< if requested: only for the best translation, and not for a text in parts
};

}  // namespace headlight
