// The options of `evaluate`.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "headlight/kinds/model.h"
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
  // Of a CLIP: classes by their names in these texts, rather than pictures with texts.
  bool zero_shot = false;
  std::vector<std::string> templates;
  // Of questions about pictures, too: those that the answers without a picture are taken from. Of translations: the
  // texts that the model has learned to read. Of structures and of masked
  // words: those that baselines are counted in.
  std::vector<std::string> train;

  // Of a model that reads regions: the files with their boxes, or the folder of a detector that finds them.
  std::vector<std::string> boxes;
  std::string detector;

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
