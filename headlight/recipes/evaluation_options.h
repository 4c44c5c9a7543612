// What an evaluation is given, what it returns, and what it tells meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/data/classified_texts.h"
#include "headlight/data/text_pairs.h"
#include "headlight/data/text_reader.h"
#include "headlight/image/image_files.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/pipelines/translation.h"
#include "headlight/recipes/translation_metrics.h"

namespace headlight {

/// The options of an evaluation. Evaluate refuses an option that the model's task does not have.
struct Evaluation {
  std::string folder = {};              ///< the model's
  std::vector<std::string> files = {};  ///< the test set, in the formats that the training of the model's task reads
  LoadOptions load = {};
  TextSource source_of_texts = {};  ///< of models of texts: where the texts are in the files

  // For models of images.
  std::vector<std::string> images = {};          ///< folders of the images, unless they lie next to the files
  std::optional<std::int64_t> most_pixels = {};  ///< larger images are refused before they are decoded [kMostPixels]
  bool confusion = false;                        ///< of classes: more than a confusion matrix has are refused

  // Of an encoder of images: how its features are evaluated with the labelled images of `train`.
  std::optional<std::int64_t> knn = {};  ///< by a vote of as many nearest images
  bool linear_probe = false;             ///< by a logistic regression
  bool pixels = false;                   ///< the preprocessed pixels in place of the features

  // Of a CLIP.
  bool zero_shot = false;                   ///< the files have images by class, which are found by the classes' names
  std::vector<std::string> templates = {};  ///< texts with {} in the place of the class [{}]

  /// Labelled images, see above; questions, which are answered without an image as a baseline; structures, or texts for
  /// masked tokens, for baselines without a model; or texts that a translator has learned to read, for scores of
  /// groups.
  std::vector<std::string> train = {};

  TextColumns columns = {};  ///< of a classifier of texts: of the second text and the label; `text` is not used

  // Of a model that reads regions.
  std::vector<std::string> boxes = {};  ///< files of boxes in the images
  std::string detector = {};            ///< or the folder of a detector that finds them

  bool truncate = false;  ///< of texts that are not cut into pieces: the end of one that is too long is left out
  bool end = false;       ///< of a language model: the token that ends each text is counted

  // Of a model that reads one text and writes another.
  /// What should be written, line by line for the texts of the one file. Empty: the files have pairs of texts.
  std::string reference = {};
  PairColumns pairs = {};  ///< of .jsonl and .csv files
  std::string out = {};    ///< the file that the model's texts are written to; empty: none
  bool rouge = false;      ///< ROUGE instead of BLEU and chrF
  bool stemmer = false;    ///< ROUGE compares words by their English stems
  TranslationMetricOptions metrics = {.metrics = {"bleu", "chrf"}};
  TranslateOptions translate = {};
};

struct EvaluationResult {
  Json scores;       ///< an object
  std::string text;  ///< the scores in words, line by line

  // Of classes of images, of which there are not too many.
  std::vector<std::string> labels = {};
  std::vector<std::int64_t> confusions = {};  ///< [true class, predicted class]: how many images
};

/// Is told of the evaluation. Each function may be empty.
struct EvaluationObserver {
  /// What is done now, such as "texts evaluated", and how far it has come. `done` -1: it begins; `total` 0: unknown.
  /// An empty `what`: the last one has ended.
  std::function<void(const char* what, std::int64_t done, std::int64_t total)> progress = {};
  std::function<void(const std::string& text)> note = {};  ///< what a user should know
  /// The labelled images to classify, before they are read. May throw Error, as for a file that is also an output.
  std::function<void(const std::vector<ImageSource>& images)> images = {};
};

}  // namespace headlight
