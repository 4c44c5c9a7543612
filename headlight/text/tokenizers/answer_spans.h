// Answers that are spans of a passage: windows over the passage, and the best span in them.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/matrix.h"
#include "headlight/text/tokenizers/windows.h"

namespace headlight {

inline constexpr std::int64_t kLongestAnswerWindow = 384;  // tokens; as most published models were trained
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

// True if a window's first token stands for "no answer": unless it is of the passage itself.
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
// `logits`: [tokens of the window, 2], that the answer begins there and that it ends there.
FoundSpan BestSpan(const Matrix<float>& logits, const Window& window, std::int64_t longest_answer);

// The bytes of the passage that the tokens [begin, last] stand for, without spaces at their ends.
TextSpan BytesOfTokens(std::string_view passage, const Encoding& encoding, std::int32_t begin, std::int32_t last);

}  // namespace headlight
