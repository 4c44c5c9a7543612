// Embeddings of images: vectors that are close if the images look alike.
//   const ImageEmbedder embedder = ImageEmbedder::Load("dino-vits16");
//   std::vector<float> vector = embedder.Embed(ReadImage("cat.jpg"));
//   Tensor vectors = embedder.Embed({ReadImage("cat.jpg"), ReadImage("dog.png")}).vectors;  // [2, dimension]
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
#include "headlight/pipelines/embedding.h"
#include "headlight/pipelines/load_options.h"

namespace headlight {

struct EmbedImageOptions {
  /// The number of pixels of resized images that are encoded at once, at least 1. For patches larger than 16 x 16, this
  /// number is raised in proportion to the patch's area.
  std::int64_t batch_pixels = 4 * 224 * 224;
  std::function<std::string(std::size_t image)> name_of = {};  ///< image name in error messages; "image 1" by default
};

/// Computes the vectors of images. Immutable and cheap to copy. All methods are thread-safe. An image's vector does not
/// depend on the other images of a call.
class HEADLIGHT_API ImageEmbedder {
 public:
  /// Loads the folder of any image encoder, with or without classes, and its preprocessor_config.json. Throws Error
  /// that names the file and the problem if a file is invalid or not supported.
  static ImageEmbedder Load(const std::string& folder, const LoadOptions& options = {});

  /// Returns the vectors of the images, [images, dimension]: the state of the class token after the last norm. Without
  /// a class token, the mean of all states is used. Throws Error that names the image if it has no pixels or cannot be
  /// resized.
  Embeddings Embed(std::span<const Image> images, const EmbedImageOptions& options = {}) const;
  Embeddings Embed(std::initializer_list<Image> images, const EmbedImageOptions& options = {}) const {
    return Embed(std::span(images.begin(), images.size()), options);
  }
  /// Returns the vector of one image, [dimension].
  std::vector<float> Embed(const Image& image, const EmbedImageOptions& options = {}) const {
    return Embed(std::span(&image, 1), options).vectors.ToVector<float>();
  }

  /// Perform Embed in two steps, so that other threads can prepare the next images during the computation. Fit resizes
  /// and crops an image for the model, and EmbedFitted embeds such images.
  Image Fit(const Image& image) const;
  Embeddings EmbedFitted(std::span<const Image> fitted, const EmbedImageOptions& options = {}) const;

  std::int64_t dimension() const;  ///< length of a vector

 private:
  struct State;
  explicit ImageEmbedder(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
