#include "headlight/pipelines/image_text_embedder.h"

#include <algorithm>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/generate/batched.h"
#include "headlight/ops/rms_norm.h"
#include "headlight/ops/sigmoid.h"
#include "headlight/ops/softmax.h"
#include "headlight/pipelines/dual_folder.h"
#include "headlight/pipelines/encoder_folder.h"

namespace headlight {

struct ImageTextEmbedder::State {
  DualFolder loaded;
};

namespace {

constexpr std::string_view kLabelMark = "{}";  // is replaced by the label in a template

std::string WithLabel(std::string text, std::string_view label) {
  for (std::size_t at = text.find(kLabelMark); at != std::string::npos; at = text.find(kLabelMark, at + label.size()))
    text.replace(at, kLabelMark.size(), label);
  return text;
}

}  // namespace

ImageTextEmbedder ImageTextEmbedder::Load(const std::string& folder, const LoadOptions& options) {
  return ImageTextEmbedder(std::make_shared<State>(State{LoadDualFolder(folder, options)}));
}

Embeddings ImageTextEmbedder::EmbedTexts(std::span<const std::string> texts, const EmbedOptions& options) const {
  const DualEncoder& model = *state_->loaded.model;
  model.CheckTexts();
  Check(options.pooling == EmbedPooling::folder, "pooling: only a model of proteins has residues to pool");
  Embeddings result{Tensor::Empty({std::ssize(texts), dimension()}), {}};
  std::vector<std::vector<std::int32_t>> all;
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CheckText(texts[i], options.name_of, i);
    WholeTexts::Read read = (*state_->loaded.texts)(texts[i]);
    Check(!read.ids.empty(), "{}: it has no tokens", NameOf(options.name_of, i));
    Check(read.cut == 0 || options.truncate,
          "{}: {} tokens, and the model reads at most {}; `truncate` leaves out its end", NameOf(options.name_of, i),
          std::ssize(read.ids) + read.cut, longest());
    if (read.cut > 0) result.truncated.push_back(static_cast<std::int64_t>(i));
    lengths.push_back(read.ids.size());
    all.push_back(std::move(read.ids));
  }
  ForEachBatch(lengths, options.batch_tokens, [&](std::span<const std::size_t> which) {
    std::vector<std::int32_t> ids, own;
    for (const std::size_t text : which) {
      ids.insert(ids.end(), all[text].begin(), all[text].end());
      own.push_back(static_cast<std::int32_t>(all[text].size()));
    }
    Context context;
    const Tensor vectors = model.TextVectors(context, ids, PackedSequences(own));
    for (std::size_t i = 0; i < which.size(); ++i) {
      const Tensor vector = vectors.ViewRows(static_cast<std::int64_t>(i), 1);
      CheckFinite(vector, model, "embedding " + NameOf(options.name_of, which[i]));
      result.vectors.ViewRows(static_cast<std::int64_t>(which[i]), 1).CopyFrom(vector);
    }
  });
  return result;
}

Embeddings ImageTextEmbedder::EmbedImages(std::span<const Image> images, const EmbedImageOptions& options) const {
  state_->loaded.model->CheckImages();
  return EmbedFitted(FitImages(*state_->loaded.processor, images, options.name_of), options);
}

Image ImageTextEmbedder::Fit(const Image& image) const {
  state_->loaded.model->CheckImages();
  return state_->loaded.processor->Fit(image);
}

Embeddings ImageTextEmbedder::EmbedFitted(std::span<const Image> fitted, const EmbedImageOptions& options) const {
  const DualEncoder& model = *state_->loaded.model;
  model.CheckImages();
  Embeddings result{Tensor::Empty({std::ssize(fitted), dimension()}), {}};
  ForEachBatchOfValues(
      *state_->loaded.processor, fitted, PixelsAtOnce(options.batch_pixels, model.limits().images.patch),
      [&](std::span<const Tensor> values, std::size_t first) {
        Context context;
        const Tensor vectors = model.ImageVectors(context, values);
        for (std::int64_t i = 0; i < vectors.rows(); ++i)
          CheckFinite(vectors.ViewRows(i, 1), model,
                      "embedding " + NameOfImage(options.name_of, first + static_cast<std::size_t>(i)));
        result.vectors.ViewRows(static_cast<std::int64_t>(first), vectors.rows()).CopyFrom(vectors);
      });
  return result;
}

Tensor ImageTextEmbedder::EmbedLabels(std::span<const std::string> labels,
                                      std::span<const std::string> templates) const {
  Check(!labels.empty() && !templates.empty(), "there is no {} to embed", labels.empty() ? "label" : "template");
  std::vector<std::string> texts;
  for (const std::string& label : labels)
    for (const std::string& text : templates) {
      Check(text.find(kLabelMark) != std::string::npos, "the template \"{}\" has no {{}} for the label", text);
      texts.push_back(WithLabel(text, label));
    }
  const auto name_of = [&](std::size_t text) { return fmt::format("\"{}\"", texts[text]); };
  const Tensor vectors = EmbedTexts(texts, {.name_of = name_of}).vectors;
  const Tensor sums = Tensor::Zeros({std::ssize(labels), dimension()});
  const std::int64_t each = std::ssize(templates);
  for (std::int64_t row = 0; row < vectors.rows(); ++row)
    for (std::int64_t i = 0; i < dimension(); ++i)
      sums.matrix<float>().row(row / each)[i] += vectors.matrix<float>().row(row)[i];
  return ops::UnitRows(sums);
}

Tensor ImageTextEmbedder::Probabilities(const Tensor& vectors, const Tensor& others) const {
  const DualEncoder& model = *state_->loaded.model;
  Context context;
  const Tensor logits = model.Logits(context, vectors, others);
  return model.limits().scores == DualEncoder::Scores::sigmoid ? ops::Sigmoid(logits) : ops::Softmax(logits);
}

bool ImageTextEmbedder::reads_texts() const { return state_->loaded.texts.has_value(); }
bool ImageTextEmbedder::reads_images() const { return state_->loaded.processor.has_value(); }
std::int64_t ImageTextEmbedder::dimension() const { return state_->loaded.model->limits().vector; }
std::int64_t ImageTextEmbedder::longest() const { return state_->loaded.model->limits().positions; }

}  // namespace headlight
