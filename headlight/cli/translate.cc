// headlight translate: lines in, lines out.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "headlight/cli/attention_file.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/line_queue.h"
#include "headlight/cli/output.h"
#include "headlight/cli/translation_options.h"
#include "headlight/serve/translator.h"

namespace headlight {
namespace {

struct Options {
  std::string folder, input = "-", attention_file;
  TranslateOptions translate;
  LoadOptions load;
};

std::string Row(const Translation& translation, std::int64_t line, const TranslateOptions& options) {
  std::string row;
  if (options.n_best > 1) row = fmt::format("{}\t{:.6f}\t", line, translation.score);
  row += translation.text;
  if (options.alignment) {
    row += '\t';
    for (const WordPair& pair : translation.alignment)
      row += fmt::format("{}{}-{}", row.ends_with('\t') ? "" : " ", pair.source, pair.target);
  }
  return row + '\n';
}

void Warn(const Translation& best, const std::string& place, std::int64_t positions, bool attention) {
  if (best.parts > 1)
    Note("{}: {} tokens, of which the model reads {} at once: translated in {} parts{}", place, best.tokens, positions,
         best.parts, attention ? ", without keeping their attention" : "");
  if (!best.complete) Note("{}: the translation reached the longest length and may be incomplete", place);
}

void Run(const Options& options) {
  const Translator translator = Translator::Load(options.folder, options.load);
  translator.TranslateBatch({}, options.translate);  // refuses impossible options before anything is read
  AttentionFile attention(options.attention_file);
  const std::string name = options.input == "-" ? "standard input" : options.input;
  // Enough lines to fill eight batches, at four bytes a token, from which DecodeInBatches takes those of equal length.
  LineQueue lines(options.input == "-" ? LineReader(STDIN_FILENO, name) : LineReader(name),
                  static_cast<std::size_t>(options.translate.batch_tokens) * 32);
  Progress progress("lines translated");
  std::int64_t line = 0;
  for (std::vector<std::string> texts = lines.Next(); !texts.empty(); texts = lines.Next()) {
    const auto translations = translator.TranslateBatch(texts, options.translate);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      ++line;
      Warn(translations[i].front(), fmt::format("{}: line {}", name, line), translator.model().limits().positions,
           options.translate.attention);
      for (const Translation& translation : translations[i]) WriteResult(Row(translation, line, options.translate));
      if (translations[i].front().attention) attention.Add(line - 1, *translations[i].front().attention);
    }
    FlushResults();
    progress.Show(line);
  }
  attention.Write();
}

}  // namespace

void AddTranslate(CLI::App& program) {
  CLI::App& command = *program.add_subcommand("translate", "Translate text, line by line");
  const auto options = std::make_shared<Options>();
  command.add_option("DIR", options->folder, "The model's folder")->required();
  command.add_option("FILE", options->input, "Text, a sentence a line, plain or gzip; - is standard input [-]");
  AddTranslationOptions(command, options->load, options->translate);
  command
      .add_option("--n-best", options->translate.n_best,
                  "Print so many translations of each line, best first, as\n"
                  "LINE<tab>SCORE<tab>TRANSLATION [1]")
      ->type_name("N");
  command.add_flag("--alignments", options->translate.alignment,
                   "After each translation print <tab> and, for each of its words, the source words that it comes\n"
                   "from, as SOURCE-TARGET, counted from 0 between spaces. They are read off the cross-attention of\n"
                   "the last layer, averaged over its heads.");
  command
      .add_option("--attention", options->attention_file,
                  "Save what every head looks at, a tensor [heads, query, key] a layer, named\n"
                  "LINE.encoder.LAYER, LINE.decoder.LAYER and LINE.cross.LAYER, all counted from 0. The file's\n"
                  "metadata has the tokens as JSON: LINE.source and LINE.target.")
      ->type_name("FILE.safetensors");
  AddCommonOptions(command);
  command.footer(
      "\nLines come out in the order in which they came in, and as soon as they are translated. An empty line stays\n"
      "empty. A line with more tokens than the model has positions is divided near its middle, after a sentence, or\n"
      "else a clause, or else a word, until each part fits, and a warning names it.\n\n"
      "Examples:\n"
      "  echo 'Ein Hund läuft.' | headlight translate model\n"
      "  headlight translate model news.de.gz --beam-size 5 --length-penalty 0.6 > news.en\n"
      "  headlight translate model --n-best 3 --alignments < sentences.de");
  command.callback([options] {
    options->translate.attention = !options->attention_file.empty();
    Run(*options);
  });
}

}  // namespace headlight
