#include "headlight/cli/translation_options.h"

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>

#include "headlight/serve/translator.h"

namespace headlight {

void AddComputeOption(CLI::App& command, std::optional<kernels::Compute>& compute) {
  const std::map<std::string, kernels::Compute> names = {{"float32", kernels::Compute::float32},
                                                         {"bfloat16", kernels::Compute::bfloat16},
                                                         {"int8", kernels::Compute::int8}};
  command
      .add_option("--compute", compute,
                  "What matrix products compute with; int8 is the fastest, bfloat16\nneeds AVX-512 BF16 [as the folder "
                  "is stored: float32 or int8]")
      ->type_name("float32|bfloat16|int8")
      ->transform(CLI::CheckedTransformer(names).description(""));
}

void AddTranslationOptions(CLI::App& command, LoadOptions& load, TranslateOptions& options) {
  AddComputeOption(command, load.compute);
  command.add_flag("--shortlist", load.shortlist,
                   "Choose words from the folder's shortlist alone, often faster; `headlight shortlist` makes it");
  command
      .add_option("--beam-size", options.beam_size, "Beams; 1 is greedy [the model's num_beams, where it gives none 4]")
      ->type_name("N");
  command
      .add_option("--length-penalty", options.length_penalty,
                  "A translation scores its log-probability / length^ALPHA\n[the model's, where it gives none 1]")
      ->type_name("ALPHA");
  command
      .add_option("--max-length", options.max_length,
                  "The most tokens of a translation [3 times the source's and 50,\nat most the model's positions]")
      ->type_name("TOKENS");
  command.add_option("--batch-tokens", options.batch_tokens, "Source tokens that are translated at once [2048]")
      ->type_name("TOKENS");
}

}  // namespace headlight
