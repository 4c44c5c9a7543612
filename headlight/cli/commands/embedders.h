// Handles inputs and queries of `embed` and `search`, which are texts or image paths.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headlight/pipelines/folder_embedder.h"

namespace headlight {

/// Loads the folder's embedder, and shows a progress line.
FolderEmbedder LoadEmbedder(const std::string& folder, std::optional<Compute> compute);

/// Returns the vector of a query. If the query is the path of an image and the model has an image encoder, the image is
/// embedded. Otherwise, the text is embedded.
std::vector<float> QueryVector(const FolderEmbedder& embedder, const std::string& query,
                               EmbedPooling pooling = EmbedPooling::folder);

/// Returns true if the model embeds these inputs as images. This is always true for a model with only an image encoder.
/// If the model also has a text encoder, all inputs must be folders or image files.
bool EmbedsImages(const std::string& folder, const std::vector<std::string>& inputs);

/// Returns true if a query is the path of an existing image.
bool IsImageQuery(const std::string& query);

}  // namespace headlight
