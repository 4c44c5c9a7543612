// A grammar that writes maths problems in words, of one to three steps, each with its working and its answer, so that
// a model can learn to reckon and be judged on what it never saw.
//
//   Nora has 3 boxes with 8 shells each. She is 9 years old. Then she buys 15 more. How many shells does Nora have now?
//   3*8=24; 24+15: 4+5=9 2+1=3 39; answer 39
//
// Sums and differences are reckoned as on paper, the ones and then the tens, with what is carried: a small model learns
// what digits add up to, and with that the sum of any two numbers. Half of the problems tell a number that has nothing
// to do with the answer. Numbers are below 100; what is multiplied and what is shared is in the tables from 2 to 9.
#pragma once

#include <string>

#include "headlight/base/export.h"
#include "headlight/base/random.h"
#include "headlight/demo/grammar.h"

namespace headlight {

struct WordProblem {
  std::string text;
  std::string working;  // the steps, and the answer
  int answer = 0;
  int steps = 0;
};

// A problem that the next draws of `random` choose. Held out are one in five of the pairs of numbers that are added or
// subtracted, and one in five of the rows of sentences' forms (of its opening, its events and its question): a held-out
// problem adds or subtracts, such pairs only, and is such a row; one for training has no such pair and is no such row.
// Tables are learned by heart: every product and quotient is in problems of both kinds.
HEADLIGHT_API WordProblem SampleWordProblem(Random& random, Portion portion);

}  // namespace headlight
