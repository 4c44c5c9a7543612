// The pre-tokenizers of a `tokenizer.json`, which split a text into words, with the results of the tokenizers library.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headlight/text/tokenizers/normalized_text.h"
#include "headlight/text/tokenizers/text_pattern.h"

namespace headlight {

struct Words {
  NormalizedText text;
  std::vector<TextSpan> words;  // bytes of `text`, in order, none empty
};

// Splits each of the words further.
using PreTokenizer = std::function<void(Words&)>;

void SplitAtSpaces(Words& words);  // words between white space
void SplitAtWords(Words& words);   // letters, marks, digits and _ apart from others, between white space

/// What becomes of the matches of a Split: they are removed, stand alone, belong to the text before or after them, or
/// stand together with neighbouring matches.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

struct SplitPunctuation {
  SplitBehavior behavior = SplitBehavior::isolated;
  void operator()(Words& words) const;
};

struct Split {
  TextPattern pattern;
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;  // what is between the matches is a match
  void operator()(Words& words) const;
};

// Splits off numbers, in digits of any script, or each digit if `individual`.
struct Digits {
  bool individual = false;
  void operator()(Words& words) const;
};

// SentencePiece's: spaces become `replacement`, and words begin with it.
struct Metaspace {
  std::string replacement = "\u2581";
  // Adds `replacement` before words without it: all, only at the beginning of a text, or none.
  enum class Prepend { always, first, never };
  Prepend prepend = Prepend::always;
  bool split = true;

  void operator()(Words& words) const;
};

// GPT-2's: splits into words with the space before them, numbers, runs of other characters, the ends of English
// contractions, and white space. The model reads the result as bytes.
struct ByteLevelPreTokenizer {
  bool add_prefix_space = false;  // adds a space before a text without one
  bool use_regex = true;          // false: does not split

  void operator()(Words& words) const;
};

}  // namespace headlight
