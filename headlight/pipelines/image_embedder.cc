#include "headlight/pipelines/image_embedder.h"

#include <utility>

#include "headlight/pipelines/encoder_folder.h"
#include "headlight/pipelines/image_folder.h"

namespace headlight {

struct ImageEmbedder::State {
  ImageFolder loaded;
};

ImageEmbedder ImageEmbedder::Load(const std::string& folder, const LoadOptions& options) {
  return ImageEmbedder(std::make_shared<State>(State{LoadImageFolder(folder, options)}));
}

Embeddings ImageEmbedder::Embed(std::span<const Image> images, const EmbedImageOptions& options) const {
  return EmbedFitted(FitImages(state_->loaded.processor, images, options.name_of), options);
}

Image ImageEmbedder::Fit(const Image& image) const { return state_->loaded.processor.Fit(image); }

Embeddings ImageEmbedder::EmbedFitted(std::span<const Image> fitted, const EmbedImageOptions& options) const {
  const ImageEncoder& model = *state_->loaded.model;
  Embeddings result{Tensor::Empty({std::ssize(fitted), dimension()}), {}};
  EncodeImages(state_->loaded, fitted, options.batch_pixels,
               [&](Context&, const EncodedImages& encoded, std::size_t first) {
                 const Tensor vectors = model.Features(encoded);
                 for (std::int64_t i = 0; i < vectors.rows(); ++i)
                   CheckFinite(vectors.ViewRows(i, 1), model,
                               "embedding " + NameOfImage(options.name_of, first + static_cast<std::size_t>(i)));
                 result.vectors.ViewRows(static_cast<std::int64_t>(first), vectors.rows()).CopyFrom(vectors);
               });
  return result;
}

std::int64_t ImageEmbedder::dimension() const { return state_->loaded.model->limits().model; }

}  // namespace headlight
