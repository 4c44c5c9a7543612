#include "headlight/cli/answer_pictures.h"

#include <map>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/cli/output.h"
#include "headlight/cli/progress.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/kinds/caption_model.h"
#include "headlight/tasks/picture_answerer.h"

namespace headlight {
namespace {

std::string CaptionRow(std::int64_t line, const Caption& answer, bool json) {
  if (!json) return answer.text + "\n";
  return Json(Json::Object{{"line", line}, {"text", answer.text}, {"score", answer.score}}).Line() + "\n";
}

}  // namespace

void AnswerPictures(const PictureQuestionOptions& options) {
  const PictureAnswerer answerer =
      Loaded([&] { return PictureAnswerer::Load(options.folder, {.compute = options.compute}); });
  CaptionOptions how;
  if (options.max_length) {
    const std::int64_t most = answerer.model().limits().positions;
    Check(*options.max_length <= most, "--max-length {}: the model writes at most {} tokens", *options.max_length,
          most);
    how.max_length = static_cast<std::int32_t>(*options.max_length);
  }
  if (!options.picture.empty()) {
    how.name_of = [&](std::size_t) { return options.picture; };
    const std::vector<PictureQuestion> question = {{0, options.question}};
    const std::vector<Picture> pictures = {ReadPicture(Input(options.picture))};
    return WriteResult(CaptionRow(1, answerer.Ask(pictures, question, how)[0][0], options.json));
  }
  const auto rows = [&](const LineBatch& batch) {
    std::vector<Picture> pictures;
    std::vector<std::string> paths;
    std::vector<PictureQuestion> questions;
    std::map<std::string, std::size_t> read;  // by path
    for (std::size_t line = 0; line < batch.lines.size(); ++line) {
      auto [question, path] = QuestionAndPicture(batch, line);
      const auto [known, is_new] = read.emplace(path, pictures.size());
      if (is_new) {
        try {
          pictures.push_back(ReadPicture(path));
        } catch (const Error& error) {
          throw Error(batch.name_of(line) + ": " + error.what(), error.blame());
        }
        paths.push_back(std::move(path));
      }
      questions.push_back({known->second, std::move(question)});
    }
    how.name_of = [&](std::size_t picture) { return paths[picture]; };
    const auto answers = [&] {
      try {
        return answerer.Ask(pictures, questions, how);
      } catch (const Error& error) {
        if (error.blame() != Blame::user) throw;
        Fail("{}{}: {}", batch.name_of(0), batch.lines.size() == 1 ? "" : " and on", error.what());
      }
    }();
    std::vector<std::string> printed;
    for (const std::vector<Caption>& answer : answers)
      printed.push_back(CaptionRow(batch.first + std::ssize(printed), answer[0], options.json));
    return printed;
  };
  ForEachLineBatch(options, "lines answered", kQuestionsAhead, rows);
}

}  // namespace headlight
