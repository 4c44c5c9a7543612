#include "headlight/tasks/image_classifier.h"

#include <cmath>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/nn/heads.h"
#include "headlight/ops/softmax.h"
#include "headlight/tasks/encoder_folder.h"
#include "headlight/tasks/picture_folder.h"

namespace headlight {

struct ImageClassifier::State {
  PictureFolder loaded;
  Problem problem;
};

ImageClassifier ImageClassifier::Load(const std::string& folder, const LoadOptions& options) {
  PictureFolder loaded = LoadPictureFolder(folder, options);
  Check(loaded.model->heads().classes, "{}: the model has no head for classes of pictures", folder);
  const Problem problem = ReadProblem(ReadJson(folder + "/config.json"), loaded.model->labels().size());
  return ImageClassifier(std::make_shared<State>(State{std::move(loaded), problem}));
}

Tensor ImageClassifier::Classify(std::span<const Picture> pictures, const ImageOptions& options) const {
  return ClassifyFitted(FitPictures(state_->loaded.processor, pictures, options.name_of), options);
}

Picture ImageClassifier::Fit(const Picture& picture) const { return state_->loaded.processor.Fit(picture); }

Tensor ImageClassifier::ClassifyFitted(std::span<const Picture> fitted, const ImageOptions& options) const {
  const PictureEncoder& model = *state_->loaded.model;
  const Tensor result = Tensor::Empty({std::ssize(fitted), std::ssize(labels())});
  EncodePictures(state_->loaded, fitted, options.batch_pixels,
                 [&](Context& context, const EncodedPictures& encoded, std::size_t first) {
                   Tensor scores = model.ClassLogits(context, encoded);
                   for (std::int64_t i = 0; i < scores.rows(); ++i)
                     CheckFinite(scores.ViewRows(i, 1), model,
                                 "classifying " + NameOfPicture(options.name_of, first + static_cast<std::size_t>(i)));
                   if (problem() == Problem::one_label) scores = ops::Softmax(scores);
                   if (problem() == Problem::several_labels)
                     for (float& score : scores.span<float>()) score = 1 / (1 + std::exp(-score));
                   result.ViewRows(static_cast<std::int64_t>(first), scores.rows()).CopyFrom(scores);
                 });
  return result;
}

const std::vector<std::string>& ImageClassifier::labels() const { return state_->loaded.model->labels(); }
Problem ImageClassifier::problem() const { return state_->problem; }

}  // namespace headlight
