// Captions of images, and the options for generating them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace headlight {

/// Options that are not set are read from generation_config.json in the folder, or from config.json if that file is
/// missing. The key of an option is its name, or the name in brackets in its comment. If the key is missing too, the
/// default in the comment applies.
struct CaptionOptions {
  std::string prompt = {};  ///< the beginning of every caption, such as "an image of"; not part of the score

  /// Options for the search. Beam search keeps the beam_size best partial captions. A beam_size of 1 selects greedy
  /// search or sampling.
  std::optional<std::int32_t> beam_size = {};  ///< 1 to 1024 [num_beams]; default: 1
  std::optional<double> length_penalty =
      {};  ///< for beam search: alpha in score = log-probability / length^alpha; default: 1
  std::optional<std::int32_t> n_best =
      {};  ///< captions per image; without sampling at most beam_size [num_return_sequences]; default: 1
  /// The maximum number of tokens of a caption, including the prompt and the end token [max_length, max_new_tokens]. At
  /// most the model's positions. Default: the length of the prompt plus 20.
  std::optional<std::int32_t> max_length = {};
  std::optional<std::int32_t> min_length = {};  ///< minimum number of tokens of a caption; default: 0
  /// Values above 1 make repeated tokens less likely; default: 1.
  std::optional<double> repetition_penalty = {};
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
  std::uint64_t first_stream = 0;          ///< image i uses the random stream (seed, first_stream + i)

  std::int64_t batch_pixels = 1 << 20;  ///< pixels of resized images that are encoded at once, at least 1
  std::function<std::string(std::size_t image)> name_of = {};  ///< image name in error messages; "image 1" by default
  /// Called between tokens, from any thread but never concurrently. If it returns true, the call throws Cancelled.
  std::function<bool()> cancelled = {};
};

struct ImageCaption {
  std::string text;         ///< the caption, on one line, including the prompt
  double score = 0;         ///< log-probability / length^alpha
  std::int64_t tokens = 0;  ///< including the prompt, excluding the end token
  bool complete = true;     ///< false if max_length truncated the text
};

}  // namespace headlight
