#include "headlight/cli/commands/embedders.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "headlight/base/error.h"
#include "headlight/cli/terminal/image_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/idx.h"
#include "headlight/image/image_files.h"
#include "headlight/kinds/dual_encoder.h"
#include "headlight/kinds/image_encoder.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/image_embedder.h"
#include "headlight/pipelines/image_text_embedder.h"

namespace headlight {
namespace {

template <typename Images>
void SetImages(const Images& embedder, FolderEmbedder& folder) {
  folder.fit = [embedder](const Image& image) { return embedder.Fit(image); };
  folder.fitted = [embedder](std::span<const Image> fitted, const ImageOptions& options) {
    return embedder.EmbedFitted(fitted, options);
  };
  folder.dimension = embedder.dimension();
}

}  // namespace

FolderEmbedder LoadEmbedder(const std::string& folder, std::optional<Compute> compute) {
  const std::string_view kind = FamilyOf(OpenModelFolder(folder)).kind;
  FolderEmbedder made;
  Loaded([&] {
    if (kind == ImageEncoder::kKind) {
      SetImages(ImageEmbedder::Load(folder, {.compute = compute}), made);
    } else if (kind == DualEncoder::kKind) {
      const ImageTextEmbedder embedder = ImageTextEmbedder::Load(folder, {.compute = compute});
      if (embedder.reads_images()) SetImages(embedder, made);
      if (embedder.reads_texts())
        made.texts = [embedder](std::span<const std::string> texts, const EmbedOptions& options) {
          return embedder.EmbedTexts(texts, options);
        };
      made.dimension = embedder.dimension();
      made.longest = embedder.longest();
    } else {
      const Embedder embedder = Embedder::Load(folder, {.compute = compute});
      made.texts = [embedder](std::span<const std::string> texts, const EmbedOptions& options) {
        return embedder.Embed(texts, options);
      };
      made.dimension = embedder.dimension();
      made.longest = embedder.longest();
      made.similarity = embedder.similarity();
      made.proteins = embedder.reads_proteins();
    }
    return 0;
  });
  return made;
}

bool EmbedsImages(const std::string& folder, const std::vector<std::string>& inputs) {
  const std::string_view kind = FamilyOf(OpenModelFolder(folder)).kind;
  if (kind != DualEncoder::kKind) return kind == ImageEncoder::kKind;
  return !inputs.empty() && std::ranges::all_of(inputs, [&](const std::string& input) {
    if (input == "-") return inputs.size() > 1;  // alone it is text
    std::error_code ignored;
    return std::filesystem::is_directory(input, ignored) || IsImagePath(input) || IsIdxPath(input) ||
           !std::filesystem::exists(input, ignored);
  });
}

bool IsImageQuery(const std::string& query) {
  std::error_code ignored;
  return IsImagePath(query) && std::filesystem::exists(query, ignored);
}

std::vector<float> FolderEmbedder::Query(const std::string& query, EmbedPooling pooling) const {
  const std::string texts_of[] = {query};
  std::error_code ignored;
  Check(!texts || !fitted || !IsImagePath(query) || query.find(' ') != std::string::npos ||
            std::filesystem::exists(query, ignored),
        "{}: there is no such image; a text to search for does not end as an image's name, or has spaces", query);
  if (texts && !(fitted && IsImageQuery(query)))
    return texts(texts_of, {.pooling = pooling, .purpose = EmbedAs::query}).vectors.ToVector<float>();
  const Image image = fit(ReadOneImage(Input(query)));
  return fitted({&image, 1}, {}).ToVector<float>();
}

}  // namespace headlight
