#include "headlight/pipelines/folder_answerer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "headlight/base/error.h"
#include "headlight/kinds/caption_model.h"
#include "headlight/kinds/encoder_decoder.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/object_detector.h"
#include "headlight/pipelines/read_at_once.h"
#include "headlight/pipelines/region_answerer.h"
#include "headlight/pipelines/translation_options.h"
#include "headlight/pipelines/translator.h"

namespace headlight {
namespace {

std::int32_t AnswerLength(std::int64_t max_length, std::int64_t most) {
  Check(max_length <= most, "`max_length` {}: the model writes at most {} tokens", max_length, most);
  return static_cast<std::int32_t>(max_length);
}

// Returns an option that is set but valid only for models that extract answers, or "" if there is none.
std::string_view FindingOptionOf(const FolderAnswererOptions& options) {
  if (options.always) return "always";
  if (!options.align_words) return "align_words";
  if (options.top_k) return "top_k";
  return options.max_input_length ? "max_input_length" : options.stride ? "stride" : "";
}

FolderAnswer FoundAnswerOf(const AnswerSpan& span) {
  return {.answer = span.answer, .score = span.score, .start = span.start, .end = span.end, .found = span.found};
}

FolderAnswerer LoadFinding(const std::string& folder, const FolderAnswererOptions& options) {
  AnswerOptions ask{.may_decline = !options.always,
                    .align_words = options.align_words,
                    .max_input_length = options.max_input_length,
                    .stride = options.stride};
  ask.top_k = options.top_k.value_or(ask.top_k);
  ask.longest_answer = options.max_length.value_or(ask.longest_answer);
  const QuestionAnswerer answerer = QuestionAnswerer::Load(folder, options.load);
  return {.form = AnswerForm::found,
          .passages = [answerer, ask](std::span<const Question> questions, const QuestionName& question_name) {
            AnswerOptions how = ask;
            how.name_of = question_name;
            std::vector<FolderAnswer> answers;
            for (const std::vector<AnswerSpan>& best : answerer.Answer(questions, how)) {
              answers.push_back(FoundAnswerOf(best.front()));
              for (std::size_t i = 1; i < best.size(); ++i) answers.back().further.push_back(FoundAnswerOf(best[i]));
            }
            return answers;
          }};
}

// Returns T5's input for SQuAD (Raffel et al., 2020, appendix D).
std::string SquadInput(const Question& question) {
  std::string text = fmt::format("question: {} context: {}", question.question, question.context);
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  return text;
}

FolderAnswerer LoadWriting(const std::string& folder, const FolderAnswererOptions& options) {
  const std::string_view other = FindingOptionOf(options);
  Check(other.empty(), "`{}` is for models that find an answer in the passage; this one always writes one", other);
  const bool truncate = options.truncate;
  const Translator translator = Translator::Load(folder, options.load);
  const std::int64_t most = translator.model().limits().positions;
  TranslateOptions how;
  how.max_length = AnswerLength(options.max_length.value_or(0), most);
  return {.form = AnswerForm::written,
          .passages = [translator, how, most, truncate, on_truncated = options.on_truncated](
                          std::span<const Question> questions, const QuestionName& question_name) {
            std::vector<std::string> texts;
            for (std::size_t i = 0; i < questions.size(); ++i) {
              const auto name = [&] { return question_name ? question_name(i) : fmt::format("text {}", i + 1); };
              if (questions[i].context.empty()) Fail("{}: the passage has no tokens", name());
              texts.push_back(SquadInput(questions[i]));
              if (truncate && TruncateToRead(translator, texts.back(), how) && on_truncated) on_truncated(name(), most);
              CheckReadAtOnce(translator, texts.back(), how, name());
            }
            std::vector<FolderAnswer> answers;
            for (const auto& found : translator.TranslateBatch(texts, how))
              answers.push_back({.answer = found.front().text});
            return answers;
          }};
}

FolderAnswerer LoadLooking(const std::string& folder, const FolderAnswererOptions& options) {
  Check(options.detector.empty(), "`detector` is for models that read regions; this one reads the whole image");
  const std::string_view other = FindingOptionOf(options);
  Check(other.empty(), "`{}` is for models that find an answer or none; this one always writes one", other);
  const VisualQuestionAnswerer answerer = VisualQuestionAnswerer::Load(folder, options.load);
  CaptionOptions ask;
  if (options.max_length) ask.max_length = AnswerLength(*options.max_length, answerer.model().limits().positions);
  return {.form = AnswerForm::written,
          .images = [answerer, ask](std::span<const Image> images, std::span<const ImageQuestion> questions,
                                    const QuestionName& image_name, const QuestionName& question_name) {
            CaptionOptions how = ask;
            how.name_of = image_name;
            std::vector<FolderAnswer> answers;
            try {
              for (const std::vector<VisualAnswer>& best : answerer.Answer(images, questions, how))
                answers.push_back({.answer = best.front().answer, .score = best.front().score});
            } catch (const Error& error) {
              if (error.cause() != ErrorCause::user || !question_name || questions.empty()) throw;
              Fail("{}{}: {}", question_name(0), questions.size() == 1 ? "" : " and on", error.what());
            }
            return answers;
          }};
}

FolderAnswerer LoadChoosing(const std::string& folder, const FolderAnswererOptions& options) {
  const std::string_view other = options.max_length ? "max_length" : FindingOptionOf(options);
  Check(other.empty(), "`{}` is for models that read passages; this one chooses from a fixed set of answers", other);
  const RegionAnswerer answerer = RegionAnswerer::Load(folder, options.load);
  Check(answerer.reads_boxes() || options.detector.empty(),
        "`detector` is for models that read regions; this one reads the whole image");
  Check(!answerer.reads_boxes() || !options.detector.empty(),
        "{}: this model reads regions of an image; `detector` DIR names a model that finds them", folder);
  std::optional<ObjectDetector> detector;
  if (!options.detector.empty()) detector = ObjectDetector::Load(options.detector);
  return {.form = AnswerForm::chosen,
          .images = [answerer, detector](std::span<const Image> images, std::span<const ImageQuestion> questions,
                                         const QuestionName& image_name, const QuestionName& question_name) {
            std::vector<std::optional<std::vector<Box>>> seen(images.size());  // the boxes of each image
            const auto boxes_of = [&](std::size_t image) -> const std::vector<Box>& {
              std::optional<std::vector<Box>>& boxes = seen[image];
              if (boxes) return *boxes;
              boxes.emplace();
              if (!detector) return *boxes;
              DetectOptions how;
              if (image_name) how.name_of = [&](std::size_t) { return image_name(image); };
              for (const DetectedObject& one : detector->Detect(images[image], how)) boxes->push_back(one.box);
              return *boxes;
            };
            std::vector<FolderAnswer> answers;
            for (std::size_t i = 0; i < questions.size(); ++i) {
              const std::size_t image = questions[i].image;
              try {
                Check(image < images.size(), "question {} is about image {} of {}", i + 1, image + 1, images.size());
                const VisualAnswer best =
                    answerer.Answer(images[image], boxes_of(image), questions[i].question).front();
                answers.push_back({.answer = best.answer, .score = best.score});
              } catch (const Error& error) {
                if (!question_name) throw;
                throw Error(question_name(i) + ": " + error.what(), error.cause());
              }
            }
            return answers;
          }};
}

struct AnsweringKind {
  std::string_view kind;
  AnswersFrom from;
  FolderAnswerer (*load)(const std::string& folder, const FolderAnswererOptions& options);
};
constexpr AnsweringKind kAnsweringKinds[] = {{EncoderDecoder::kKind, AnswersFrom::passages, LoadWriting},
                                             {CaptionModel::kKind, AnswersFrom::images, LoadLooking},
                                             {RegionTextEncoder::kKind, AnswersFrom::images, LoadChoosing}};
// Also used for models that do not answer questions. Loading such models throws Error.
constexpr AnsweringKind kFindingKind = {"", AnswersFrom::passages, LoadFinding};

const AnsweringKind& AnsweringKindOf(const std::string& folder) {
  const std::string_view its = FamilyOf(OpenModelFolder(folder)).kind;
  const auto kind = std::ranges::find(kAnsweringKinds, its, &AnsweringKind::kind);
  return kind == std::end(kAnsweringKinds) ? kFindingKind : *kind;
}

}  // namespace

AnswersFrom AnswersFromOf(const std::string& folder) { return AnsweringKindOf(folder).from; }

FolderAnswerer FolderAnswerer::Load(const std::string& folder, const FolderAnswererOptions& options) {
  const AnsweringKind& kind = AnsweringKindOf(folder);
  Check(kind.from == AnswersFrom::images || options.detector.empty(),
        "`detector` is for models that read images; this one reads passages");
  Check(kind.load == LoadWriting || !options.truncate,
        "{}: `truncate` is for models that write answers; this one reads a long passage in windows", folder);
  Check(options.max_length.value_or(1) >= 1, "`max_length` must be at least 1, not {}", options.max_length.value_or(0));
  return kind.load(folder, options);
}

}  // namespace headlight
