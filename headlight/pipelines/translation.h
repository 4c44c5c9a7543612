// The translation of a text, and the options by which it is made.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headlight/inspect/attention_record.h"
#include "headlight/pipelines/word_alignment.h"

namespace headlight {

/// Options that are not set are those of the folder's generation_config.json or, without that file, config.json (their
/// names there in brackets); where it gives none, those after "else".
struct TranslateOptions {
  /// The search. Beams keep the beam_size best beginnings of a translation; 1 is greedy.
  std::optional<std::int32_t> beam_size = {};  ///< 1 to 1024 [num_beams], else 4
  std::optional<double> length_penalty = {};   ///< alpha of score = log-probability / length^alpha, else 1
  std::optional<std::int32_t> n_best =
      {};  ///< translations of each text: at most beam_size, or the samples drawn [num_return_sequences], else 1
  std::int32_t max_length = 0;                    ///< tokens of a translation with its end; 0: [max_length], else three
                                                  /// times the source's and 50 more; at most the model's positions
  std::optional<std::int32_t> min_length = {};    ///< tokens before which it does not end, else 0
  std::optional<double> repetition_penalty = {};  ///< above 1 makes tokens that were there before less likely, else 1
  std::optional<std::int32_t> no_repeat_ngram_size =
      {};  ///< no n-gram of this many tokens comes twice, else 0: any may

  /// Sampling instead of a search: the next token is drawn from softmax(logits / temperature), of the top_k likeliest,
  /// and of those of the likeliest whose probabilities sum to top_p. [num_beams] does not count then.
  std::optional<bool> sample = {};         ///< [do_sample], else whether one of the next three is set
  std::optional<double> temperature = {};  ///< above 0, else 1
  std::optional<std::int32_t> top_k = {};  ///< 0: all, else 50
  std::optional<double> top_p = {};        ///< above 0 to 1, else 1
  std::optional<std::uint64_t> seed = {};  ///< the same seed draws the same translations, else 0
  std::uint64_t first_stream = 0;          ///< text i draws from the random stream (seed, first_stream + i)

  /// The input of the model besides the text.
  /// The beginning of each text's translation, which the model continues: one for all texts, or one for each. It is not
  /// part of the score, but of the text and of its lengths. A text in parts begins with it only once.
  std::vector<std::string> target_prefix = {};
  std::string task = {};             ///< of task_specific_params in config.json: its prefix and its settings
  std::string prefix = {};           ///< put before each text, after the task's, as T5's "summarize: "
  std::string source_language = {};  ///< a special token, as mBART's "de_DE"; else the tokenizer's own
  /// Likewise; else [forced_bos_token_id]. Where a model's decoder begins with a language, it is that.
  std::string target_language = {};

  /// The results.
  bool alignment = false;     ///< fills Translation::alignment
  bool token_scores = false;  ///< fills Translation::token_scores
  bool attention = false;     ///< fills Translation::attention

  std::int64_t batch_tokens = 2048;  ///< source tokens that are translated at once
  /// Called between steps, by any thread, one at a time; where it returns true, the call throws Cancelled.
  std::function<bool()> cancelled = {};
};

/// A token of a translation.
struct TranslatedToken {
  std::string piece;       ///< as the tokenizer has it, such as "▁dog"
  std::int32_t word = -1;  ///< of Translation::text, counted from 0; a space's is the word after it;
                           /// -1: none, as the end's
  std::optional<double> log_probability = {};  ///< none where the token was given, by a target_prefix
};

struct Translation {
  std::string text;         ///< on one line
  double score = 0;         ///< log-probability / length^alpha; of a text in parts, the sum of theirs
  std::int64_t tokens = 0;  ///< of the source, special ones included
  std::int32_t parts = 1;   ///< more than 1 where the text had more tokens than the model has positions
  bool complete = true;     ///< false where max_length or the model's positions cut it
  WordAlignment alignment;  ///< if requested
  std::vector<TranslatedToken> token_scores;  ///< if requested: of each token and of the end, of all parts
  std::optional<AttentionRecord> attention;   ///< if requested; of the best one only, and not of a text in parts
};

}  // namespace headlight
