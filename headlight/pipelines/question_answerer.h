// Answers to questions, as spans of a context (extractive question answering).
//   const QuestionAnswerer answerer = QuestionAnswerer::Load("bert-squad");
//   const auto answers = answerer.Answer("Who slept?", "The dog ran. The cat slept.");  // answers[0].answer: "The cat"
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/pipelines/load_options.h"

namespace headlight {

struct EncoderFolder;

struct AnswerOptions {
  std::int64_t top_k = 1;            ///< answers to each question, 1 to 100; a short context may have fewer
  std::int64_t longest_answer = 15;  ///< maximum number of tokens of an answer, at least 1
  bool may_decline = true;           ///< if true, allows "no answer"; otherwise the best span is always returned
  bool align_words = true;  ///< if true, extends answers to whole words; otherwise answers end at token boundaries
  /// The number of tokens of a window, which has the question and a part of the context [384, or the model's maximum if
  /// smaller].
  std::optional<std::int64_t> max_input_length = {};
  std::optional<std::int64_t> stride = {};  ///< overlap of adjacent windows, in tokens [128, at most half of a window]
  std::int64_t batch_tokens = 512;          ///< tokens that are encoded at once, at least 1
  std::function<std::string(std::size_t text)> name_of = {};  ///< question name in error messages; "text 1" by default
};

struct Question {
  std::string question;
  std::string context;  ///< the passage that may contain the answer
};

struct AnswerSpan {
  std::string answer;               ///< a part of the context; empty if there is no answer
  float score = 0;                  ///< the probability of the span, or of no answer; 0 to 1
  std::int32_t start = 0, end = 0;  ///< [start, end) in characters (Unicode code points) of the context, from 0
  bool found = false;               ///< false if the context has no answer
};

/// Finds answers to questions in texts. Immutable and cheap to copy. All methods are thread-safe.
class HEADLIGHT_API QuestionAnswerer {
 public:
  /// Loads the folder of a model with a head for extractive question answering, such as a BERT. Throws Error that names
  /// the file and the problem if a file is invalid or not supported.
  static QuestionAnswerer Load(const std::string& folder, const LoadOptions& options = {});

  /// Returns the best answers to each question, the best first. The answers may include "no answer". The score of a
  /// span is p(start) * p(end), the product of the probabilities of its first and last token. Both distributions are
  /// over the tokens of the context and the first token of the input, which represents "no answer". The scores of spans
  /// with the same words are added.
  ///
  /// If the question and context are longer than a window, the context is split into overlapping windows. The spans of
  /// all windows are compared, and the lowest score of "no answer" is used. Throws Error for an option out of its
  /// range. Throws Error that names the question if a text is not UTF-8, the context has no tokens, or the question
  /// leaves no space for the context.
  std::vector<std::vector<AnswerSpan>> Answer(std::span<const Question> questions,
                                              const AnswerOptions& options = {}) const;
  std::vector<std::vector<AnswerSpan>> Answer(std::initializer_list<Question> questions,
                                              const AnswerOptions& options = {}) const {
    return Answer(std::span(questions.begin(), questions.size()), options);
  }
  /// Returns the best answers to one question.
  std::vector<AnswerSpan> Answer(std::string_view question, std::string_view context,
                                 const AnswerOptions& options = {}) const {
    return Answer({Question{std::string(question), std::string(context)}}, options).front();
  }

 private:
  explicit QuestionAnswerer(std::shared_ptr<const EncoderFolder> loaded) : loaded_(std::move(loaded)) {}
  std::shared_ptr<const EncoderFolder> loaded_;
};

}  // namespace headlight
