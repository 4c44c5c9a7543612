#include "headlight/pipelines/image_classifier.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/kinds/dual_encoder.h"
#include "headlight/models/family.h"
#include "headlight/models/imagegpt.h"
#include "headlight/nn/heads.h"
#include "headlight/ops/softmax.h"
#include "headlight/pipelines/encoder_folder.h"
#include "headlight/pipelines/image_folder.h"
#include "headlight/pipelines/image_text_embedder.h"

namespace headlight {

struct ImageClassifier::State {
  std::unique_ptr<const ImageGpt> generator;  // an ImageGPT with classes; or null
  ImageFolder encoder;                        // has no model if there is a generator or an embedder
  std::optional<ImageTextEmbedder> embedder;  // for zero-shot classification; or empty
  Tensor classes;                             // for zero-shot classification: the vectors of the labels
  std::vector<std::string> labels;
  Problem problem = Problem::one_label;
};

namespace {

constexpr std::int64_t kTokens = 4096;  // tokens of one batch of an ImageGPT, which has one token per pixel

// Returns the logits of images of one size. The input has the colors of each image without the start token, as in
// Transformers.
Tensor LogitsOf(const ImageGpt& model, Context& context, const ImageProcessor& processor,
                std::span<const Image> fitted) {
  std::vector<std::int32_t> ids;
  Sequences images;
  for (const Image& image : fitted) {
    const std::vector<std::int32_t> colors = processor.Colors(image);
    images.push_back({static_cast<std::int32_t>(ids.size()), static_cast<std::int32_t>(colors.size())});
    ids.insert(ids.end(), colors.begin(), colors.end());
  }
  return model.ClassLogits(context, model.Decode(context, ids, images), images);
}

EmbedImageOptions EmbeddingOf(const ClassifyImageOptions& options) {
  return {.batch_pixels = options.batch_pixels, .name_of = options.name_of};
}

}  // namespace

ImageClasses ImageClassesOf(const std::string& folder) {
  const std::string_view kind = FamilyOf(OpenModelFolder(folder)).kind;
  if (kind == DualEncoder::kKind) return ImageClasses::described;
  return kind == ImageEncoder::kKind || kind == ImageGpt::kKind ? ImageClasses::own : ImageClasses::none;
}

ImageClassifier ImageClassifier::LoadZeroShot(const std::string& folder, std::vector<std::string> labels,
                                              const std::vector<std::string>& templates, const LoadOptions& options) {
  const std::set<std::string> distinct(labels.begin(), labels.end());
  Check(distinct.size() == labels.size(), "`labels`: one is given twice");
  State state;
  state.embedder = ImageTextEmbedder::Load(folder, options);
  state.classes = state.embedder->EmbedLabels(labels, templates);
  state.labels = std::move(labels);
  return ImageClassifier(std::make_shared<State>(std::move(state)));
}

ImageClassifier ImageClassifier::Load(const std::string& folder, const LoadOptions& options) {
  State state;
  const bool generates = FamilyOf(OpenModelFolder(folder)).kind == ImageGpt::kKind;
  if (generates) {
    CheckImageOptions(folder, options);
    state.generator = LoadModel<ImageGpt>(folder, {.compute = options.compute, .purpose = LoadFor::computing});
    state.encoder.processor = LoadImageProcessor(folder);
    const ImageGptConfig& config = state.generator->config();
    const ImageProcessor& processor = state.encoder.processor;
    const ResizeRule& resize = processor.resize;
    Check(resize.kind == ResizeRule::Kind::exact && !processor.crop &&
              resize.size.height <= config.positions / resize.size.width &&
              std::ssize(processor.clusters) == config.start_id(),
          "{}: the processor must resize images to one size of at most {} pixels, in {} colors, which the model reads",
          folder, config.positions, config.start_id());
  } else {
    state.encoder = LoadImageFolder(folder, options);
  }
  Check(generates ? state.generator->config().classes : state.encoder.model->heads().classes,
        "{}: the model has no head for classes of images", folder);
  state.labels = generates ? state.generator->config().labels : state.encoder.model->labels();
  state.problem = ReadProblem(ReadJson(folder + "/config.json"), state.labels.size());
  return ImageClassifier(std::make_shared<State>(std::move(state)));
}

std::vector<std::vector<LabelScore>> ImageClassifier::Classify(std::span<const Image> images,
                                                               const ClassifyImageOptions& options) const {
  return LabelScores(Scores(images, options), labels(), problem(), options.top_k);
}

std::vector<std::vector<LabelScore>> ImageClassifier::ClassifyFitted(std::span<const Image> fitted,
                                                                     const ClassifyImageOptions& options) const {
  return LabelScores(ScoresOfFitted(fitted, options), labels(), problem(), options.top_k);
}

Tensor ImageClassifier::Scores(std::span<const Image> images, const ClassifyImageOptions& options) const {
  if (const auto& embedder = state_->embedder)
    return embedder->Probabilities(embedder->EmbedImages(images, EmbeddingOf(options)).vectors, state_->classes);
  return ScoresOfFitted(FitImages(state_->encoder.processor, images, options.name_of), options);
}

Image ImageClassifier::Fit(const Image& image) const {
  return state_->embedder ? state_->embedder->Fit(image) : state_->encoder.processor.Fit(image);
}

Tensor ImageClassifier::ScoresOfFitted(std::span<const Image> fitted, const ClassifyImageOptions& options) const {
  if (const auto& embedder = state_->embedder)
    return embedder->Probabilities(embedder->EmbedFitted(fitted, EmbeddingOf(options)).vectors, state_->classes);
  const Tensor result = Tensor::Empty({std::ssize(fitted), std::ssize(labels())});
  const auto add = [&](Tensor scores, const Model& model, std::size_t first) {
    for (std::int64_t i = 0; i < scores.rows(); ++i)
      CheckFinite(scores.ViewRows(i, 1), model,
                  "classifying " + NameOfImage(options.name_of, first + static_cast<std::size_t>(i)));
    if (problem() == Problem::one_label) scores = ops::Softmax(scores);
    if (problem() == Problem::several_labels)
      for (float& score : scores.span<float>()) score = 1 / (1 + std::exp(-score));
    result.ViewRows(static_cast<std::int64_t>(first), scores.rows()).CopyFrom(scores);
  };
  if (const ImageGpt* const generator = state_->generator.get(); generator != nullptr) {
    Check(options.batch_pixels >= 1, "`batch_pixels` must be at least 1, not {}", options.batch_pixels);
    const ImageSize size = state_->encoder.processor.resize.size;
    const auto most = static_cast<std::size_t>(
        std::max<std::int64_t>(1, std::min(kTokens, options.batch_pixels) / (size.height * size.width)));
    for (std::size_t begin = 0; begin < fitted.size(); begin += most) {
      Context context;
      add(LogitsOf(*generator, context, state_->encoder.processor,
                   fitted.subspan(begin, std::min(most, fitted.size() - begin))),
          *generator, begin);
    }
    return result;
  }
  const ImageEncoder& model = *state_->encoder.model;
  EncodeImages(state_->encoder, fitted, options.batch_pixels,
               [&](Context& context, const EncodedImages& encoded, std::size_t first) {
                 add(model.ClassLogits(context, encoded), model, first);
               });
  return result;
}

const std::vector<std::string>& ImageClassifier::labels() const { return state_->labels; }
Problem ImageClassifier::problem() const { return state_->problem; }

}  // namespace headlight
