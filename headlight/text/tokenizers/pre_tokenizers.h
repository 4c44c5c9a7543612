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
  std::vector<TextSpan> words;  ///< non-empty ranges of bytes of `text`, in order
};

/// Divides each word further.
using PreTokenizer = std::function<void(Words&)>;

void SplitAtSpaces(Words& words);  ///< splits at white space, which is removed
void SplitAtWords(Words& words);   ///< separates letters, marks, digits and _ from other characters

/// The treatment of matches in a Split: they are removed, become separate words, are merged with the previous or next
/// text, or are merged with adjacent matches.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

struct SplitPunctuation {
  SplitBehavior behavior = SplitBehavior::isolated;
  void operator()(Words& words) const;
};

struct Split {
  TextPattern pattern;
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;  ///< if true, matches and the text between them are exchanged
  void operator()(Words& words) const;
};

/// Separates numbers, which consist of digits of any script. If `individual` is true, separates each digit.
struct Digits {
  bool individual = false;
  void operator()(Words& words) const;
};

/// SentencePiece's pre-tokenizer: replaces spaces with `replacement`, which begins each word.
struct Metaspace {
  std::string replacement = "\u2581";
  /// The words to which `replacement` is prepended if they do not begin with it: all words, only the first word of a
  /// text, or none.
  enum class Prepend { always, first, never };
  Prepend prepend = Prepend::always;
  bool split = true;

  void operator()(Words& words) const;
};

/// GPT-2's pre-tokenizer: splits a text into words, numbers, runs of other characters, ends of English contractions,
/// and white space. A space belongs to the word after it. The bytes of the result are the model's symbols.
struct ByteLevelPreTokenizer {
  bool add_prefix_space = false;  ///< if true, adds a space before a text that does not begin with a space
  bool use_regex = true;          ///< if false, texts are not split

  void operator()(Words& words) const;
};

}  // namespace headlight
