#include "headlight/cli/translation_options.h"

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>

#include "headlight/tasks/translator.h"

namespace headlight {

void AddComputeOption(CLI::App& command, std::optional<Compute>& compute) {
  const std::map<std::string, Compute> names = {
      {"float32", Compute::float32}, {"bfloat16", Compute::bfloat16}, {"int8", Compute::int8}, {"int4", Compute::int4}};
  command
      .add_option(
          "--compute", compute,
          "What matrix products compute with; int8 is the fastest with many\nrows at once, int4 to generate alone; "
          "bfloat16 needs AVX-512 BF16 [as the folder\nis stored: float32, int8 or int4]")
      ->type_name("float32|bfloat16|int8|int4")
      ->transform(CLI::CheckedTransformer(names).description(""));
}

void AddDraftOption(CLI::App& command, bool& draft) {
  command.add_flag("--draft", draft,
                   "Let an int8 copy of the weights draft what is written alone, without beams and draws; the\n"
                   "text is the same to the last bit, and a large model writes it faster");
}

void AddTranslationOptions(CLI::App& command, LoadOptions& load, TranslateOptions& options) {
  AddComputeOption(command, load.compute);
  command.add_flag("--shortlist", load.shortlist,
                   "Choose words from the folder's shortlist alone, often faster; `headlight shortlist` makes it");
  AddDraftOption(command, load.draft);
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
  command
      .add_option("--min-length", options.min_length,
                  "No translation ends before so many tokens [the model's,\nwhere it gives none 0]")
      ->type_name("TOKENS");
  command
      .add_option("--no-repeat-ngram-size", options.no_repeat_ngram_size,
                  "No run of so many tokens comes twice; 0: any may [the model's,\nwhere it gives none 0]")
      ->type_name("N");
  command.add_option("--batch-tokens", options.batch_tokens, "Source tokens that are translated at once [2048]")
      ->type_name("TOKENS");
}

void AddTaskOptions(CLI::App& command, TranslateOptions& options) {
  command
      .add_option("--task", options.task,
                  "Take prefix and settings from this entry of task_specific_params in the\nfolder's config.json, as "
                  "translation_en_to_de")
      ->type_name("NAME");
  command
      .add_option("--prefix", options.prefix,
                  "Put this before each text, as a T5 wants it: 'translate English to German: '")
      ->type_name("TEXT");
  command
      .add_option("--source-language", options.source_language,
                  "The text's language, for a multilingual BART: a special token, as de_DE\n[the tokenizer's own]")
      ->type_name("TOKEN");
  command
      .add_option("--target-language,--forced-language", options.target_language,
                  "The language to write, likewise [the model's, if it has one]")
      ->type_name("TOKEN");
}

}  // namespace headlight
