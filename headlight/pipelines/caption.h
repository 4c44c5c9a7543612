// The captions of an image, and the options by which they are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace headlight {

/// Options that are not set are those of the folder's generation_config.json or, without that file, config.json (their
/// names there in brackets); where it gives none, those after "else".
struct CaptionOptions {
  std::string prompt = {};  ///< what every caption begins with, such as "an image of"; not part of its score

  /// The search. Beams keep the beam_size best beginnings of a caption; 1 is greedy, or sampling.
  std::optional<std::int32_t> beam_size = {};  ///< 1 to 1024 [num_beams], else 1
  std::optional<double> length_penalty = {};   ///< with beams: alpha of score = log-probability / length^alpha, else 1
  std::optional<std::int32_t> n_best =
      {};  ///< captions of each image: at most beam_size, or the samples drawn [num_return_sequences], else 1
  std::optional<std::int32_t> max_length = {};    ///< tokens of a caption with its end, the prompt's counted; 1 to the
                                                  ///< model's positions [max_length, max_new_tokens], else
                                                  ///< 20 and the prompt's
  std::optional<std::int32_t> min_length = {};    ///< tokens before which it does not end [min_length], else 0
  std::optional<double> repetition_penalty = {};  ///< above 1 makes tokens that were there before less likely, else 1
  std::optional<std::int32_t> no_repeat_ngram_size =
      {};  ///< no n-gram of this many tokens comes twice, else 0: any may

  /// Sampling instead of a search: the next token is drawn from softmax(logits / temperature), of the top_k likeliest,
  /// and of those of the likeliest whose probabilities sum to top_p. [num_beams] does not count then.
  std::optional<bool> sample = {};         ///< [do_sample], else whether one of the next three is set
  std::optional<double> temperature = {};  ///< above 0, else 1
  std::optional<std::int32_t> top_k = {};  ///< 0: all, else 50
  std::optional<double> top_p = {};        ///< above 0 to 1, else 1
  std::optional<std::uint64_t> seed = {};  ///< the same seed draws the same captions, else 0
  std::uint64_t first_stream = 0;          ///< image i draws from the random stream (seed, first_stream + i)

  std::int64_t batch_pixels = 1 << 20;  ///< of images that are read at once, as resized; at least 1
  std::function<std::string(std::size_t image)> name_of = {};  ///< in errors; "image 1" unless given
  /// Called between tokens, by any thread, one at a time; where it returns true, the call throws Cancelled.
  std::function<bool()> cancelled = {};
};

struct ImageCaption {
  std::string text;         ///< on one line, with the prompt
  double score = 0;         ///< log-probability / length^alpha
  std::int64_t tokens = 0;  ///< with those of the prompt, without the end
  bool complete = true;     ///< false if max_length cut it
};

}  // namespace headlight
