// Prints word problems, each followed by a tab and its solution steps.
//   COUNT SEED            prints COUNT problems
//   COUNT SEED held-out   prints problems whose numbers and sentence orders do not occur in the training problems
// Without arguments, prints a few problems.
#include "headlight/synthetic/word_problems.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  using namespace headlight;
  const int count = argc > 1 ? std::atoi(argv[1]) : 3;
  Random random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  const Portion portion = argc > 3 ? Portion::held_out : Portion::training;
  for (int i = 0; i < count; ++i) {
    const WordProblem problem = SampleWordProblem(random, portion);
    std::printf("%s\t%s\n", problem.text.c_str(), problem.working.c_str());
  }
  return 0;
}
