#include "headlight/pipelines/translation_options.h"

#include <optional>
#include <string>

#include "headlight/base/choice.h"
#include "headlight/base/option_checks.h"
#include "headlight/pipelines/translator.h"

namespace headlight {

void AddComputeOption(OptionTable& command, std::optional<Compute>& compute, ModelFiles files) {
  AddChoice<Compute>(command, "--compute", compute,
                     {{"float32", Compute::float32},
                      {"bfloat16", Compute::bfloat16},
                      {"int8", Compute::int8},
                      {"int4", Compute::int4}},
                     "Type of the weights: int8 is fastest for batches, int4 for one input; bfloat16 needs "
                     "AVX-512 BF16 [float32, or the type of a quantized folder" +
                         std::string(files == ModelFiles::folders_and_gguf ? " or GGUF file]" : "]"));
}

void AddDraftOption(OptionTable& command, bool& draft) {
  command.Add("--draft", draft,
              "Speculative decoding of a single text, with an int8 copy of the weights as the draft; for greedy "
              "decoding only (--beam-size 1, no sampling, no penalties); the text is bit-identical, and a large model "
              "writes it faster");
}

void AddTranslationOptions(OptionTable& command, LoadOptions& load, TranslateOptions& options) {
  AddComputeOption(command, load.compute, ModelFiles::folders_and_gguf);
  command.Add("--shortlist", load.shortlist,
              "Restrict the output vocabulary to the folder's shortlist, often faster; `headlight shortlist` "
              "makes it");
  AddDraftOption(command, load.draft);
  command.Add("--beam-size", options.beam_size, Between(1, 1024), "Beams; 1: greedy [the model's num_beams, or 4]");
  command.Add("--length-penalty", options.length_penalty, AnyNumber(),
              "With beams, score outputs by log-probability / length^X [the model's, or 1]");
  command
      .Add("--max-length", options.max_length, AtLeast(1),
           "Maximum tokens of an output [the model's, or 3 times the source's plus 50]")
      .HasValueIf([&options] { return options.max_length != 0; });
  command.Add("--min-length", options.min_length, AtLeast(0), "Minimum tokens of an output [the model's, or 0]");
  command.Add("--no-repeat-ngram-size", options.no_repeat_ngram_size, AtLeast(0),
              "Repeat no n-gram of this size; 0: any may repeat [the model's, or 0]");
  command.Add("--batch-tokens", options.batch_tokens, AtLeast(1), "Source tokens computed at once")
      .ShowDefault()
      .HasValueIf([&options] { return options.batch_tokens != TranslateOptions().batch_tokens; });
}

void AddTaskOptions(OptionTable& command, TranslateOptions& options) {
  command
      .Add("--task", options.task,
           "Take the prefix and settings from this entry of task_specific_params in config.json, such as "
           "summarization or translation_en_to_de")
      .Check(NotEmpty())
      .Type("NAME");
  command.Add("--prefix", options.prefix, "Put this before each text, as T5 expects, such as 'summarize: '")
      .Type("TEXT");
  command
      .Add("--source-language", options.source_language,
           "Language of the text, for a multilingual BART: a special token, such as de_DE [the tokenizer's]")
      .Check(NotEmpty())
      .Type("TOKEN");
  command
      .Add("--target-language,--forced-language", options.target_language,
           "Language of the output: a special token, such as en_XX [the model's, if it has one]")
      .Check(NotEmpty())
      .Type("TOKEN");
}

}  // namespace headlight
