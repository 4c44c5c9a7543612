// Embeddings of images: vectors that are close where the images look alike.
//   const ImageEmbedder embedder = ImageEmbedder::Load("dino-vits16");
//   Tensor vectors = embedder.Embed({ReadImage("cat.jpg"), ReadImage("dog.png")});  // [2, dimension]
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "headlight/base/export.h"
#include "headlight/image/image.h"
#include "headlight/pipelines/image_classifier.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

// Immutable and cheap to copy; every method may be called from many threads at once. An image's vector does not depend
// on the other images of a call.
class HEADLIGHT_API ImageEmbedder {
 public:
  // A folder of any encoder of images, with or without classes, and its preprocessor_config.json. Throws Error naming
  // the file and what is wrong with it or not supported.
  static ImageEmbedder Load(const std::string& folder, const LoadOptions& options = {});

  // The state of each image's class token after the last norm, or of a model without one the mean of all states:
  // [images, dimension]. Throws Error naming the image where one has no pixels or cannot be resized.
  Tensor Embed(std::span<const Image> images, const ImageOptions& options = {}) const;
  Tensor Embed(std::initializer_list<Image> images, const ImageOptions& options = {}) const {
    return Embed(std::span(images.begin(), images.size()), options);
  }

  // Embed in two steps, of which the first can be done ahead while the second computes: the image as resized and
  // cropped for the model, and the vectors of such images.
  Image Fit(const Image& image) const;
  Tensor EmbedFitted(std::span<const Image> fitted, const ImageOptions& options = {}) const;

  std::int64_t dimension() const;  // numbers of a vector

 private:
  struct State;
  explicit ImageEmbedder(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
