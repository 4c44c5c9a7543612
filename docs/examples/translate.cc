// Translates texts in your own program: loads a model once, and then runs it for all texts.
//   example_translate MODEL TEXT...
#include <fmt/format.h>

#include <string>
#include <vector>

#include "headlight/headlight.h"

using namespace headlight;

namespace {

void Translate(const std::string& folder, const std::vector<std::string>& texts) {
  const Translator translator = Translator::Load(folder);
  fmt::print("{}\n", translator.Translate(texts.front()));

  // Translating many texts at once is faster, and gives the same results.
  const auto all = translator.TranslateBatch(texts, {.beam_size = 5, .n_best = 3, .alignment = true});
  for (const std::vector<Translation>& candidates : all)
    for (const Translation& candidate : candidates) {
      fmt::print("{:.3f} {}", candidate.score, candidate.text);
      for (const WordPair& pair : candidate.alignment) fmt::print(" {}-{}", pair.source, pair.target);
      fmt::print("\n");
    }

  WriteFile("attention.html", AttentionPage(translator.Attention(texts.front())));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print("usage: example_translate MODEL TEXT...\n");
    return 0;
  }
  try {
    Translate(argv[1], {argv + 2, argv + argc});
  } catch (const Error& error) {  // a missing file, a text that is not UTF-8, ...
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
