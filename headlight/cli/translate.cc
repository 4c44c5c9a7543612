// headlight translate and headlight summarize: lines in, lines out.
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
#include "headlight/nn/encoder_decoder.h"
#include "headlight/tasks/translator.h"

namespace headlight {
namespace {

struct Options {
  std::string folder, input = "-", attention_file;
  TranslateOptions translate;
  LoadOptions load;
  bool summarize = false;
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

void Warn(const Translation& best, const std::string& place, std::int64_t positions, const Options& options) {
  if (best.parts > 1)
    Note("{}: {} tokens, of which the model reads {} at once: translated in {} parts{}", place, best.tokens, positions,
         best.parts, options.translate.attention ? ", without keeping their attention" : "");
  if (!best.complete)
    Note("{}: the {} reached the longest length and may be incomplete", place,
         options.summarize ? "summary" : "translation");
}

// The parts of a text have no summary between them that is the text's.
void RefuseLongTexts(const Translator& translator, const std::vector<std::string>& texts,
                     const TranslateOptions& options, const std::string& name, std::int64_t lines_before) {
  const std::int64_t most = translator.model().limits().positions;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::int64_t tokens = translator.CountTokens(texts[i], options);
    Check(tokens <= most, "{}: line {}: {} tokens, and the model reads at most {}: it must be shortened", name,
          lines_before + static_cast<std::int64_t>(i) + 1, tokens, most);
  }
}

void Run(const Options& options) {
  const Translator translator = Translator::Load(options.folder, options.load);
  translator.TranslateBatch({}, options.translate);  // refuses impossible options before anything is read
  AttentionFile attention(options.attention_file);
  const std::string name = options.input == "-" ? "standard input" : options.input;
  // Enough lines to fill eight batches, at four bytes a token, from which DecodeInBatches takes those of equal length.
  LineQueue lines(options.input == "-" ? LineReader(STDIN_FILENO, name) : LineReader(name),
                  static_cast<std::size_t>(options.translate.batch_tokens) * 32);
  Progress progress(options.summarize ? "lines summarized" : "lines translated");
  std::int64_t line = 0;
  for (std::vector<std::string> texts = lines.Next(); !texts.empty(); texts = lines.Next()) {
    if (options.summarize) RefuseLongTexts(translator, texts, options.translate, name, line);
    const auto translations = translator.TranslateBatch(texts, options.translate);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      ++line;
      Warn(translations[i].front(), fmt::format("{}: line {}", name, line), translator.model().limits().positions,
           options);
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
  AddTaskOptions(command, options->translate);
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
      "  headlight translate model --n-best 3 --alignments < sentences.de\n"
      "  headlight translate t5-small news.en --prefix 'translate English to German: '\n"
      "  headlight translate mbart-large-50-many-to-many-mmt news.de --source-language de_DE --target-language en_XX");
  command.callback([options] {
    options->translate.attention = !options->attention_file.empty();
    Run(*options);
  });
}

void AddSummarize(CLI::App& program) {
  CLI::App& command = *program.add_subcommand("summarize", "Summarize texts, line by line");
  const auto options = std::make_shared<Options>();
  options->summarize = true;
  command.add_option("DIR", options->folder, "The folder of a T5, a BART or another model that learned to")->required();
  command.add_option("FILE", options->input, "Texts, one a line, plain or gzip; - is standard input [-]");
  AddTranslationOptions(command, options->load, options->translate);
  AddTaskOptions(command, options->translate);
  AddCommonOptions(command);
  command.footer(
      "\nSummaries come out in the order in which their texts came in. An empty line stays empty. A line with more\n"
      "tokens than the model reads is refused, since the summaries of its parts would be none of the whole.\n\n"
      "Examples:\n"
      "  headlight summarize bart-large-cnn articles.txt\n"
      "  headlight summarize t5-small articles.txt --task summarization\n"
      "  headlight summarize flan-t5-small articles.txt --prefix 'summarize: ' --min-length 20");
  command.callback([options] { Run(*options); });
}

}  // namespace headlight
