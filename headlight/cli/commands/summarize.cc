// headlight summarize: texts in, their summaries out, a line each.
#include "headlight/cli/commands/sampling_options.h"
#include "headlight/cli/commands/translate_lines.h"
#include "headlight/cli/program/commands.h"
#include "headlight/pipelines/translation_options.h"

namespace headlight::summarize {

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "summarize", "Summarize texts, line by line", TranslateLines);
  options.summarize = true;
  AddFolder(command, options.folder, "Folder of a T5, a BART or another encoder-decoder");
  command.Add("FILE", options.input,
              "Texts, one per line or as records (see --format), plain or gzip; - is standard input [-]");
  AddTranslationOptions(command, options.load, options.translate);
  AddTaskOptions(command, options.translate);
  AddSamplingOptions(command, options.translate);
  command.Add("--json", options.json,
              "Print one JSON object per summary: line, text, score, complete (false where --max-length cut it)");
  options.source.asked = TextsAsked::source;
  Describe(command, options.source);
  AddTruncate(command, options);
  AddSkipErrors(command, options);
  AddShard(command, options.shard);
  command.footer =
      "\nSummaries come out in the order in which their texts came in. An empty line stays empty. A line with more\n"
      "tokens than the model reads is refused, since the summaries of its parts would be none of the whole; "
      "--truncate\n"
      "leaves out its end.\n\n"
      "Examples:\n"
      "  headlight summarize bart-large-cnn articles.txt\n"
      "  headlight summarize t5-small articles.txt --task summarization\n"
      "  headlight summarize flan-t5-small articles.txt --prefix 'summarize: ' --min-length 20";
}

}  // namespace headlight::summarize
