// A request to a running batch to generate a text.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "headlight/generate/search_options.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// A text to generate.
struct DecodingRequest {
  std::vector<std::int32_t> prompt;  ///< the decoder's first inputs, at least one
  /// With guidance, the unconditional prompt; if empty, the prompt's last token. A decoder with cross-attention instead
  /// reads its prompt with a single encoder state of zeros, as in MusicGen (Copet et al., 2023).
  std::vector<std::int32_t> unguided = {};
  std::shared_ptr<const SearchOptions> options = {};  ///< requests with equal options are computed together
  std::int32_t max_new_tokens = 128;      ///< at most, including the end; also limited by the model's positions
  std::int32_t min_new_tokens = 0;        ///< at least
  std::uint64_t seed = 0, stream = 0;     ///< for random numbers
  Tensor memory = {};                     ///< for cross-attention: states [source tokens, model]
  std::vector<std::int32_t> source = {};  ///< the encoder's input, for processors and a shortlist
  /// Called in Step with every token except the end as soon as it is chosen. Returns whether to continue. An exception
  /// ends the text with that error. Only with a beam_size of 1.
  std::function<bool(std::int32_t id)> on_token = {};
};

}  // namespace headlight
