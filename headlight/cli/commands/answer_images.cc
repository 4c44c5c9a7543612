#include "headlight/cli/commands/answer_images.h"

#include <map>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/kinds/caption_model.h"
#include "headlight/pipelines/visual_question_answerer.h"

namespace headlight {
namespace {

std::string AnswerRow(std::int64_t line, const VisualAnswer& answer, bool json) {
  if (!json) return answer.answer + "\n";
  return Json(Json::Object{{"line", line}, {"answer", answer.answer}, {"score", answer.score}}).Line() + "\n";
}

}  // namespace

void AnswerImages(const ImageQuestionOptions& options) {
  const VisualQuestionAnswerer answerer =
      Loaded([&] { return VisualQuestionAnswerer::Load(options.folder, {.compute = options.compute}); });
  CaptionOptions how;
  if (options.max_length) {
    const std::int64_t most = answerer.model().limits().positions;
    Check(*options.max_length <= most, "--max-length {}: the model writes at most {} tokens", *options.max_length,
          most);
    how.max_length = static_cast<std::int32_t>(*options.max_length);
  }
  if (!options.image.empty()) {
    how.name_of = [&](std::size_t) { return options.image; };
    const Image image = ReadImage(Input(options.image));
    return WriteResult(AnswerRow(1, answerer.Answer(image, options.question, how), options.json));
  }
  const auto rows = [&](const LineBatch& batch) {
    std::vector<Image> images;
    std::vector<std::string> paths;
    std::vector<ImageQuestion> questions;
    std::map<std::string, std::size_t> read;  // by path
    for (std::size_t line = 0; line < batch.lines.size(); ++line) {
      auto [question, path] = QuestionAndImage(batch, line);
      const auto [known, is_new] = read.emplace(path, images.size());
      if (is_new) {
        try {
          images.push_back(ReadImage(path));
        } catch (const Error& error) {
          throw Error(batch.name_of(line) + ": " + error.what(), error.blame());
        }
        paths.push_back(std::move(path));
      }
      questions.push_back({known->second, std::move(question)});
    }
    how.name_of = [&](std::size_t image) { return paths[image]; };
    const auto answers = [&] {
      try {
        return answerer.Answer(images, questions, how);
      } catch (const Error& error) {
        if (error.blame() != Blame::user) throw;
        Fail("{}{}: {}", batch.name_of(0), batch.lines.size() == 1 ? "" : " and on", error.what());
      }
    }();
    std::vector<std::string> printed;
    for (const std::vector<VisualAnswer>& answer : answers)
      printed.push_back(AnswerRow(batch.first + std::ssize(printed), answer[0], options.json));
    return printed;
  };
  ForEachLineBatch(options, "lines answered", kQuestionsAhead, rows);
}

}  // namespace headlight
