// Answers to questions, as spans of a passage.
//   const QuestionAnswerer answerer = QuestionAnswerer::Load("bert-squad");
//   Answer answer = answerer.Ask({{"Who slept?", "The dog ran. The cat slept."}})[0];  // answer.text is "The cat"
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/pipelines/load_options.h"

namespace headlight {

struct EncoderFolder;

struct AnswerOptions {
  std::int64_t longest_answer = 15;  // tokens, at least 1
  bool may_decline = true;           // allows "no answer"; else the best span is given whatever its score
  std::int64_t overlap = 128;        // tokens shared by neighbouring windows over a long passage; at most half a window
  std::int64_t batch_tokens = 512;   // tokens that are encoded at once
  std::function<std::string(std::size_t text)> name_of = {};  // a question's in errors; "text 1" unless given
};

struct Question {
  std::string question, passage;
};

struct Answer {
  bool found = false;               // false: the passage has no answer
  float score = 0;                  // probability of the span, or of no answer
  std::int32_t begin = 0, end = 0;  // characters (Unicode code points) of the passage
  std::string text;
};

// Immutable and cheap to copy; every method may be called from many threads at once.
class HEADLIGHT_API QuestionAnswerer {
 public:
  // A folder of an encoder with a head for answers. Throws Error naming the file and what is wrong with it or not
  // supported.
  static QuestionAnswerer Load(const std::string& folder, const LoadOptions& options = {});

  // Each question's best answer. A span's score is the probability that an answer begins with its first token times the
  // probability that it ends with its last, among the passage's tokens and the first token of the input, to which a
  // model that declines points; the score of beginning and ending there is that of no answer. A passage that with the
  // question is longer than the model's positions or 384 tokens is read in windows: the best span of any counts, and
  // the lowest score of no answer. Throws Error for a question that leaves no room for a passage.
  std::vector<Answer> Ask(std::span<const Question> questions, const AnswerOptions& options = {}) const;
  std::vector<Answer> Ask(std::initializer_list<Question> questions, const AnswerOptions& options = {}) const {
    return Ask(std::span(questions.begin(), questions.size()), options);
  }

 private:
  explicit QuestionAnswerer(std::shared_ptr<const EncoderFolder> loaded) : loaded_(std::move(loaded)) {}
  std::shared_ptr<const EncoderFolder> loaded_;
};

}  // namespace headlight
