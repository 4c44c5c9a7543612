// A grammar that writes maths problems in words, of one to three steps, each with its working and its answer, so that
// a model can learn arithmetic and be evaluated on problems it has not seen.
//
//   Nora has 3 boxes with 8 shells each. She is 9 years old. Then she buys 15 more. How many shells does Nora have now?
//   3*8=24; 24+15: 4+5=9 2+1=3 39; answer 39
//
// Sums and differences are worked out as on paper, the ones and then the tens, with the carry: a small model learns the
// sums of digits, and with them that of any two numbers. Half of the problems mention a number that is irrelevant to
// the answer. Numbers are below 100; factors and divisors are from 2 to 9.
#pragma once

#include <string>

#include "headlight/base/random.h"
#include "headlight/synthetic/grammar.h"

namespace headlight {

struct WordProblem {
  std::string text;
  std::string working;  // the steps, and the answer
  int answer = 0;
  int steps = 0;
};

// A random problem. Held out are one in five of the pairs of numbers that are added or subtracted, and one in five of
// the sequences of sentence forms (opening, events, question): a held-out problem has only such pairs, at least one of
// them, and such a sequence; one for training has no such pair and no such sequence. Products and quotients are
// memorised: each may be in problems of both portions.
WordProblem SampleWordProblem(Random& random, Portion portion);

}  // namespace headlight
