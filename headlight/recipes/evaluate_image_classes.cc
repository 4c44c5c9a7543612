#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/base/parallel.h"
#include "headlight/data/images.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/nn/heads.h"
#include "headlight/pipelines/encoder_folder.h"
#include "headlight/pipelines/image_embedder.h"
#include "headlight/pipelines/image_folder.h"
#include "headlight/pipelines/image_text_embedder.h"
#include "headlight/recipes/evaluate_kinds.h"
#include "headlight/recipes/evaluation_report.h"
#include "headlight/text/metrics/logit_scores.h"
#include "headlight/text/printable.h"
#include "headlight/train/feature_scores.h"
#include "headlight/train/objectives/encoder_task.h"

namespace headlight {
namespace {

constexpr std::int64_t kMostInMemory = 64;  // images that are in memory at once
constexpr std::size_t kMostPrinted = 20;  // maximum number of classes in a printed table, which must fit in a terminal
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 30;  // elements of all features (4 GiB)

using FitImage = std::function<Image(const Image& image)>;
using FittedImages = std::function<void(std::span<const Image> fitted, std::int64_t first)>;

FitImage FitBy(const ImageProcessor& processor) {
  return [&processor](const Image& image) { return processor.Fit(image); };
}

// Reads images, and calls `done` with a few images at a time, in order.
void ForEachFitted(const FitImage& fit, const std::vector<ImageSource>& sources, const Evaluation& options,
                   const EvaluationObserver& observer, const FittedImages& done) {
  constexpr const char* kProgress = "images evaluated";
  Show(observer, kProgress);
  for (std::int64_t begin = 0; begin < std::ssize(sources); begin += kMostInMemory) {
    std::vector<Image> fitted(static_cast<std::size_t>(std::min(kMostInMemory, std::ssize(sources) - begin)));
    ParallelFor(std::ssize(fitted), [&](std::int64_t i) {
      const ImageSource& source = sources[static_cast<std::size_t>(begin + i)];
      const Image image = ReadImage(source, options.most_pixels.value_or(kMostPixels));
      try {
        fitted[static_cast<std::size_t>(i)] = fit(image);
      } catch (const Error& error) {
        throw Error(source.name() + ": " + error.what(), error.cause());
      }
    });
    done(fitted, begin);
    Show(observer, kProgress, begin + std::ssize(fitted), std::ssize(sources));
  }
  Show(observer, "");
}

void ForEachEncoded(const ImageFolder& folder, const std::vector<ImageSource>& sources, const Evaluation& options,
                    const EvaluationObserver& observer, const EncodedBatch& done) {
  ForEachFitted(FitBy(folder.processor), sources, options, observer,
                [&](std::span<const Image> fitted, std::int64_t first) {
                  EncodeImages(folder, fitted, EmbedImageOptions().batch_pixels,
                               [&](Context& context, const EncodedImages& encoded, std::size_t index) {
                                 done(context, encoded, static_cast<std::size_t>(first) + index);
                               });
                });
}

void CheckNumbers(const Tensor& rows, const ImageFolder& folder, const std::vector<ImageSource>& sources,
                  std::size_t first) {
  for (std::int64_t i = 0; i < rows.rows(); ++i)
    CheckFinite(rows.ViewRows(i, 1), *folder.model, sources[first + static_cast<std::size_t>(i)].name());
}

// Returns the confusion matrix as a table with the class names on the right.
std::string Table(const std::vector<std::string>& labels, const std::vector<std::int64_t>& confusions) {
  const std::size_t width = fmt::format("{}", std::ranges::max(confusions)).size();
  std::string table = "confusion matrix (rows: true class, columns: predicted class):\n";
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (std::size_t j = 0; j < labels.size(); ++j)
      table += fmt::format("{:>{}} ", confusions[i * labels.size() + j], width);
    table += fmt::format(" {}\n", InRow(labels[i]));
  }
  return table;
}

// Throws Error for too many classes for a confusion matrix. Reports the images to the observer before they are read.
void CheckImages(const Evaluation& options, const EvaluationObserver& observer, const std::vector<std::string>& labels,
                 const std::vector<ImageSource>& images) {
  Check(!options.confusion || labels.size() <= LogitScores::kMostConfused,
        "`confusion`: {}: {} classes; a confusion matrix has at most {}", options.folder, labels.size(),
        LogitScores::kMostConfused);
  if (observer.images) observer.images(images);
}

EvaluationResult ResultOfClasses(const std::vector<std::string>& labels, const LogitScores& scores) {
  ValidationReport report;
  report.score_name = "accuracy";
  report.score = 100 * scores.classes().accuracy();
  report.more_scores = {{"macro_f1", 100 * scores.classes().macro_f1()}};
  if (labels.size() > 5) report.more_scores.push_back({"top5_accuracy", 100 * scores.top5_accuracy()});
  report.loss = scores.loss();
  report.labels = scores.classes().count();
  report.classes = ClassesOf(labels, scores.classes());
  const std::vector<std::int64_t>& confusions = scores.confusions();
  Evaluated evaluated{"image-classification", std::move(report), "images",
                      static_cast<std::size_t>(scores.classes().count()), "images"};
  if (!confusions.empty()) {
    if (labels.size() <= kMostPrinted) evaluated.lines = Table(labels, confusions);
    Json::Array rows;
    for (auto row = confusions.begin(); row != confusions.end(); row += std::ssize(labels))
      rows.push_back(std::vector<std::int64_t>(row, row + std::ssize(labels)));
    evaluated.members = {{"confusions", std::move(rows)}};
  }
  EvaluationResult result = ResultOf(evaluated);
  result.labels = labels;
  result.confusions = confusions;
  return result;
}

EvaluationResult EvaluateClasses(const Evaluation& options, const EvaluationObserver& observer) {
  const ImageFolder folder = Loaded(observer, [&] { return LoadImageFolder(options.folder, options.load); });
  Check(folder.model->heads().classes,
        "{}: the model has no head for classes of images; `knn` or `linear_probe`, with `train`, evaluate its features",
        options.folder);
  std::vector<std::string> labels = folder.model->labels();
  Check(ReadProblem(ReadJson(options.folder + "/config.json"), labels.size()) == Problem::one_label,
        "{}: a multi-label classifier or a regression; only classifiers with one class per image can be evaluated",
        options.folder);
  const ImageList images = ListLabeledImages(options.files, labels, NewLabels::refused_but_numbers);
  CheckImages(options, observer, labels, images.sources);
  LogitScores scores(labels.size());
  ForEachEncoded(folder, images.sources, options, observer,
                 [&](Context& context, const EncodedImages& encoded, std::size_t first) {
                   const Tensor logits = folder.model->ClassLogits(context, encoded);
                   CheckNumbers(logits, folder, images.sources, first);
                   for (std::int64_t i = 0; i < logits.rows(); ++i)
                     scores.Add(images.labels[first + static_cast<std::size_t>(i)],
                                {logits.matrix<float>().row(i), labels.size()});
                 });

  return ResultOfClasses(labels, scores);
}

// Returns the features, one row per image: the encoder's vectors or the preprocessed pixels.
Tensor FeaturesOf(const ImageFolder& folder, const std::vector<ImageSource>& sources, const Evaluation& options,
                  const EvaluationObserver& observer) {
  Tensor features;
  const auto add = [&](const Tensor& rows, std::size_t first) {
    if (features.empty()) {
      Check(std::ssize(sources) <= kMostNumbers / rows.columns(),
            "{} images with features of {} numbers: no more than {} numbers are held in memory", sources.size(),
            rows.columns(), kMostNumbers);
      features = Tensor::Empty({std::ssize(sources), rows.columns()});
    }
    Check(rows.columns() == features.columns(),
          "`pixels`: {}: the model's preprocessor_config.json gives images of different sizes", sources[first].name());
    features.ViewRows(static_cast<std::int64_t>(first), rows.rows()).CopyFrom(rows);
  };
  if (options.pixels) {
    ForEachFitted(FitBy(folder.processor), sources, options, observer,
                  [&](std::span<const Image> fitted, std::int64_t first) {
                    for (std::size_t i = 0; i < fitted.size(); ++i) {
                      const Tensor values = folder.processor.Values(fitted[i]);
                      add(values.ViewAs({1, values.elements()}), static_cast<std::size_t>(first) + i);
                    }
                  });
    return features;
  }
  ForEachEncoded(folder, sources, options, observer, [&](Context&, const EncodedImages& encoded, std::size_t first) {
    const Tensor vectors = folder.model->Features(encoded);
    CheckNumbers(vectors, folder, sources, first);
    add(vectors, first);
  });
  return features;
}

double Accuracy(const std::vector<std::int32_t>& found, const std::vector<std::int32_t>& right) {
  std::int64_t same = 0;
  for (std::size_t i = 0; i < right.size(); ++i) same += found[i] == right[i] ? 1 : 0;
  return 100.0 * static_cast<double>(same) / static_cast<double>(right.size());
}

EvaluationResult EvaluateFeatures(const Evaluation& options, const EvaluationObserver& observer) {
  std::vector<std::string> labels;
  const ImageList known = ListLabeledImages(options.train, labels, NewLabels::added);
  const ImageList asked = ListLabeledImages(options.files, labels, NewLabels::refused);
  const std::int64_t neighbors = options.knn.value_or(1);
  Check(neighbors >= 1 && neighbors <= std::ssize(known.sources), "`knn` {}: `train` has {} images", neighbors,
        known.sources.size());
  Check(!options.linear_probe || labels.size() > 1, "`linear_probe`: all images of `train` have the same class");
  const ImageFolder folder = Loaded(observer, [&] { return LoadImageFolder(options.folder, options.load); });
  const LabeledFeatures learned{FeaturesOf(folder, known.sources, options, observer), known.labels};
  const Tensor vectors = FeaturesOf(folder, asked.sources, options, observer);
  Check(vectors.columns() == learned.vectors.columns(),
        "`pixels`: the model's preprocessor_config.json gives images of different sizes");
  const std::string of = fmt::format("of {} images; {} labeled images, {} {} each", asked.sources.size(),
                                     known.sources.size(), vectors.columns(), options.pixels ? "pixels" : "features");
  EvaluationResult result{Json::Object{{"task", "image-features"}}, ""};
  Show(observer, "comparing features");
  if (options.knn) {
    const double accuracy = Accuracy(NeighborClasses(learned, vectors, neighbors), asked.labels);
    result.text += fmt::format("{} nearest neighbors: accuracy {:.2f} {}\n", neighbors, accuracy, of);
    result.scores.Set("knn", neighbors);
    result.scores.Set("knn_accuracy", accuracy);
  }
  if (options.linear_probe) {
    const LinearProbe probe(learned);
    if (!probe.converged())
      Note(observer, "warning: `linear_probe`: the logistic regression did not reach its minimum");
    const double accuracy = Accuracy(probe.Classes(vectors), asked.labels);
    result.text += fmt::format("linear probe: accuracy {:.2f} {}\n", accuracy, of);
    result.scores.Set("linear_probe_accuracy", accuracy);
  }
  result.scores.Set("images", asked.sources.size());
  result.scores.Set("train_images", known.sources.size());
  result.scores.Set(options.pixels ? "pixels" : "features", vectors.columns());
  return result;
}

}  // namespace

