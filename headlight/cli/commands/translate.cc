// headlight translate: translates texts, line by line.
#include "headlight/cli/commands/sampling_options.h"
#include "headlight/cli/commands/translate_lines.h"
#include "headlight/cli/program/commands.h"
#include "headlight/pipelines/translation_options.h"

namespace headlight::translate {

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "translate", "Translate text, line by line", TranslateLines);
  AddFolder(command, options.folder, "Folder of an encoder-decoder model, or GGUF file of a T5");
  command.Add("FILE", options.input,
              "Texts, a sentence per line or as records (see --format), plain or gzip; - is standard input [-]");
  AddTranslationOptions(command, options.load, options.translate);
  AddTaskOptions(command, options.translate);
  command.Add("--n-best", options.translate.n_best, Between(1, 1024),
              "Print the N best translations of each line, or N samples, as LINE<tab>SCORE<tab>TRANSLATION [the "
              "model's, or 1]");
  AddSamplingOptions(command, options.translate);
  command
      .AddFunction(
          "--target-prefix",
          [&translate = options.translate](const std::string& prefix) { translate.target_prefix = {prefix}; },
          "Text that begins each translation")
      .Type("TEXT");
  command
      .AddFile("--target-prefixes", options.target_prefixes,
               "File with a text for each line of the input that begins its translation; - is "
               "standard input")
      .Excludes(command.Get("--target-prefix"));
  command.Add(
      "--scores", options.translate.token_scores,
      "Print a tab and the log-probabilities of its words after each translation and its alignment; - for words "
      "of a target prefix");
  command.Add("--alignments", options.translate.alignment,
              "Print a tab and the word alignment after each translation, as pairs SOURCE-TARGET of words counted from "
              "0, from the last layer's cross-attention, averaged over its heads");
  command.Add("--json", options.json,
              "Print one JSON object per translation: line, text, score, complete (false if --max-length cut "
              "it); with --alignments alignment, pairs of words [SOURCE, TARGET]; with --scores pieces and "
              "log_probabilities, of each token");
  options.source.asked = TextsAsked::source;
  Describe(command, options.source);
  Option& skip = AddSkipErrors(command, options);
  Option& shard = AddShard(command, options.shard);
  command
      .AddFile("--output-attentions", options.attention_file,
               "Write attention weights to this file: for each line and layer a tensor [heads, query, key], named "
               "LINE.encoder.LAYER, LINE.decoder.LAYER or LINE.cross.LAYER, all counted from 0; the metadata has "
               "the tokens as JSON: LINE.source and LINE.target",
               "FILE.safetensors")
      .Excludes(skip)
      .Excludes(shard);
  command.footer =
      "\nTranslations are printed in the order of the lines, as soon as they are ready. An empty line stays "
      "empty. A line of more tokens than the model has positions is divided near its middle, with a warning: "
      "after a sentence, a clause, a word or else a token, until each part fits.\n\n"
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
