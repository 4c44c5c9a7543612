// The options of `evaluate`.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "headlight/nn/model.h"
#include "headlight/tasks/translator.h"

namespace headlight {

struct EvaluateOptions {
  std::string folder;
  std::vector<std::string> files;     // labelled texts, pairs of texts, or pictures
  std::vector<std::string> pictures;  // of a detector: folders of the pictures that FILE names
  bool json = false;
  LoadOptions load;
  // Of an encoder of pictures: the file to draw the confusion matrix to, and how its features are evaluated by labelled
  // pictures.
  std::string confusions;
  std::int64_t neighbours = 0;  // 0: not by neighbours
  bool linear_probe = false, pixels = false;
  std::vector<std::string> train;

  bool end = false;  // of a language model: counts the end of each text

  // Of models that write texts.
  std::string source, reference, output;
  bool lowercase = false, rouge = false, stemmer = false;
  TranslateOptions translate;
};

// Throws Error naming the model where its loss is NaN.
inline void CheckLoss(const Model& model, double loss) {
  if (std::isnan(loss)) model.parameters().FailNotFinite("evaluating");
}

}  // namespace headlight
