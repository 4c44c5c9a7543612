#include "headlight/generate/search_options.h"

#include <cmath>

#include "headlight/base/error.h"

namespace headlight {

void CheckSearch(const SearchOptions& options, std::int64_t vocabulary) {
  Check(options.beam_size >= 1 && options.beam_size <= 1024, "`beam_size` must be from 1 to 1024, not {}",
        options.beam_size);
  Check(options.n_best >= 1 && options.n_best <= options.beam_size,
        "`n_best` must be from 1 to `beam_size`, {}, not {}", options.beam_size, options.n_best);
  Check(std::isfinite(options.length_penalty), "`length_penalty` must be a finite number, not {}",
        options.length_penalty);
  Check(std::isfinite(options.guidance) && options.guidance >= 0, "`guidance` must be a number from 0, not {}",
        options.guidance);
  Check(!options.sample || options.beam_size == 1, "sampling is for a `beam_size` of 1");
  if (options.sample) CheckSampling(options.sampling);
  CheckProcessors(options.processors, vocabulary);
  const auto check_id = [&](const char* what, std::int32_t id) {
    Check(id >= 0 && id < vocabulary, "{}: the id {} is outside the vocabulary of {}", what, id, vocabulary);
  };
  for (const std::int32_t end : options.end_ids) check_id("`end_ids`", end);
  if (options.first_token) check_id("`first_token`", *options.first_token);
  if (options.last_token) check_id("`last_token`", *options.last_token);
}

}  // namespace headlight
