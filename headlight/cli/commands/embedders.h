// The embedder of a model's folder, whatever it reads: texts, images, or both into one space.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/pipelines/embedder.h"
#include "headlight/pipelines/image_classifier.h"

namespace headlight {

struct FolderEmbedder {
  // Empty where the model does not read them.
  std::function<Embeddings(std::span<const std::string> texts, const EmbedOptions& options)> texts = {};
  std::function<Tensor(std::span<const Image> fitted, const ImageOptions& options)> fitted = {};
  std::function<Image(const Image& image)> fit = {};  // with `fitted`
  std::int64_t dimension = 0;                         // numbers of a vector
  std::int64_t longest = 0;                           // tokens of a text
  Similarity similarity = Similarity::cosine;
  bool proteins = false;  // its texts are sequences of proteins

  // The vector of a query: of an image where it is the path of one that the model reads, else of the text.
  std::vector<float> Query(const std::string& query, EmbedPooling pooling = EmbedPooling::folder) const;
};

FolderEmbedder LoadEmbedder(const std::string& folder, std::optional<Compute> compute);

// True where the model of a folder would embed these inputs as images: it reads no texts, or it reads both and they
// are named as images or folders are.
bool EmbedsImages(const std::string& folder, const std::vector<std::string>& inputs);

// True for a query that is the path of an image.
bool IsImageQuery(const std::string& query);

}  // namespace headlight
