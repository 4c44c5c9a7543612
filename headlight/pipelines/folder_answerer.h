// Answers to questions with the model of any folder that answers them, whatever it reads: passages or images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/image.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/pipelines/question_answerer.h"
#include "headlight/pipelines/visual_question_answerer.h"

namespace headlight {

/// What a question is about.
enum class AnswersFrom { passages, images };
/// By the model's kind, without its weights. Kinds that answer no questions have passages, for which loading throws
/// Error.
HEADLIGHT_API AnswersFrom AnswersFromOf(const std::string& folder);

/// Load refuses an option that the model does not have.
struct FolderAnswererOptions {
  LoadOptions load = {};
  std::string detector = {};                    ///< the folder of a detector, for a model that reads regions of images
  std::optional<std::int64_t> max_length = {};  ///< tokens of an answer, at most, unless the model chooses one
  // Of answers that are found:
  bool always = false;                                ///< never "no answer"
  std::optional<std::int64_t> top_k = {};             ///< answers to each question, 1 to 100 [1]
  bool align_words = true;                            ///< as that of AnswerOptions, as are the two that follow
  std::optional<std::int64_t> max_input_length = {};  ///< tokens of a window: of the question and a part of the passage
  std::optional<std::int64_t> stride = {};            ///< tokens that neighbouring windows share
  /// Of a model that writes answers: leave out the end of a passage that it cannot read as a whole. `on_truncated`
  /// receives the question's name and the tokens that the model reads.
  bool truncate = false;
  std::function<void(const std::string& question, std::int64_t longest)> on_truncated = {};
};

/// How a model answers: with a part of the passage, in its own words, or with one of the answers that it knows.
enum class AnswerForm { found, written, chosen };

struct FolderAnswer {
  std::string answer;                ///< empty if none is found
  std::optional<double> score = {};  ///< as that of AnswerSpan or VisualAnswer; none of a T5 or a BART
  std::int32_t start = 0, end = 0;   ///< of a found one, [start, end) in characters of the passage
  bool found = true;                 ///< false if the passage has no answer
  /// With `top_k` the answers that follow it, the best first; they have no further ones.
  std::vector<FolderAnswer> further = {};
};

/// Name a text or an image by its index, in errors. An empty one leaves the name out or, of passages, gives "text 1".
using QuestionName = std::function<std::string(std::size_t index)>;

struct FolderAnswerer {
  /// Throws Error naming the file and what is wrong with it or not supported.
  HEADLIGHT_API static FolderAnswerer Load(const std::string& folder, const FolderAnswererOptions& options = {});

  AnswerForm form = AnswerForm::found;
  /// The best answer to each question; empty if the model reads the other.
  std::function<std::vector<FolderAnswer>(std::span<const Question> questions, const QuestionName& question_name)>
      passages = {};
  std::function<std::vector<FolderAnswer>(std::span<const Image> images, std::span<const ImageQuestion> questions,
                                          const QuestionName& image_name, const QuestionName& question_name)>
      images = {};
};

}  // namespace headlight
