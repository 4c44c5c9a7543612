// Options for generating images token by token: pixels (pipelines/image_generator.h) or codes
// (pipelines/text_to_image.h).
#pragma once

#include <cstdint>
#include <functional>

namespace headlight {

/// Each token is sampled from softmax(logits / temperature). `top_k` and then `top_p` restrict the choice to the most
/// likely tokens, by number and by the sum of their probabilities.
struct TextToImageOptions {
  /// The number of images per text or per input image, at least 1. For ImageGenerator::Generate, the total number.
  std::int64_t count = 1;
  double temperature = 1;  ///< above 0
  std::int32_t top_k = 0;  ///< 0: all tokens
  double top_p = 1;        ///< above 0, at most 1
  /// The scale of classifier-free guidance, at least 0, for a model that was also trained on images without texts. 1
  /// disables guidance. Above 1, images follow the text more closely and vary less. ImageGenerator accepts only 1.
  double guidance = 1;
  std::uint64_t seed = 1;          ///< images are reproducible for a fixed seed
  std::uint64_t first_stream = 0;  ///< image i of a call is sampled from the random stream (seed, first_stream + i)
  /// Called between tokens. If it returns true, the call throws Cancelled.
  std::function<bool()> cancelled = {};
  /// Called with the number of generated tokens and the total number of tokens.
  std::function<void(std::int64_t done, std::int64_t all)> progress = {};
};

}  // namespace headlight
