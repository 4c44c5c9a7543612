// How a model that writes images token by token draws each: pixels (pipelines/image_generator.h) or codes
// (pipelines/text_to_image.h).
#pragma once

#include <cstdint>
#include <functional>

namespace headlight {

// Each token is drawn from softmax(logits / temperature), of the top_k likeliest, or all where that is 0, and of those
// of the likeliest whose probabilities sum to top_p.
struct TextToImageOptions {
  double temperature = 1;  // above 0
  std::int32_t top_k = 0;
  double top_p = 1;  // above 0 to 1
  // Of a model that also learned images without their texts: how far the logits follow the text, as GenerationOptions
  // (generate/generate.h) says; 1 is as learned, and more is truer to the text and less varied.
  double guidance = 1;
  std::uint64_t seed = 0;  // the same seed draws the same images; image i draws from a random stream of its own,
  std::uint64_t first_stream = 0;  // the stream number first_stream + i
  // Called between tokens; where it returns true, the call throws Cancelled.
  std::function<bool()> cancelled = {};
  // Called with the number of tokens that are drawn, and of those that will be.
  std::function<void(std::int64_t done, std::int64_t all)> progress = {};
};

}  // namespace headlight
