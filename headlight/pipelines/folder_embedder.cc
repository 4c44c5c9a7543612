#include "headlight/pipelines/folder_embedder.h"

#include <string_view>

#include "headlight/kinds/dual_encoder.h"
#include "headlight/kinds/image_encoder.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/image_embedder.h"
#include "headlight/pipelines/image_text_embedder.h"

namespace headlight {
namespace {

template <typename Images>
void SetImages(const Images& embedder, FolderEmbedder& made) {
  made.fit = [embedder](const Image& image) { return embedder.Fit(image); };
  made.fitted = [embedder](std::span<const Image> fitted, const EmbedImageOptions& options) {
    return embedder.EmbedFitted(fitted, options);
  };
  made.dimension = embedder.dimension();
}

FolderEmbedder OfTexts(const std::string& folder, const LoadOptions& options) {
  const Embedder embedder = Embedder::Load(folder, options);
  return {.texts = [embedder](std::span<const std::string> texts,
                              const EmbedOptions& how) { return embedder.Embed(texts, how); },
          .dimension = embedder.dimension(),
          .longest = embedder.longest(),
          .similarity = embedder.similarity(),
          .proteins = embedder.reads_proteins()};
}

FolderEmbedder OfImages(const std::string& folder, const LoadOptions& options) {
  FolderEmbedder made;
  SetImages(ImageEmbedder::Load(folder, options), made);
  return made;
}

FolderEmbedder OfBoth(const std::string& folder, const LoadOptions& options) {
  const ImageTextEmbedder embedder = ImageTextEmbedder::Load(folder, options);
  FolderEmbedder made;
  if (embedder.reads_images()) SetImages(embedder, made);
  if (embedder.reads_texts())
    made.texts = [embedder](std::span<const std::string> texts, const EmbedOptions& how) {
      return embedder.EmbedTexts(texts, how);
    };
  made.dimension = embedder.dimension();
  made.longest = embedder.longest();
  return made;
}

struct EmbedderKind {
  std::string_view kind;
  EmbedderInputs inputs;
  FolderEmbedder (*load)(const std::string& folder, const LoadOptions& options);
};
constexpr EmbedderKind kImages = {ImageEncoder::kKind, {.texts = false, .images = true}, OfImages};
constexpr EmbedderKind kBoth = {DualEncoder::kKind, {.texts = true, .images = true}, OfBoth};
constexpr EmbedderKind kTexts = {TextEncoder::kKind, {.texts = true, .images = false}, OfTexts};

const EmbedderKind& KindOf(const std::string& folder) {
  const std::string_view kind = FamilyOf(OpenModelFolder(folder)).kind;
  return kind == kImages.kind ? kImages : kind == kBoth.kind ? kBoth : kTexts;
}

}  // namespace

EmbedderInputs EmbedderInputsOf(const std::string& folder) { return KindOf(folder).inputs; }

FolderEmbedder FolderEmbedder::Load(const std::string& folder, const LoadOptions& options) {
  return KindOf(folder).load(folder, options);
}

}  // namespace headlight
