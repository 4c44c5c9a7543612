// Answers that are spans of a passage: windows over the passage, and the best span in them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "headlight/base/matrix.h"
#include "headlight/text/tokenizers/windows.h"

namespace headlight {

inline constexpr std::int64_t kLongestAnswerWindow = 384;  // tokens; as most published models were trained
// Tokens that neighbouring windows of `longest` tokens over a passage share.
inline std::int64_t OverlapOf(std::int64_t longest) { return std::min<std::int64_t>(128, longest / 2); }
inline constexpr std::int64_t kLongestAnswer = 15;  // tokens

// A question and a passage, read at once or in windows over the passage.
struct PassageWindows {
  Encoding encoding;
  std::vector<Window> windows;
};
// Windows of at most `longest` tokens, of which neighbours share `overlap`, or less so that each has a new token.
// Throws Error that begins with `name` where the passage has no tokens, or the question leaves no room for any.
PassageWindows CutPassage(const PipelineTokenizer& tokenizer, std::string_view question, std::string_view passage,
                          std::int64_t longest, std::int64_t overlap, const std::string& name);

// True if a window's first token stands for "no answer": unless it is of the passage itself.
bool HasNoAnswerToken(const Window& window);

/// An answer: a part of the passage, and the sum of the scores of the spans of tokens that stand for it.
struct FoundAnswer {
  TextSpan bytes;
  float score = 0;
};

/// The answers found in a window, or in several of one passage, each text once.
struct FoundAnswers {
  std::vector<FoundAnswer> answers;                          ///< at most kMostSpans of a window
  float no_answer = std::numeric_limits<float>::infinity();  ///< the lowest score of no answer

  std::unordered_map<std::string, std::size_t> by_text = {};  ///< each in lower case, and its index; of Add

  void Add(std::string_view passage, const FoundAnswers& other);  ///< of another window
  /// The best answer, the first of equal ones; nullptr where there is none.
  const FoundAnswer* best() const;
  bool declines() const;
};

inline constexpr std::int64_t kMostSpans = 12;  ///< of a window for one answer, as in Transformers' pipeline

struct AnswerSearch {
  std::int64_t longest = kLongestAnswer;  ///< tokens of an answer
  std::int64_t spans = kMostSpans;        ///< of a window, whose scores count
  bool whole_words = true;                ///< a span stands for the words that its tokens are in
};

/// The answers of the window's best spans of tokens. A span's score is the probability that it begins with its first
/// token times that it ends with its last. `logits`: [tokens of the window, 2], that the answer begins there and that
/// it ends there.
FoundAnswers BestAnswers(const Matrix<float>& logits, const Window& window, std::string_view passage,
                         const AnswerSearch& search = {});

}  // namespace headlight
