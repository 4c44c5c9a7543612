// headlight translate: lines in, lines out.
#include "headlight/cli/commands/sampling_options.h"
#include "headlight/cli/commands/translate_lines.h"
#include "headlight/cli/program/commands.h"
#include "headlight/pipelines/translation_options.h"

namespace headlight::translate {

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "translate", "Translate text, line by line", TranslateLines);
  AddFolder(command, options.folder, "The model's folder");
  command.Add("FILE", options.input,
              "Texts, a sentence per line or as records (see --format), plain or gzip; - is standard input [-]");
  AddTranslationOptions(command, options.load, options.translate);
  AddTaskOptions(command, options.translate);
  command.Add("--n-best", options.translate.n_best, Between(1, 1024),
              "Print the N best translations of each line, or N samples, as LINE<tab>SCORE<tab>TRANSLATION [1]");
  AddSamplingOptions(command, options.translate);
  command
      .AddFunction(
          "--target-prefix",
          [&translate = options.translate](const std::string& prefix) { translate.target_prefix = {prefix}; },
          "Begin each translation with this text, which the model continues")
      .Type("TEXT");
  command
      .AddFile("--target-prefixes", options.target_prefixes,
               "Begin each translation with its line of this file, which has as many lines as the input; - is "
               "standard input")
      .Excludes(command.Get("--target-prefix"));
  command.Add("--scores", options.translate.token_scores,
              "Print a tab and the log-probability of each word after each translation and its alignment; - for words "
              "of a target prefix");
  command.Add("--alignments", options.translate.alignment,
              "Print a tab and the word alignment after each translation, as pairs SOURCE-TARGET of words counted from "
              "0, from the last layer's cross-attention, averaged over its heads");
  command.Add("--json", options.json,
              "Print one JSON object per translation: line, text, score, complete (false where --max-length cut "
              "it), with --alignments alignment, pairs of words [SOURCE, TARGET], and with --scores pieces and "
              "log_probabilities, of each token");
  options.source.asked = TextsAsked::source;
  Describe(command, options.source);
  Option& skip = AddSkipErrors(command, options);
  Option& shard = AddShard(command, options.shard);
  command
      .AddFile("--output-attentions", options.attention_file,
               "Save the attention weights to this file: per line and layer a tensor [heads, query, key], named "
               "LINE.encoder.LAYER, LINE.decoder.LAYER and LINE.cross.LAYER, all counted from 0; the metadata has "
               "the tokens as JSON: LINE.source and LINE.target",
               "FILE.safetensors")
      .Excludes(skip)
      .Excludes(shard);
  command.footer =
      "\nLines come out in the order in which they came in, and as soon as they are translated. An empty line stays\n"
      "empty. A line with more tokens than the model has positions is divided near its middle, after a sentence, or\n"
      "else a clause, or else a word, until each part fits, and a warning names it.\n\n"
      "Examples:\n"
      "  echo 'Ein Hund läuft.' | headlight translate model\n"
      "  headlight translate model news.de.gz --beam-size 5 --length-penalty 0.6 > news.en\n"
      "  headlight translate model --n-best 3 --alignments < sentences.de\n"
      "  headlight translate model news.de --target-prefixes beginnings.en --scores\n"
      "  headlight translate model news.de --temperature 0.8 --top-k 10 --seed 7 --n-best 5\n"
      "  headlight translate t5-small news.en --prefix 'translate English to German: '\n"
      "  headlight translate mbart-large-50-many-to-many-mmt news.de --source-language de_DE --target-language en_XX";
}

}  // namespace headlight::translate
