// Embeddings of images and texts in a shared space, in which images are close to texts that describe them. Used for
// retrieval and zero-shot classification (Radford et al., "Learning Transferable Visual Models From Natural Language
// Supervision", 2021).
//   const ImageTextEmbedder embedder = ImageTextEmbedder::Load("clip-vit-base-patch32");
//   Tensor images = embedder.EmbedImages({ReadImage("cat.jpg"), ReadImage("dog.png")}).vectors;  // [2, dimension]
//   Tensor texts = embedder.EmbedTexts({"a cat", "a dog", "a bird"}).vectors;                    // [3, dimension]
//   Tensor scores = embedder.Probabilities(images, texts);                                       // [2, 3]
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
#include "headlight/pipelines/embedding.h"
#include "headlight/pipelines/image_embedder.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// Computes the vectors of images and texts. Immutable and cheap to copy. All methods are thread-safe. A vector does
/// not depend on the other texts or images of a call.
class HEADLIGHT_API ImageTextEmbedder {
 public:
  /// Loads the folder of a CLIP or SigLIP, or of a single tower, with its tokenizer and preprocessor_config.json.
  /// Throws Error that names the file and the problem if a file is invalid or not supported.
  static ImageTextEmbedder Load(const std::string& folder, const LoadOptions& options = {});

  /// Returns vectors of length 1, [texts, dimension]. Throws Error if the model has no text tower. Throws Error that
  /// names the text if it is not UTF-8, or is too long and `truncate` is not set.
  Embeddings EmbedTexts(std::span<const std::string> texts, const EmbedOptions& options = {}) const;
  Embeddings EmbedTexts(std::initializer_list<std::string> texts, const EmbedOptions& options = {}) const {
    return EmbedTexts(std::span(texts.begin(), texts.size()), options);
  }
  /// Returns the vector of one text, [dimension].
  std::vector<float> EmbedText(const std::string& text, const EmbedOptions& options = {}) const {
    return EmbedTexts(std::span(&text, 1), options).vectors.ToVector<float>();
  }

  /// Returns vectors of length 1, [images, dimension]. Throws Error if the model has no image tower. Throws Error that
  /// names the image if it has no pixels or cannot be resized.
  Embeddings EmbedImages(std::span<const Image> images, const EmbedImageOptions& options = {}) const;
  Embeddings EmbedImages(std::initializer_list<Image> images, const EmbedImageOptions& options = {}) const {
    return EmbedImages(std::span(images.begin(), images.size()), options);
  }
  /// Returns the vector of one image, [dimension].
  std::vector<float> EmbedImage(const Image& image, const EmbedImageOptions& options = {}) const {
    return EmbedImages(std::span(&image, 1), options).vectors.ToVector<float>();
  }
  /// Perform EmbedImages in two steps, so that other threads can prepare the next images during the computation. Fit
  /// resizes and crops an image for the model, and EmbedFitted embeds such images.
  Image Fit(const Image& image) const;
  Embeddings EmbedFitted(std::span<const Image> fitted, const EmbedImageOptions& options = {}) const;

  /// Returns the vectors of labels for zero-shot classification, [labels, dimension]. In each template "{}" is replaced
  /// by the label. The vector of a label is the mean over all templates, normalized to length 1. Throws Error if there
  /// is no label or no template, and if a template has no "{}". Throws the same errors as EmbedTexts.
  Tensor EmbedLabels(std::span<const std::string> labels, std::span<const std::string> templates) const;
  Tensor EmbedLabels(std::initializer_list<std::string> labels, std::initializer_list<std::string> templates) const {
    return EmbedLabels(std::span(labels.begin(), labels.size()), std::span(templates.begin(), templates.size()));
  }

  /// Returns the probability that each of `others`, [others, dimension], matches each of `vectors`, [vectors,
  /// dimension]. All vectors have length 1. The result is [vectors, others]. For a CLIP, each row sums to 1. For a
  /// SigLIP, each pair is independent. Throws Error if the model has only one tower.
  Tensor Probabilities(const Tensor& vectors, const Tensor& others) const;

  bool reads_texts() const;        ///< true if the model has a text tower
  bool reads_images() const;       ///< true if the model has an image tower
  std::int64_t dimension() const;  ///< length of a vector
  std::int64_t longest() const;    ///< maximum number of tokens of a text; 0 without a text tower

 private:
  struct State;
  explicit ImageTextEmbedder(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
