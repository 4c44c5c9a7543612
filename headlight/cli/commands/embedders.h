// What embed and search have in common: inputs and queries that are texts, or names of images.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headlight/pipelines/folder_embedder.h"

namespace headlight {

/// Loads the folder's embedder and shows so.
FolderEmbedder LoadEmbedder(const std::string& folder, std::optional<Compute> compute);

/// The vector of a query: of an image if it is the path of one that the model reads, else of the text.
std::vector<float> QueryVector(const FolderEmbedder& embedder, const std::string& query,
                               EmbedPooling pooling = EmbedPooling::folder);

/// True if the model of a folder would embed these inputs as images: it reads no texts, or it reads both and they are
/// named as images or folders are.
bool EmbedsImages(const std::string& folder, const std::vector<std::string>& inputs);

/// True for a query that is the path of an image.
bool IsImageQuery(const std::string& query);

}  // namespace headlight
