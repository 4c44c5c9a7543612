// Embeddings from any model whose inputs are texts, images, or both.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "headlight/base/export.h"
#include "headlight/image/image.h"
#include "headlight/pipelines/embedder.h"
#include "headlight/pipelines/image_embedder.h"
#include "headlight/pipelines/load_options.h"

namespace headlight {

/// The kinds of inputs that a folder's embedder accepts.
struct EmbedderInputs {
  bool texts = false, images = false;
};
/// Returns the inputs that the folder's model accepts, without loading weights. Returns `texts` for models without an
/// embedder. Loading such models throws Error.
HEADLIGHT_API EmbedderInputs EmbedderInputsOf(const std::string& folder);

struct FolderEmbedder {
  /// Throws Error naming the file and the problem if a file is invalid or not supported.
  HEADLIGHT_API static FolderEmbedder Load(const std::string& folder, const LoadOptions& options = {});

  /// A function is empty if the model does not accept its kind of input.
  std::function<Embeddings(std::span<const std::string> texts, const EmbedOptions& options)> texts = {};
  std::function<Embeddings(std::span<const Image> fitted, const EmbedImageOptions& options)> fitted = {};
  std::function<Image(const Image& image)> fit = {};  ///< resizes an image for `fitted`
  std::int64_t dimension = 0;                         ///< length of a vector
  std::int64_t longest = 0;                           ///< maximum number of tokens of a text
  Similarity similarity = Similarity::cosine;
  bool proteins = false;  ///< if true, texts are protein sequences
};

}  // namespace headlight
