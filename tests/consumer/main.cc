// Translates lines using only the installed headers and the shared library. Four threads translate the same lines at
// the same time, and their translations must be equal.
//   consumer MODEL_DIR < LINES
#include <headlight/headlight.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  // The exception type is the same inside and outside of the library.
  try {
    headlight::Translator::Load("no/such/folder");
    return 1;
  } catch (const headlight::Error& error) {
    std::cerr << "refused as it should be: " << error.what() << "\n";
  }

  const headlight::Translator translator =
      headlight::Translator::Load(argv[1], {.compute = headlight::Compute::float32});
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) lines.push_back(line);

  const headlight::TranslateOptions greedy{.beam_size = 1};
  const auto both = translator.TranslateBatch({"eins hund", "zwei katze"}, greedy);
  if (both[1][0].text != translator.Translate("zwei katze", greedy)) return 1;

  std::vector<std::vector<std::string>> translations(4);
  std::vector<std::thread> callers;
  for (std::vector<std::string>& mine : translations)
    callers.emplace_back([&] {
      for (const std::string& line : lines) mine.push_back(translator.Translate(line));
    });
  for (std::thread& caller : callers) caller.join();

  for (const std::vector<std::string>& others : translations)
    if (others != translations[0]) return 1;
  for (const std::string& translation : translations[0]) std::cout << translation << "\n";
  return lines.empty() ? 1 : 0;
}
