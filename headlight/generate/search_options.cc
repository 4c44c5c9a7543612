#include "headlight/generate/search_options.h"

#include <cmath>

#include "headlight/generate/option_error.h"

namespace headlight {

void CheckSearch(const SearchOptions& options, std::int64_t vocabulary) {
  CheckOption("beam_size", options.beam_size >= 1 && options.beam_size <= 1024,
              "beam_size must be from 1 to 1024, not {}", options.beam_size);
  CheckOption("n_best", options.n_best >= 1 && options.n_best <= options.beam_size,
              "n_best must be from 1 to beam_size, {}, not {}", options.beam_size, options.n_best);
  CheckOption("length_penalty", std::isfinite(options.length_penalty), "length_penalty must be a finite number, not {}",
              options.length_penalty);
  CheckOption("guidance", std::isfinite(options.guidance) && options.guidance >= 0,
              "guidance must be a number from 0, not {}", options.guidance);
  CheckOption("sample", !options.sample || options.beam_size == 1, "sampling is for a beam_size of 1");
  if (options.sample) CheckSampling(options.sampling);
  CheckProcessors(options.processors, vocabulary);
  const auto check_id = [&](const char* option, const char* what, std::int32_t id) {
    CheckOption(option, id >= 0 && id < vocabulary, "{}'s id {} is outside the vocabulary of {}", what, id, vocabulary);
  };
  for (const std::int32_t end : options.end_ids) check_id("end_ids", "an end", end);
  if (options.first_token) check_id("first_token", "first_token", *options.first_token);
  if (options.last_token) check_id("last_token", "last_token", *options.last_token);
}

}  // namespace headlight
