// Answers to questions, compared with the right ones.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "headlight/base/export.h"

namespace headlight {

// SQuAD's measures of an answer against the right ones (Rajpurkar et al., "SQuAD", 2016, section 6.1; 2018): the best
// over them, without case, punctuation and articles. Without right answers, the empty answer is right.
struct AnswerScore {
  bool exact = false;
  double f1 = 0;  // of words, 0 to 1
};
HEADLIGHT_API AnswerScore ScoreAnswer(std::string_view answer, std::span<const std::string> right);

}  // namespace headlight
