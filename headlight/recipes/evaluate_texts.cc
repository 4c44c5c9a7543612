#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "headlight/base/counted.h"
#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/data/classified_texts.h"
#include "headlight/models/esm.h"
#include "headlight/pipelines/encoder_folder.h"
#include "headlight/pipelines/text_generator.h"
#include "headlight/recipes/evaluate_kinds.h"
#include "headlight/recipes/evaluation_report.h"
#include "headlight/recipes/text_training.h"
#include "headlight/train/objectives/classification.h"
#include "headlight/train/objectives/mask_baselines.h"
#include "headlight/train/objectives/masked_language_model.h"
#include "headlight/train/objectives/question_answering.h"
#include "headlight/train/objectives/tagging.h"

namespace headlight {
namespace {

void NoteWarnings(const TextExamples& read, const Evaluation& options, const EvaluationObserver& observer) {
  Check(!read.texts.empty(), "{}: there is no text in it", fmt::join(options.files, ", "));
  if (read.truncated > 0) Note(observer, TruncatedNote(read.truncated));
  for (const std::string& warning : read.warnings) Note(observer, "warning: " + warning);
}

}  // namespace

EvaluationResult EvaluateTextEncoder(const Evaluation& options, const EvaluationObserver& observer) {
  const EncoderFolder encoder = Loaded(observer, [&] { return LoadEncoderFolder(options.folder, options.load); });
  const TextEncoder& model = *encoder.model;
  const TextHeadsConfig& heads = model.heads();
  const std::int64_t longest = model.limits().positions;
  std::vector<std::string> labels = heads.labels;
  const auto result = [&](const Evaluated& evaluated) {
    CheckLoss(model, evaluated.report.loss);
    return ResultOf(evaluated);
  };
  Check(options.train.empty() || heads.masked_words, "{}: `train` is for encoders with a head for masked words",
        options.folder);
  TextColumns columns = options.columns;
  columns.text = options.source_of_texts.columns.text;
  Check(heads.sequence_classes || (columns.text_pair.empty() && columns.label.empty()),
        "{}: `text_pair_column` and `label_column` are for encoders with a head for classes of texts", options.folder);
  const PassWatch watch = Watch(observer, "texts evaluated");
  const bool labeled = heads.sequence_classes || heads.token_classes || heads.question_spans;
  Check(!labeled || heads.sequence_classes || columns.text.empty(),
        "{}: `text_column` is for texts without labels and for classes of texts", options.folder);
  if (heads.sequence_classes) {
    const TextExamples texts = ReadClassifiedTexts(options.files, encoder.tokenizer, longest, labels,
                                                   {.rule = NewLabels::refused_but_numbers,
                                                    .asked = LabelsPerTextOf(heads.problem),
                                                    .columns = columns,
                                                    .format = options.source_of_texts.format,
                                                    .truncate = options.truncate});
    NoteWarnings(texts, options, observer);
    return result({"classification", ValidateClasses(model, texts.texts, watch), "texts", texts.texts.size(), "texts"});
  }
  if (heads.token_classes) {
    const TaggedTexts texts = ReadTaggedTexts(options.files, encoder.tokenizer, longest, labels,
                                              NewLabels::refused_but_numbers, {}, options.source_of_texts.format);
    NoteWarnings(texts.texts, options, observer);
    return result({"tagging", ValidateTags(model, texts, watch), "sentences", texts.tags.size(), "tokens"});
  }
  if (heads.question_spans) {
    const QuestionTexts texts = ReadQuestions(options.files, encoder.tokenizer, longest, /*to_be_scored=*/true, {},
                                              options.source_of_texts.format);
    NoteWarnings(texts.texts, options, observer);
    return result({"question-answering", ValidateAnswers(model, texts, watch), "questions", texts.questions.size(),
                   "beginnings and ends"});
  }
  Check(
      heads.masked_words,
      "{}: this encoder has no head that could be evaluated: for classes of texts or tokens, answers or masked words; "
      "`headlight train` gives it one",
      options.folder);
  MaskingOptions masking;
  SetSpecialTokens(encoder.tokenizer, options.folder, masking);
  TextSource source = options.source_of_texts;
  source.proteins = dynamic_cast<const Esm*>(&model) != nullptr;
  const TextExamples texts = ReadTexts(options.files, encoder.tokenizer, longest, /*for_encoder=*/true, {}, source);
  NoteWarnings(texts, options, observer);
  ValidationReport report = ValidateMaskedWords(model, texts.texts, masking, watch);
  const auto masked = static_cast<std::size_t>(report.labels);
  Evaluated evaluated = {"masked-language-model", std::move(report), "masked_tokens", masked, "masked tokens"};
  if (!options.train.empty()) {
    const TextExamples train = ReadTexts(options.train, encoder.tokenizer, longest, /*for_encoder=*/true, {}, source);
    const MaskBaselines bits = ScoreMaskBaselines(train.texts, texts.texts, masking, model.limits().vocabulary);
    evaluated.lines = fmt::format("bits per mask {:.4f} by frequencies, {:.4f} by both neighbors\n", bits.by_frequency,
                                  bits.by_neighbors);
    evaluated.members = {{"frequency_bits_per_mask", bits.by_frequency}, {"neighbor_bits_per_mask", bits.by_neighbors}};
  }
  return result(evaluated);
}

EvaluationResult EvaluateLanguageModel(const Evaluation& options, const EvaluationObserver& observer) {
  const TextGenerator generator = Loaded(observer, [&] { return TextGenerator::Load(options.folder, options.load); });
  Show(observer, "texts evaluated");
  TextScore all;
  std::int64_t texts = 0;
  std::vector<std::string> batch;
  const auto score = [&] {
    for (const TextScore& one : generator.Score(batch, {.with_end = options.end})) {
      all.log_probability += one.log_probability;
      all.tokens += one.tokens;
      all.bytes += one.bytes;
    }
    Show(observer, "texts evaluated", texts += std::ssize(batch));
    batch.clear();
  };
  for (const std::string& path : options.files)
    ForEachText(
        path,
        [&](std::string_view text) {
          if (text.empty()) return;
          batch.emplace_back(text);
          if (batch.size() == 64) score();
        },
        options.source_of_texts);
  score();
  Check(all.tokens > 0, "{}: there is no text in it whose tokens can be scored", fmt::join(options.files, ", "));
  const double loss = -all.log_probability / static_cast<double>(all.tokens);
  return {Json::Object{{"task", "language-model"},
                       {"perplexity", NumberOrNull(all.perplexity())},
                       {"loss", NumberOrNull(loss)},
                       {"bits_per_byte", NumberOrNull(all.bits_per_byte())},
                       {"tokens", all.tokens},
                       {"bytes", all.bytes},
                       {"texts", texts},
                       {"end", options.end}},
          fmt::format("perplexity {:.4f}, loss {:.4f}, {:.4f} bits per byte of {}, {} in {}, {}\n", all.perplexity(),
                      loss, all.bits_per_byte(), Counted(all.tokens, "token"), Counted(all.bytes, "byte"),
                      Counted(texts, "text"), options.end ? "their ends counted" : "their ends not counted")};
}

}  // namespace headlight
