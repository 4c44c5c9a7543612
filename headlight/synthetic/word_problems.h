// A grammar that generates math word problems of one to three steps, with working and answer. A model is trained on
// them and evaluated on unseen problems.
//
//   Nora has 3 boxes with 8 shells each. She is 9 years old. Then she buys 15 more. How many shells does Nora have now?
//   3*8=24; 24+15: 4+5=9 2+1=3 39; answer 39
//
// Sums and differences are computed by columns: the ones, then the tens, with the carry. A small model can thereby be
// trained on sums of digits, and generalizes to any two numbers. Half of the problems mention a number that is
// irrelevant to the answer. Numbers are below 100. Factors and divisors are from 2 to 9.
#pragma once

#include <string>

#include "headlight/base/random.h"
#include "headlight/synthetic/grammar.h"

namespace headlight {

struct WordProblem {
  std::string text;
  std::string working;  // the steps, followed by the answer
  int answer = 0;
  int steps = 0;
};

/// Returns a random problem. One in five pairs of numbers that are added or subtracted is held out, and so is one in
/// five sequences of sentence forms (opening, events, question). A held-out problem has at least one pair, only
/// held-out pairs, and a held-out sequence. A training problem has no held-out pair or sequence. Products and quotients
/// must be memorized, and occur in both portions.
WordProblem SampleWordProblem(Random& random, Portion portion);

}  // namespace headlight
