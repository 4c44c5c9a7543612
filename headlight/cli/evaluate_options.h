// The options of `evaluate`.
#pragma once

#include <string>
#include <vector>

#include "headlight/tasks/translator.h"

namespace headlight {

struct EvaluateOptions {
  std::string folder;
  std::vector<std::string> files;     // labelled texts, pairs of texts, or pictures
  std::vector<std::string> pictures;  // of a detector: folders of the pictures that FILE names
  bool json = false;
  LoadOptions load;
  bool end = false;  // of a language model: counts the end of each text

  // Of models that write texts.
  std::string source, reference, output;
  bool lowercase = false, rouge = false, stemmer = false;
  TranslateOptions translate;
};

}  // namespace headlight
