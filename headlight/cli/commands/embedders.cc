#include "headlight/cli/commands/embedders.h"

#include <algorithm>
#include <filesystem>

#include "headlight/base/error.h"
#include "headlight/cli/terminal/image_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/image/idx.h"
#include "headlight/image/image_files.h"

namespace headlight {

FolderEmbedder LoadEmbedder(const std::string& folder, std::optional<Compute> compute) {
  return Loaded([&] { return FolderEmbedder::Load(folder, {.compute = compute}); });
}

bool EmbedsImages(const std::string& folder, const std::vector<std::string>& inputs) {
  const EmbedderInputs reads = EmbedderInputsOf(folder);
  if (!reads.images || !reads.texts) return reads.images;
  return !inputs.empty() && std::ranges::all_of(inputs, [&](const std::string& input) {
    if (input == "-") return inputs.size() > 1;  // if standard input is the only input, it is text
    std::error_code ignored;
    return std::filesystem::is_directory(input, ignored) || IsImagePath(input) || IsIdxPath(input) ||
           !std::filesystem::exists(input, ignored);
  });
}

bool IsImageQuery(const std::string& query) {
  std::error_code ignored;
  return IsImagePath(query) && std::filesystem::exists(query, ignored);
}

std::vector<float> QueryVector(const FolderEmbedder& embedder, const std::string& query, EmbedPooling pooling) {
  const bool texts = embedder.texts != nullptr, images = embedder.fitted != nullptr;
  std::error_code ignored;
  Check(!texts || !images || !IsImagePath(query) || query.find(' ') != std::string::npos ||
            std::filesystem::exists(query, ignored),
        "{}: no such image; a query without spaces that has an image's name is read as an image", query);
  if (texts && !(images && IsImageQuery(query)))
    return embedder.texts({&query, 1}, {.pooling = pooling, .purpose = EmbedAs::query}).vectors.ToVector<float>();
  const Image image = embedder.fit(ReadOneImage(Input(query)));
  return embedder.fitted({&image, 1}, {}).vectors.ToVector<float>();
}

}  // namespace headlight
