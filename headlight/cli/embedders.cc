#include "headlight/cli/embedders.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "headlight/base/error.h"
#include "headlight/cli/output.h"
#include "headlight/cli/picture_batches.h"
#include "headlight/cli/progress.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/idx.h"
#include "headlight/image/picture_files.h"
#include "headlight/kinds/dual_encoder.h"
#include "headlight/kinds/picture_encoder.h"
#include "headlight/models/family.h"
#include "headlight/tasks/dual_embedder.h"
#include "headlight/tasks/image_embedder.h"

namespace headlight {
namespace {

template <typename Pictures>
void SetPictures(const Pictures& embedder, FolderEmbedder& folder) {
  folder.fit = [embedder](const Picture& picture) { return embedder.Fit(picture); };
  folder.fitted = [embedder](std::span<const Picture> fitted, const ImageOptions& options) {
    return embedder.EmbedFitted(fitted, options);
  };
  folder.dimension = embedder.dimension();
}

}  // namespace

FolderEmbedder LoadEmbedder(const std::string& folder, std::optional<Compute> compute) {
  const std::string_view kind = FamilyOf(OpenModelFolder(folder)).kind;
  FolderEmbedder made;
  Loaded([&] {
    if (kind == PictureEncoder::kKind) {
      SetPictures(ImageEmbedder::Load(folder, {.compute = compute}), made);
    } else if (kind == DualEncoder::kKind) {
      const DualEmbedder embedder = DualEmbedder::Load(folder, {.compute = compute});
      if (embedder.reads_pictures()) SetPictures(embedder, made);
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

bool EmbedsPictures(const std::string& folder, const std::vector<std::string>& inputs) {
  const std::string_view kind = FamilyOf(OpenModelFolder(folder)).kind;
  if (kind != DualEncoder::kKind) return kind == PictureEncoder::kKind;
  return !inputs.empty() && std::ranges::all_of(inputs, [&](const std::string& input) {
    if (input == "-") return inputs.size() > 1;  // alone it is text
    std::error_code ignored;
    return std::filesystem::is_directory(input, ignored) || IsPicturePath(input) || IsIdxPath(input) ||
           !std::filesystem::exists(input, ignored);
  });
}

bool IsPictureQuery(const std::string& query) {
  std::error_code ignored;
  return IsPicturePath(query) && std::filesystem::exists(query, ignored);
}

std::vector<float> FolderEmbedder::Query(const std::string& query, EmbedPooling pooling) const {
  const std::string texts_of[] = {query};
  std::error_code ignored;
  Check(!texts || !fitted || !IsPicturePath(query) || query.find(' ') != std::string::npos ||
            std::filesystem::exists(query, ignored),
        "{}: there is no such picture; a text to search for does not end as a picture's name, or has spaces", query);
  if (texts && !(fitted && IsPictureQuery(query)))
    return texts(texts_of, {.pooling = pooling, .purpose = EmbedAs::query}).vectors.ToVector<float>();
  const Picture picture = fit(ReadOnePicture(Input(query)));
  return fitted({&picture, 1}, {}).ToVector<float>();
}

}  // namespace headlight
