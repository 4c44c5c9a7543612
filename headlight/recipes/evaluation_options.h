// The options, result and observer of an evaluation.
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

/// The options of an evaluation. Evaluate throws Error for an option that the model's task does not have.
struct Evaluation {
  std::string folder = {};              ///< the model's folder
  std::vector<std::string> files = {};  ///< the test set, in the same formats as training data for the model's task
  LoadOptions load = {};
  TextSource source_of_texts = {};  ///< for text models: the location of the texts in the files

  /// Options of image models.
  std::vector<std::string> images = {};          ///< folders of the images; default: next to the files
  std::optional<std::int64_t> most_pixels = {};  ///< larger images cause errors before they are decoded [kMostPixels]
  bool confusion = false;  ///< for classifiers: if true, checks that the confusion matrix is not too large

  /// Options of image encoders for evaluating features with the labeled images of `train`.
  std::optional<std::int64_t> knn = {};  ///< for k-NN: the number of nearest images that vote
  bool linear_probe = false;             ///< if true, evaluates the features by logistic regression
  bool pixels = false;                   ///< if true, evaluates the preprocessed pixels instead of the features

  /// Options for CLIP and SigLIP models.
  bool zero_shot = false;                   ///< if true, the files have images by class, for zero-shot classification
  std::vector<std::string> templates = {};  ///< texts with {} for the class [{}]

  /// The training data: labeled images for `knn` and `linear_probe`, or questions for a baseline that ignores the
  /// image. For baselines without a model: structures or texts. For scores by group: a translator's training texts.
  std::vector<std::string> train = {};

  TextColumns columns = {};  ///< for text classifiers: the second text and the label; `text` is not used

  /// Options of models for image regions.
  std::vector<std::string> boxes = {};  ///< files of boxes in the images
  std::string detector = {};            ///< folder of a detector that finds boxes, instead of `boxes`

  bool truncate = false;  ///< if true, truncates texts that are too long, unless they are split
  bool end = false;       ///< for language models: if true, also scores the end token of each text

  // Options of encoder-decoders.
  /// A file of references, aligned line by line with the single file of sources. If it is empty, the files have pairs
  /// of texts.
  std::string reference = {};
  PairColumns pairs = {};  ///< columns of .jsonl and .csv files
  std::string out = {};    ///< file for the generated texts; empty: none
  bool rouge = false;      ///< if true, computes ROUGE instead of BLEU and chrF
  bool stemmer = false;    ///< if true, ROUGE compares words by their English stems
  TranslationMetricOptions metrics = {.metrics = {"bleu", "chrf"}};
  TranslateOptions translate = {};
};

struct EvaluationResult {
  Json scores;       ///< a JSON object
  std::string text;  ///< the scores as text for printing

  /// The classes and the confusion matrix of an image classifier. Empty if there are too many classes.
  std::vector<std::string> labels = {};
  std::vector<std::int64_t> confusions = {};  ///< [true class, predicted class]: number of images
};

/// The callbacks of an evaluation. Each function may be empty.
struct EvaluationObserver {
  /// Receives the current step, such as "texts evaluated", and its progress. `done` is -1 at the beginning of a step,
  /// and `total` is 0 if unknown. An empty `what` means that the last step has ended.
  std::function<void(const char* what, std::int64_t done, std::int64_t total)> progress = {};
  std::function<void(const std::string& text)> note = {};  ///< notes for the user
  /// Receives the labeled images before they are read. May throw Error, for example for a file that is also an output.
  std::function<void(const std::vector<ImageSource>& images)> images = {};
};

}  // namespace headlight
