// Question answering with any model that answers questions about passages or images.
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

/// The kind of input that a question is about.
enum class AnswersFrom { passages, images };
/// Returns the kind of input that the folder's model requires, without loading weights. Returns `passages` for models
/// that do not answer questions. Loading such models throws Error.
HEADLIGHT_API AnswersFrom AnswersFromOf(const std::string& folder);

/// The options of FolderAnswerer::Load, which throws Error for an option that the model does not have.
struct FolderAnswererOptions {
  LoadOptions load = {};
  std::string detector = {};  ///< the folder of a detector, for a model whose inputs are image regions
  std::optional<std::int64_t> max_length =
      {};  ///< the maximum number of tokens of an answer, unless the model chooses from a fixed set
  /// For models that extract answers:
  bool always = false;                     ///< if true, never returns "no answer"
  std::optional<std::int64_t> top_k = {};  ///< number of answers to each question, 1 to 100 [1]
  bool align_words = true;                 ///< this option and the next two are as in AnswerOptions
  std::optional<std::int64_t> max_input_length =
      {};                                   ///< tokens of a window, which has the question and a part of the passage
  std::optional<std::int64_t> stride = {};  ///< overlap of adjacent windows, in tokens
  /// For models that generate answers: if true, truncates a passage that is too long for the model. `on_truncated`
  /// receives the question's name and the maximum number of tokens.
  bool truncate = false;
  std::function<void(const std::string& question, std::int64_t longest)> on_truncated = {};
};

/// The form of an answer: a span of the passage, generated text, or one of a fixed set of answers.
enum class AnswerForm { found, written, chosen };

struct FolderAnswer {
  std::string answer;                ///< empty if none is found
  std::optional<double> score = {};  ///< as in AnswerSpan or VisualAnswer; not set for a T5 or a BART
  std::int32_t start = 0, end = 0;   ///< for a span: [start, end) in characters of the passage
  bool found = true;                 ///< false if the passage has no answer
  /// If `top_k` is set, the other answers, the best first. These answers have an empty `further`.
  std::vector<FolderAnswer> further = {};
};

/// Returns the name of the text or image with this index, for error messages. If the function is empty, a passage is
/// named "text 1", and an image has no name.
using QuestionName = std::function<std::string(std::size_t index)>;

struct FolderAnswerer {
  /// Throws Error naming the file and the problem if a file is invalid or not supported.
  HEADLIGHT_API static FolderAnswerer Load(const std::string& folder, const FolderAnswererOptions& options = {});

  AnswerForm form = AnswerForm::found;
  /// Answers each question. Only the function for the model's kind of input is set.
  std::function<std::vector<FolderAnswer>(std::span<const Question> questions, const QuestionName& question_name)>
      passages = {};
  std::function<std::vector<FolderAnswer>(std::span<const Image> images, std::span<const ImageQuestion> questions,
                                          const QuestionName& image_name, const QuestionName& question_name)>
      images = {};
};

}  // namespace headlight
