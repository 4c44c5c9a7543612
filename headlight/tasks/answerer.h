// Answers to questions, as spans of a passage.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/base/export.h"

namespace headlight {

struct AnswerOptions {
  std::int64_t longest_answer = 15;  // tokens
  bool may_decline = true;           // whether "no answer" is one
  std::int64_t overlap = 128;  // tokens that neighbouring windows over a long passage share, or half of what is read
  std::int64_t batch_tokens = 512;                            // tokens that are encoded at once
  std::function<std::string(std::size_t text)> name_of = {};  // a question's in errors; "text 1" unless given
};

struct Question {
  std::string question, passage;
};

struct Answer {
  bool found = false;               // else the passage does not say
  float score = 0;                  // the probability of the span, or of no answer
  std::int32_t begin = 0, end = 0;  // characters (Unicode code points) of the passage
  std::string text;
};

// Immutable and cheap to copy; every method may be called from many threads at once.
class HEADLIGHT_API Answerer {
 public:
  // A folder of an encoder with a head for answers. Throws Error naming the file and what is wrong with it or not
  // supported.
  static Answerer Load(const std::string& folder, std::optional<Compute> compute = {});

  // Each question's best answer. A span scores the probability that an answer begins with its first token times that
  // that it ends with its last, among the passage's tokens and the one in front of all, where a model that declines
  // points; what that scores there and there is the score of no answer. A passage too long to be read at once with the
  // question, or than 384 tokens with it, is read in windows: the best span of any of them counts, and the lowest score
  // of no answer. Throws Error for a question that leaves no room for a passage.
  std::vector<Answer> Ask(std::span<const Question> questions, const AnswerOptions& options = {}) const;

 private:
  struct State;
  explicit Answerer(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
