// Extractive question answering: divides a passage into windows and finds the answer span with the best score.
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

inline constexpr std::int64_t kLongestAnswerWindow =
    384;  ///< tokens; most published models were trained with this length
/// Returns the overlap of adjacent windows of `longest` tokens.
inline std::int64_t OverlapOf(std::int64_t longest) { return std::min<std::int64_t>(128, longest / 2); }
inline constexpr std::int64_t kLongestAnswer = 15;  ///< tokens

/// A question and a passage, as one window or several windows over the passage.
struct PassageWindows {
  Encoding encoding;
  std::vector<Window> windows;
};
/// Divides the passage into windows of at most `longest` tokens. Adjacent windows overlap by `overlap` tokens, or fewer
/// if a window would otherwise have no new token. Throws Error, with a message that begins with `name`, if the passage
/// has no tokens, or if the question is too long for a window.
PassageWindows CutPassage(const PipelineTokenizer& tokenizer, std::string_view question, std::string_view passage,
                          std::int64_t longest, std::int64_t overlap, const std::string& name);

/// Returns true if the window's first token can represent "no answer", that is, if it is not part of the passage.
bool HasNoAnswerToken(const Window& window);

/// An answer: a part of the passage, and the summed scores of the token spans that represent it.
struct FoundAnswer {
  TextSpan bytes;
  float score = 0;
};

/// The answers found in one or more windows of a passage, without duplicates.
struct FoundAnswers {
  std::vector<FoundAnswer> answers;                          ///< at most kMostSpans per window
  float no_answer = std::numeric_limits<float>::infinity();  ///< the lowest score of "no answer"

  std::unordered_map<std::string, std::size_t> by_text = {};  ///< indices of answers by lower-case text; only for Add

  void Add(std::string_view passage, const FoundAnswers& other);  ///< adds the answers of another window
  /// Returns the first answer with the highest score, or nullptr if there are no answers.
  const FoundAnswer* best() const;
  bool declines() const;
};

/// The number of best token spans that are kept per window if one answer is requested, as in Transformers' pipeline.
inline constexpr std::int64_t kMostSpans = 12;

struct AnswerSearch {
  std::int64_t longest = kLongestAnswer;  ///< maximum number of tokens of an answer
  std::int64_t spans = kMostSpans;        ///< number of best token spans per window that are used
  bool whole_words = true;                ///< if true, spans are extended to whole words
};

/// Returns the answers of the window's best token spans. A span's score is the probability that the answer begins with
/// its first token times the probability that it ends with its last token. `logits`: [tokens of the window, 2], for the
/// first and the last token of the answer.
FoundAnswers BestAnswers(const Matrix<float>& logits, const Window& window, std::string_view passage,
                         const AnswerSearch& search = {});

}  // namespace headlight
