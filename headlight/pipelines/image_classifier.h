// Classification of images.
//   const ImageClassifier classifier = ImageClassifier::Load("vit-base-patch16-224");
//   const std::vector<LabelScore> labels = classifier.Classify(ReadImage("cat.jpg"));  // labels[0].label is the best
//   auto best = classifier.Classify({ReadImage("cat.jpg"), ReadImage("dog.png")}, {.top_k = 1});  // best[1][0].score
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/image.h"
#include "headlight/nn/problem.h"
#include "headlight/pipelines/label_score.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

struct ClassifyImageOptions {
  std::optional<std::int64_t> top_k = {};     ///< labels per image, at least 1; all if it is not set
  std::int64_t batch_pixels = 4 * 224 * 224;  ///< pixels of resized images that are encoded at once, at least 1
  std::function<std::string(std::size_t image)> name_of = {};  ///< image name in error messages; "image 1" by default
};

/// The classes of a model: none, the classes of its classification head, or classes described by labels (zero-shot).
enum class ImageClasses { none, own, described };
/// Returns the kind of classes of the folder's model, without loading weights.
HEADLIGHT_API ImageClasses ImageClassesOf(const std::string& folder);

/// Classifies images. Immutable and cheap to copy. All methods are thread-safe. An image's scores do not depend on the
/// other images of a call.
class HEADLIGHT_API ImageClassifier {
 public:
  /// Loads the folder of an image encoder or an ImageGPT with a classification head, and its preprocessor_config.json.
  /// Throws Error that names the file and the problem if a file is invalid or not supported.
  static ImageClassifier Load(const std::string& folder, const LoadOptions& options = {});
  /// Loads the folder of a CLIP or SigLIP for zero-shot classification with distinct `labels`. Each label replaces "{}"
  /// in each of the templates (ImageTextEmbedder::EmbedLabels). For a CLIP, the scores of all labels sum to 1. For a
  /// SigLIP, each score is independent. Throws the same errors as Load and EmbedLabels.
  static ImageClassifier LoadZeroShot(const std::string& folder, std::vector<std::string> labels,
                                      const std::vector<std::string>& templates = {"{}"},
                                      const LoadOptions& options = {});

  /// Returns the labels of each image with their scores, the highest score first (see LabelScores). Throws Error that
  /// names the image if it has no pixels or cannot be resized.
  std::vector<std::vector<LabelScore>> Classify(std::span<const Image> images,
                                                const ClassifyImageOptions& options = {}) const;
  std::vector<std::vector<LabelScore>> Classify(std::initializer_list<Image> images,
                                                const ClassifyImageOptions& options = {}) const {
    return Classify(std::span(images.begin(), images.size()), options);
  }
  /// Returns the labels of one image.
  std::vector<LabelScore> Classify(const Image& image, const ClassifyImageOptions& options = {}) const {
    return Classify(std::span(&image, 1), options).front();
  }

  /// Returns the scores of all labels, [images, labels] in float32: probabilities, or for Problem::number the model's
  /// outputs. `top_k` is ignored. Throws the same errors as Classify.
  Tensor Scores(std::span<const Image> images, const ClassifyImageOptions& options = {}) const;
  Tensor Scores(std::initializer_list<Image> images, const ClassifyImageOptions& options = {}) const {
    return Scores(std::span(images.begin(), images.size()), options);
  }

  /// Perform Classify in two steps, so that other threads can prepare the next images during the computation. Fit
  /// resizes and crops an image for the model, and ClassifyFitted classifies such images.
  Image Fit(const Image& image) const;
  std::vector<std::vector<LabelScore>> ClassifyFitted(std::span<const Image> fitted,
                                                      const ClassifyImageOptions& options = {}) const;

  const std::vector<std::string>& labels() const;  ///< in the order of the columns of Scores
  Problem problem() const;                         ///< one label per image, any number of labels, or regression

 private:
  struct State;
  Tensor ScoresOfFitted(std::span<const Image> fitted, const ClassifyImageOptions& options) const;
  explicit ImageClassifier(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
