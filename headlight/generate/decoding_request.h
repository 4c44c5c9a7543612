// What a running batch is asked for: a text to be written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "headlight/generate/search_options.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// A text to be written.
struct DecodingRequest {
  std::vector<std::int32_t> prompt;  ///< the decoder's first inputs, at least one
  /// With guidance, the other prompt; if empty, the prompt's last token. A decoder with cross-attention reads its
  /// prompt and one state of zeros as the memory instead, as MusicGen (Copet et al., 2023) does.
  std::vector<std::int32_t> unguided = {};
  std::shared_ptr<const SearchOptions> options = {};  ///< requests with equal ones are computed together
  std::int32_t max_new_tokens = 128;                  ///< the end included; at most what the model's positions allow
  std::int32_t min_new_tokens = 0;                    ///< before which the end is not a candidate
  std::uint64_t seed = 0, stream = 0;                 ///< of random numbers
  Tensor memory = {};                                 ///< for cross-attention: states [source tokens, model]
  std::vector<std::int32_t> source = {};              ///< the encoder's input, for processors and a shortlist
  /// Called in Step with every token but the end as soon as it is chosen; returns whether to continue. What it
  /// throws ends the text as its error. With a beam_size of 1.
  std::function<bool(std::int32_t id)> on_token = {};
};

}  // namespace headlight
