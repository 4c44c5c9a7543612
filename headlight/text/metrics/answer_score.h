// Metrics for question answering.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "headlight/base/export.h"

namespace headlight {

/// SQuAD's metrics of an answer (Rajpurkar et al., "SQuAD", 2016, section 6.1; 2018): the best values over the
/// reference answers, ignoring case, punctuation and articles. If there are no reference answers, the empty answer is
/// correct.
struct AnswerScore {
  bool exact = false;
  double f1 = 0;  ///< F1 of words, from 0 to 1
};
HEADLIGHT_API AnswerScore ScoreAnswer(std::string_view answer, std::span<const std::string> references);

}  // namespace headlight
