// Adds the sampling options to commands.
#pragma once

#include "headlight/base/option_checks.h"
#include "headlight/base/option_table.h"

namespace headlight {

// Adds --sample, --no-sample, --temperature, --top-k, --top-p, --seed and --repetition-penalty. These options set the
// corresponding fields in GenerateOptions or TranslateOptions. `options` must outlive the program.
template <typename Options>
void AddSamplingOptions(OptionTable& command, Options& options) {
  Option& sample = command.AddFlag(
      "--sample", [&options] { options.sample = true; },
      "Sample tokens by their probabilities; implied by --temperature, --top-k and --top-p");
  command
      .AddFlag(
          "--no-sample", [&options] { options.sample = false; },
          "Do not sample, even if generation_config.json says so")
      .Excludes(sample);
  command.Add("--temperature", options.temperature, NumberAbove(0),
              "Divide the logits by X before sampling [the model's, or 1]");
  command.Add("--top-k", options.top_k, AtLeast(0),
              "Sample from the N most probable tokens; 0: from all [the model's, or 50]");
  command.Add("--top-p", options.top_p, NumberAbove(0, 1),
              "Sample from the fewest tokens whose probabilities sum to X [the model's, or 1]");
  command.Add("--seed", options.seed, Seed(), "Random seed of the sampling [1]");
  command.Add(
      "--repetition-penalty", options.repetition_penalty, NumberAbove(0),
      "Divide positive logits of tokens that occurred before by X, and multiply negative ones [the model's, or 1]");
}

}  // namespace headlight
