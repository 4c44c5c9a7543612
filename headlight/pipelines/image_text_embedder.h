// Vectors of images and of texts in one space, where an image is near the texts that describe it: search of one by
// the other, and classes that are only named (Radford et al., "Learning Transferable Visual Models From Natural
// Language Supervision", 2021).
//   const ImageTextEmbedder embedder = ImageTextEmbedder::Load("clip-vit-base-patch32");
//   Tensor images = embedder.EmbedImages({ReadImage("cat.jpg"), ReadImage("dog.png")});  // [2, dimension]
//   Tensor classes = embedder.EmbedLabels({"cat", "dog"}, {"a photo of a {}."});                 // [2, dimension]
//   Tensor scores = embedder.Probabilities(images, classes);                                   // [2, 2]
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/image.h"
#include "headlight/pipelines/embedder.h"
#include "headlight/pipelines/image_classifier.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

// Immutable and cheap to copy; every method may be called from many threads at once. A vector does not depend on the
// other texts or images of a call.
class HEADLIGHT_API ImageTextEmbedder {
 public:
  // A folder of CLIP or SigLIP, or of one tower of them, with its tokenizer and preprocessor_config.json. Throws Error
  // naming the file and what is wrong with it or not supported.
  static ImageTextEmbedder Load(const std::string& folder, const LoadOptions& options = {});

  // Vectors of length 1, [texts, dimension]. Throws Error for a model without a tower for texts, and naming the text
  // where one is not UTF-8, or is too long and not to be truncated.
  Embeddings EmbedTexts(std::span<const std::string> texts, const EmbedOptions& options = {}) const;
  Embeddings EmbedTexts(std::initializer_list<std::string> texts, const EmbedOptions& options = {}) const {
    return EmbedTexts(std::span(texts.begin(), texts.size()), options);
  }

  // Vectors of length 1, [images, dimension]. Throws Error for a model without a tower for images, and naming the
  // image where one has no pixels or cannot be resized.
  Tensor EmbedImages(std::span<const Image> images, const ImageOptions& options = {}) const;
  Tensor EmbedImages(std::initializer_list<Image> images, const ImageOptions& options = {}) const {
    return EmbedImages(std::span(images.begin(), images.size()), options);
  }
  // The same in two steps, of which the first can be done ahead while the second computes: the image as resized and
  // cropped for the model, and the vectors of such images.
  Image Fit(const Image& image) const;
  Tensor EmbedFitted(std::span<const Image> fitted, const ImageOptions& options = {}) const;

  // One vector of each label, [labels, dimension]: the mean of those of all templates with the label in the place of
  // "{}", brought to length 1 again. Throws Error for a template without "{}", where there is none or no label, and as
  // EmbedTexts.
  Tensor EmbedLabels(std::span<const std::string> labels, std::span<const std::string> templates) const;
  Tensor EmbedLabels(std::initializer_list<std::string> labels, std::initializer_list<std::string> templates) const {
    return EmbedLabels(std::span(labels.begin(), labels.size()), std::span(templates.begin(), templates.size()));
  }

  // How well each of `others` fits each of `vectors`, both of length 1: [vectors, others]. Of CLIP a row sums to 1: one
  // of them fits. Of SigLIP each pair has a probability of its own. Throws Error for a model of one tower.
  Tensor Probabilities(const Tensor& vectors, const Tensor& others) const;

  bool reads_texts() const;
  bool reads_images() const;
  std::int64_t dimension() const;  // numbers of a vector
  std::int64_t longest() const;    // tokens of a text, special ones included; 0 without a tower for texts

 private:
  struct State;
  explicit ImageTextEmbedder(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
