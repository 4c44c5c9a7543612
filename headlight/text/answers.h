// Answers that are spans of a passage: how the best one is found, and how it is compared with the right ones.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/matrix.h"
#include "headlight/text/tokenizers/windows.h"

namespace headlight {

inline constexpr std::int64_t kLongestAnswerWindow = 384;  // what published models were mostly trained with
inline constexpr std::int64_t kAnswerOverlap = 128;        // tokens that neighbouring windows over a passage share
inline constexpr std::int64_t kLongestAnswer = 15;         // tokens

// A question and a passage, read at once or in windows over the passage.
struct PassageWindows {
  Encoding encoding;
  std::vector<Window> windows;
};
// Windows of at most `longest` tokens, and than kLongestAnswerWindow. Throws Error that begins with `name` where the
// passage has no tokens, or the question leaves no room for any.
PassageWindows CutPassage(const PipelineTokenizer& tokenizer, std::string_view question, std::string_view passage,
                          std::int64_t longest, std::int64_t overlap, const std::string& name);

// Whether a window's first token stands for no answer: it does unless it is the passage's own.
bool HasNoAnswerToken(const Window& window);

// The best span of a window, or of several of one passage.
struct FoundSpan {
  bool found = false;
  float score = 0;  // the probability that it begins with its first token times that it ends with its last
  std::int32_t begin = 0, last = 0;                          // tokens of the whole encoding
  float no_answer = std::numeric_limits<float>::infinity();  // the lowest score of no answer

  void Add(const FoundSpan& other);  // of another window
  bool declines() const { return no_answer > score; }
};
// Of logits [tokens of the window, 2]: an answer begins, ends there.
FoundSpan BestSpan(const Matrix<float>& logits, const Window& window, std::int64_t longest_answer);

// The bytes of the passage that the tokens [begin, last] stand for, without spaces at their ends.
TextSpan BytesOfTokens(std::string_view passage, const Encoding& encoding, std::int32_t begin, std::int32_t last);

// SQuAD's measures of an answer against the right ones (Rajpurkar et al., "SQuAD", 2016, section 6.1; 2018): the best
// over them, without case, punctuation and articles. No right answer: right is the empty one.
struct AnswerScore {
  bool exact = false;
  double f1 = 0;  // of words, 0 to 1
};
HEADLIGHT_API AnswerScore ScoreAnswer(std::string_view answer, std::span<const std::string> right);

}  // namespace headlight
