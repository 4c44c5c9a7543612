// How tokenizers cut a text into the words that are then cut into pieces, as the tokenizers library does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headlight/text/tokenizers/normalized_text.h"

namespace headlight {

struct Words {
  NormalizedText text;
  std::vector<TextSpan> words;  // bytes of `text`, in order, none empty
};

// Cuts each of the words further.
using PreTokenizer = std::function<void(Words&)>;

void SplitAtSpaces(Words& words);     // words between white space
void SplitPunctuation(Words& words);  // punctuation stands alone

// Numbers stand alone, digits of any script, or each of their digits does.
struct Digits {
  bool individual = false;
  void operator()(Words& words) const;
};

// SentencePiece's: a space is written as U+2581, and a word begins with it.
struct Metaspace {
  std::string replacement = "\u2581";
  // In front of words that have none: of all, of a text's beginning only, of none.
  enum class Prepend { always, first, never };
  Prepend prepend = Prepend::always;
  bool split = true;

  void operator()(Words& words) const;
};

// GPT-2's: a word with the space before it, a number, a run of other signs, an English contraction's end, white space.
// What it cuts is raw bytes to the model, whichever characters they belong to.
struct ByteLevelPreTokenizer {
  bool add_prefix_space = false;  // puts a space before a text that has none
  bool use_regex = true;          // cuts at all

  void operator()(Words& words) const;
};

}  // namespace headlight
