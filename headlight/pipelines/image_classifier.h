// Classification of images.
//   const ImageClassifier classifier = ImageClassifier::Load("vit-base-patch16-224");
//   Tensor scores = classifier.Classify({ReadImage("cat.jpg"), ReadImage("dog.png")});  // [2, labels]
//   classifier.labels()[0]  // the label of column 0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/image.h"
#include "headlight/nn/problem.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

struct ImageOptions {
  // Of images that are encoded at once, as resized; at least 1. Of a CLIP or SigLIP with patches larger than 16 x 16,
  // more in proportion.
  std::int64_t batch_pixels = 4 * 224 * 224;
  std::function<std::string(std::size_t image)> name_of = {};  // in errors; "image 1" unless given
};

/// The classes of images that a folder's model has: none, those of a head, or any that are described by labels.
enum class ImageClasses { none, own, described };
/// By the model's kind, without its weights.
HEADLIGHT_API ImageClasses ImageClassesOf(const std::string& folder);

// Immutable and cheap to copy; every method may be called from many threads at once. An image's scores do not depend
// on the other images of a call.
class HEADLIGHT_API ImageClassifier {
 public:
  // A folder of an encoder of images or an ImageGPT, with classes, and its preprocessor_config.json. Throws Error
  // naming the file and what is wrong with it or not supported.
  static ImageClassifier Load(const std::string& folder, const LoadOptions& options = {});
  /// A folder of CLIP or SigLIP, for classes without examples: these labels, which differ, in the place of "{}" in each
  /// of the templates (ImageTextEmbedder::EmbedLabels). Throws Error likewise.
  static ImageClassifier LoadZeroShot(const std::string& folder, std::vector<std::string> labels,
                                      const std::vector<std::string>& templates = {"{}"},
                                      const LoadOptions& options = {});

  // The scores of every label for each image, [images, labels]: probabilities, or for Problem::number the outputs.
  // Throws Error naming the image where one has no pixels or cannot be resized.
  Tensor Classify(std::span<const Image> images, const ImageOptions& options = {}) const;
  Tensor Classify(std::initializer_list<Image> images, const ImageOptions& options = {}) const {
    return Classify(std::span(images.begin(), images.size()), options);
  }

  // Classify in two steps, of which the first can be done ahead while the second computes: the image as resized and
  // cropped for the model, and the scores of such images.
  Image Fit(const Image& image) const;
  Tensor ClassifyFitted(std::span<const Image> fitted, const ImageOptions& options = {}) const;

  const std::vector<std::string>& labels() const;  // by column of the scores
  Problem problem() const;                         // one label for each image, any number, or a number

 private:
  struct State;
  explicit ImageClassifier(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
