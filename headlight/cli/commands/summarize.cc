// headlight summarize: summarizes texts, line by line.
#include "headlight/cli/commands/sampling_options.h"
#include "headlight/cli/commands/translate_lines.h"
#include "headlight/cli/program/commands.h"
#include "headlight/pipelines/translation_options.h"

namespace headlight::summarize {

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "summarize", "Summarize texts, line by line", TranslateLines);
  options.summarize = true;
  AddFolder(command, options.folder, "Folder of a T5, BART or other encoder-decoder, or GGUF file of a T5");
  command.Add("FILE", options.input,
              "Texts, one per line or as records (see --format), plain or gzip; - is standard input [-]");
  AddTranslationOptions(command, options.load, options.translate);
  AddTaskOptions(command, options.translate);
  AddSamplingOptions(command, options.translate);
  command.Add("--json", options.json,
              "Print one JSON object per summary: line, text, score, complete (false if --max-length cut it)");
  options.source.asked = TextsAsked::source;
  Describe(command, options.source);
  AddTruncate(command, options);
  AddSkipErrors(command, options);
  AddShard(command, options.shard);
  command.footer =
      "\nSummaries are printed in the order of the texts. An empty line stays empty. A text of more tokens than "
      "the model reads is an error, since summaries of its parts would not be a summary of the whole; "
      "--truncate cuts off its end.\n\n"
      "Examples:\n"
      "  headlight summarize bart-large-cnn articles.txt\n"
      "  headlight summarize t5-small articles.txt --task summarization\n"
      "  headlight summarize flan-t5-small articles.txt --prefix 'summarize: ' --min-length 20";
}

}  // namespace headlight::summarize
