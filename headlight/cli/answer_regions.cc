#include "headlight/cli/answer_regions.h"

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/cli/output.h"
#include "headlight/cli/progress.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/tasks/detector.h"
#include "headlight/tasks/region_answerer.h"

namespace headlight {
namespace {

// A picture, and where something is in it.
struct SeenPicture {
  Picture picture;
  std::vector<Box> boxes;
};

SeenPicture See(const std::optional<Detector>& detector, const std::string& path) {
  SeenPicture seen{ReadPicture(path), {}};
  if (!detector) return seen;
  const DetectOptions how = {.name_of = [&](std::size_t) { return path; }};
  const std::vector<std::vector<FoundBox>> found = detector->Detect(std::span(&seen.picture, 1), how);
  for (const FoundBox& one : found.front()) seen.boxes.push_back(one.box);
  return seen;
}

std::string AnswerRow(std::int64_t line, const ProbableAnswer& answer, bool json) {
  if (!json) return fmt::format("{:.3f}\t{}\n", answer.probability, answer.answer);
  return Json(Json::Object{{"line", line}, {"text", answer.answer}, {"probability", answer.probability}}).Line() + "\n";
}

}  // namespace

void AnswerRegions(const PictureQuestionOptions& options) {
  const RegionAnswerer answerer =
      Loaded([&] { return RegionAnswerer::Load(options.folder, {.compute = options.compute}); });
  Check(answerer.reads_boxes() || options.detector.empty(),
        "--detector is for models that read regions; this one reads the whole picture");
  Check(!answerer.reads_boxes() || !options.detector.empty(),
        "{}: this model reads regions of a picture; --detector DIR names what finds them", options.folder);
  std::optional<Detector> detector;
  if (!options.detector.empty()) detector = Loaded([&] { return Detector::Load(options.detector); });
  if (!options.picture.empty()) {
    const SeenPicture seen = See(detector, Input(options.picture));
    return WriteResult(AnswerRow(1, answerer.Answer(seen.picture, seen.boxes, options.question).front(), options.json));
  }
  const auto rows = [&](const LineBatch& batch) {
    std::vector<std::string> printed;
    std::map<std::string, SeenPicture> seen;  // by path
    for (std::size_t line = 0; line < batch.lines.size(); ++line) {
      const auto [question, path] = QuestionAndPicture(batch, line);
      try {
        auto known = seen.find(path);
        if (known == seen.end()) known = seen.emplace(path, See(detector, path)).first;
        const auto& [picture, boxes] = known->second;
        printed.push_back(AnswerRow(batch.first + static_cast<std::int64_t>(line),
                                    answerer.Answer(picture, boxes, question).front(), options.json));
      } catch (const Error& error) {
        throw Error(batch.name_of(line) + ": " + error.what(), error.blame());
      }
    }
    return printed;
  };
  ForEachLineBatch(options, "lines answered", kQuestionsAhead, rows);
}

}  // namespace headlight
