#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/data/image_questions.h"
#include "headlight/pipelines/region_folder.h"
#include "headlight/recipes/evaluate_kinds.h"
#include "headlight/recipes/evaluation_report.h"
#include "headlight/recipes/region_questions.h"
#include "headlight/text/printable.h"

namespace headlight {
namespace {

// Counts the questions of a kind, and the answers that are correct without the image.
struct BlindCounts {
  std::int64_t questions = 0, by_question = 0, by_kind = 0;

  double question_accuracy() const { return Share(by_question); }
  double kind_accuracy() const { return Share(by_kind); }

 private:
  double Share(std::int64_t right) const { return 100.0 * static_cast<double>(right) / static_cast<double>(questions); }
};

void Count(const BlindAnswers& blind, std::size_t question, BlindCounts& counts) {
  ++counts.questions;
  counts.by_question += blind.by_question[question] ? 1 : 0;
  counts.by_kind += blind.by_kind[question] ? 1 : 0;
}

}  // namespace

EvaluationResult EvaluateRegionTextEncoder(const Evaluation& options, const EvaluationObserver& observer) {
  Check(options.boxes.empty() != options.detector.empty(),
        "either `boxes` FILE, with the boxes of the images, or `detector` DIR, which finds them");
  const ImageQuestions asked = ReadImageQuestions(options.files);
  const BlindAnswers blind =
      options.train.empty() ? AnswerBlindly(asked, asked) : AnswerBlindly(ReadImageQuestions(options.train), asked);
  const RegionFolder loaded = Loaded(observer, [&] { return LoadRegionFolder(options.folder, options.load); });
  const ImageBoxes boxes(options.boxes, options.detector);
  std::vector<std::string> kinds;
  VisualQuestions questions = InNumbers(asked, {loaded.tokenizer, *loaded.model, boxes, loaded.model->labels(), kinds});
  questions.kinds = kinds;
  ValidationReport report = ValidateVisualQuestions(*loaded.model, questions, Watch(observer, "questions evaluated"));
  CheckLoss(*loaded.model, report.loss);

  BlindCounts all;
  std::vector<BlindCounts> of_kind(kinds.size());
  for (std::size_t i = 0; i < questions.questions.size(); ++i) {
    Count(blind, i, all);
    Count(blind, i, of_kind[questions.questions[i].kind]);
  }
  Json::Array rows;
  std::string lines;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const double accuracy = report.more_scores[kind].value;
    const BlindCounts& counts = of_kind[kind];
    rows.push_back(Json::Object{{"kind", kinds[kind]},
                                {"accuracy", accuracy},
                                {"question_accuracy", counts.question_accuracy()},
                                {"kind_accuracy", counts.kind_accuracy()},
                                {"questions", counts.questions}});
    if (kinds.size() > 1)
      lines += fmt::format("{}: accuracy {:.2f}, question accuracy {:.2f}, kind accuracy {:.2f}, of {}\n",
                           InRow(kinds[kind]), accuracy, counts.question_accuracy(), counts.kind_accuracy(),
                           counts.questions);
  }
  report.more_scores = {{"question_accuracy", all.question_accuracy()}, {"kind_accuracy", all.kind_accuracy()}};
  return ResultOf({.task = "visual-question-answering",
                   .report = std::move(report),
                   .units = "questions",
                   .count = questions.questions.size(),
                   .labels = "questions with a known answer",
                   .lines = std::move(lines),
                   .members = {{"images", asked.images.size()}, {"kinds", std::move(rows)}}});
}

}  // namespace headlight