EvaluationResult EvaluateImageEncoder(const Evaluation& options, const EvaluationObserver& observer) {
  const bool features = options.knn.has_value() || options.linear_probe;
  Check(!features || !options.train.empty(), "`knn` and `linear_probe` need `train`, the labeled images to train on");
  Check(features || (options.train.empty() && !options.pixels),
        "`train` and `pixels` are for `knn` and `linear_probe`");
  Check(!features || !options.confusion, "`confusion` is for the model's own classes, not for its features");
  return features ? EvaluateFeatures(options, observer) : EvaluateClasses(options, observer);
}

EvaluationResult EvaluateZeroShot(const Evaluation& options, const EvaluationObserver& observer) {
  std::vector<std::string> labels;
  const ImageList images = ListLabeledImages(options.files, labels, NewLabels::added);
  CheckImages(options, observer, labels, images.sources);
  const ImageTextEmbedder embedder =
      Loaded(observer, [&] { return ImageTextEmbedder::Load(options.folder, options.load); });
  Check(embedder.reads_texts() && embedder.reads_images(), "{}: a model with one tower cannot classify images",
        options.folder);
  const std::vector<std::string> plain = {"{}"};
  const Tensor classes = embedder.EmbedLabels(labels, options.templates.empty() ? plain : options.templates);
  LogitScores scores(labels.size());
  ForEachFitted(
      [&](const Image& image) { return embedder.Fit(image); }, images.sources, options, observer,
      [&](std::span<const Image> fitted, std::int64_t first) {
        const auto name = [&](std::size_t i) { return images.sources[static_cast<std::size_t>(first) + i].name(); };
        Tensor logits = embedder.Probabilities(embedder.EmbedFitted(fitted, {.name_of = name}).vectors, classes);
        for (float& value : logits.span<float>()) value = std::log(value);
        for (std::int64_t i = 0; i < logits.rows(); ++i)
          scores.Add(images.labels[static_cast<std::size_t>(first + i)],
                     {logits.matrix<float>().row(i), labels.size()});
      });
  return ResultOfClasses(labels, scores);
}

}  // namespace headlight
