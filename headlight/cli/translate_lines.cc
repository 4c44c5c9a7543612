#include "headlight/cli/translate_lines.h"

#include "headlight/cli/attention_file.h"
#include "headlight/cli/line_batches.h"
#include "headlight/cli/output.h"
#include "headlight/nn/encoder_decoder.h"

namespace headlight {
namespace {

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

void Warn(const Translation& best, const std::string& place, std::int64_t positions, const LineTranslation& options,
          bool whole) {
  if (best.parts > 1)
    Note("{}: {} tokens, of which the model reads {} at once: translated in {} parts{}", place, best.tokens, positions,
         best.parts, !options.attention_file.empty() ? ", without keeping their attention" : "");
  if (!best.complete)
    Note("{}: the {} reached the longest length and may be incomplete", place, whole ? "summary" : "translation");
}

// The parts of a text have no summary between them that is the text's.
void RefuseLongTexts(const Translator& translator, const LineBatch& batch, const TranslateOptions& options) {
  const std::int64_t most = translator.model().limits().positions;
  for (std::size_t i = 0; i < batch.lines.size(); ++i) {
    const std::int64_t tokens = translator.CountTokens(batch.lines[i], options);
    Check(tokens <= most, "{}: {} tokens, and the model reads at most {}: it must be shortened", batch.name_of(i),
          tokens, most);
  }
}

}  // namespace

void TranslateLines(const LineTranslation& options, bool whole) {
  const Translator translator = Translator::Load(options.folder, options.load);
  TranslateOptions translate = options.translate;
  translate.attention = !options.attention_file.empty();
  translator.TranslateBatch({}, translate);  // refuses impossible options before anything is read
  AttentionFile attention(options.attention_file);
  // Enough lines to fill eight batches, from which DecodeInBatches takes those of equal length.
  const std::size_t ahead = BytesAhead(translate.batch_tokens);
  ForEachLineBatch(options.input, whole ? "lines summarized" : "lines translated", ahead, [&](const LineBatch& batch) {
    if (whole) RefuseLongTexts(translator, batch, translate);
    const auto translations = translator.TranslateBatch(batch.lines, translate);
    for (std::size_t i = 0; i < translations.size(); ++i) {
      const std::int64_t line = batch.first + static_cast<std::int64_t>(i);
      const Translation& best = translations[i].front();
      Warn(best, batch.name_of(i), translator.model().limits().positions, options, whole);
      for (const Translation& translation : translations[i]) WriteResult(Row(translation, line, translate));
      if (best.attention) attention.Add(line - 1, *best.attention);
    }
  });
  attention.Write();
}

}  // namespace headlight
