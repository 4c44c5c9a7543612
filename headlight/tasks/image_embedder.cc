#include "headlight/tasks/image_embedder.h"

#include <utility>

#include "headlight/tasks/encoder_folder.h"
#include "headlight/tasks/picture_folder.h"

namespace headlight {

struct ImageEmbedder::State {
  PictureFolder loaded;
};

ImageEmbedder ImageEmbedder::Load(const std::string& folder, const LoadOptions& options) {
  return ImageEmbedder(std::make_shared<State>(State{LoadPictureFolder(folder, options)}));
}

Tensor ImageEmbedder::Embed(std::span<const Picture> pictures, const ImageOptions& options) const {
  return EmbedFitted(FitPictures(state_->loaded.processor, pictures, options.name_of), options);
}

Picture ImageEmbedder::Fit(const Picture& picture) const { return state_->loaded.processor.Fit(picture); }

Tensor ImageEmbedder::EmbedFitted(std::span<const Picture> fitted, const ImageOptions& options) const {
  const PictureEncoder& model = *state_->loaded.model;
  const Tensor result = Tensor::Empty({std::ssize(fitted), dimension()});
  EncodePictures(state_->loaded, fitted, options.batch_pixels,
                 [&](Context&, const EncodedPictures& encoded, std::size_t first) {
                   const Tensor vectors = model.Features(encoded);
                   for (std::int64_t i = 0; i < vectors.rows(); ++i)
                     CheckFinite(vectors.ViewRows(i, 1), model,
                                 "embedding " + NameOfPicture(options.name_of, first + static_cast<std::size_t>(i)));
                   result.ViewRows(static_cast<std::int64_t>(first), vectors.rows()).CopyFrom(vectors);
                 });
  return result;
}

std::int64_t ImageEmbedder::dimension() const { return state_->loaded.model->limits().model; }

}  // namespace headlight
