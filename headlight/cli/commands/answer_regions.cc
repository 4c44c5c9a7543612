#include "headlight/cli/commands/answer_regions.h"

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/pipelines/object_detector.h"
#include "headlight/pipelines/region_answerer.h"

namespace headlight {
namespace {

// An image, and where something is in it.
struct SeenImage {
  Image image;
  std::vector<Box> boxes;
};

SeenImage See(const std::optional<ObjectDetector>& detector, const std::string& path) {
  SeenImage seen{ReadImage(path), {}};
  if (!detector) return seen;
  const DetectOptions how = {.name_of = [&](std::size_t) { return path; }};
  for (const DetectedObject& one : detector->Detect(seen.image, how)) seen.boxes.push_back(one.box);
  return seen;
}

std::string ScoredAnswerRow(std::int64_t line, const VisualAnswer& answer, bool json) {
  if (!json) return fmt::format("{:.3f}\t{}\n", answer.score, answer.answer);
  return Json(Json::Object{{"line", line}, {"answer", answer.answer}, {"score", answer.score}}).Line() + "\n";
}

}  // namespace

void AnswerRegions(const ImageQuestionOptions& options) {
  const RegionAnswerer answerer =
      Loaded([&] { return RegionAnswerer::Load(options.folder, {.compute = options.compute}); });
  Check(answerer.reads_boxes() || options.detector.empty(),
        "--detector is for models that read regions; this one reads the whole image");
  Check(!answerer.reads_boxes() || !options.detector.empty(),
        "{}: this model reads regions of an image; --detector DIR names what finds them", options.folder);
  std::optional<ObjectDetector> detector;
  if (!options.detector.empty()) detector = Loaded([&] { return ObjectDetector::Load(options.detector); });
  if (!options.image.empty()) {
    const SeenImage seen = See(detector, Input(options.image));
    return WriteResult(
        ScoredAnswerRow(1, answerer.Answer(seen.image, seen.boxes, options.question).front(), options.json));
  }
  const auto rows = [&](const LineBatch& batch) {
    std::vector<std::string> printed;
    std::map<std::string, SeenImage> seen;  // by path
    for (std::size_t line = 0; line < batch.lines.size(); ++line) {
      const auto [question, path] = QuestionAndImage(batch, line);
      try {
        auto known = seen.find(path);
        if (known == seen.end()) known = seen.emplace(path, See(detector, path)).first;
        const auto& [image, boxes] = known->second;
        printed.push_back(ScoredAnswerRow(batch.first + static_cast<std::int64_t>(line),
                                          answerer.Answer(image, boxes, question).front(), options.json));
      } catch (const Error& error) {
        throw Error(batch.name_of(line) + ": " + error.what(), error.blame());
      }
    }
    return printed;
  };
  ForEachLineBatch(options, "lines answered", kQuestionsAhead, rows);
}

}  // namespace headlight
