// Inputs and queries of `embed` and `search`, which are texts or paths of images.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headlight/pipelines/folder_embedder.h"

namespace headlight {

/// Loads the folder's embedder, with a progress line.
FolderEmbedder LoadEmbedder(const std::string& folder, std::optional<Compute> compute);

/// The vector of a query: of the image if it is a path of one and the model reads images, else of the text.
std::vector<float> QueryVector(const FolderEmbedder& embedder, const std::string& query,
                               EmbedPooling pooling = EmbedPooling::folder);

/// True if the model embeds these inputs as images: it reads only images, or it reads both and they are folders or have
/// names of images.
bool EmbedsImages(const std::string& folder, const std::vector<std::string>& inputs);

/// True if a query is the path of an image.
bool IsImageQuery(const std::string& query);

}  // namespace headlight
