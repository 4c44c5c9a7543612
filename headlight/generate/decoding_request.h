// A request to generate a text in a running batch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "headlight/generate/search_options.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// The prompt and settings of a text to generate.
struct DecodingRequest {
  std::vector<std::int32_t> prompt;  ///< the decoder's first inputs; must not be empty
  /// The unconditional prompt of guidance. If empty, it is the prompt's last token. A decoder with cross-attention
  /// instead uses the prompt with a single encoder state of zeros, as in MusicGen (Copet et al., 2023).
  std::vector<std::int32_t> unguided = {};
  std::shared_ptr<const SearchOptions> options = {};  ///< requests with equal options are computed together
  std::int32_t max_new_tokens = 128;      ///< maximum, including the end; also limited by the model's positions
  std::int32_t min_new_tokens = 0;        ///< minimum number of tokens
  std::uint64_t seed = 0, stream = 0;     ///< seed and stream of the random number generator
  Tensor memory = {};                     ///< states for cross-attention, [source tokens, model]
  std::vector<std::int32_t> source = {};  ///< the encoder's input ids, for processors and a shortlist
  /// Called in Step with every token except the end, as soon as it is chosen. Returns true to continue. An exception
  /// ends the text with that error. Requires a beam_size of 1.
  std::function<bool(std::int32_t id)> on_token = {};
};

}  // namespace headlight
