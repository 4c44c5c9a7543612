#include "headlight/cli/evaluate_pictures.h"

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
#include "headlight/cli/evaluate_report.h"
#include "headlight/cli/output.h"
#include "headlight/cli/picture_batches.h"
#include "headlight/cli/progress.h"
#include "headlight/data/pictures.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/inspect/drawing/confusion_drawing.h"
#include "headlight/nn/heads.h"
#include "headlight/tasks/dual_embedder.h"
#include "headlight/tasks/encoder_folder.h"
#include "headlight/tasks/image_classifier.h"
#include "headlight/tasks/picture_folder.h"
#include "headlight/text/metrics/logit_scores.h"
#include "headlight/train/feature_scores.h"
#include "headlight/train/tasks/encoder_task.h"

namespace headlight {
namespace {

constexpr std::int64_t kMostInMemory = 64;                    // pictures that are in memory at once
constexpr std::size_t kMostPrinted = 20;                      // classes: a wider table does not fit a terminal
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 30;  // of all features: 4 GiB

using FittedPictures = std::function<void(std::span<const Picture> fitted, std::int64_t first)>;

FitPicture FitBy(const PictureProcessor& processor) {
  return [&processor](const Picture& picture) { return processor.Fit(picture); };
}

// Reads pictures and calls `done` with some of them at a time, in their order.
void ForEachFitted(const FitPicture& fit, const std::vector<PictureSource>& sources, const FittedPictures& done) {
  Progress progress("pictures evaluated");
  for (std::int64_t begin = 0; begin < std::ssize(sources); begin += kMostInMemory) {
    std::vector<Picture> fitted(static_cast<std::size_t>(std::min(kMostInMemory, std::ssize(sources) - begin)));
    ParallelFor(std::ssize(fitted), [&](std::int64_t i) {
      const PictureSource& source = sources[static_cast<std::size_t>(begin + i)];
      const Picture picture = ReadPicture(source, MostPixels());
      try {
        fitted[static_cast<std::size_t>(i)] = fit(picture);
      } catch (const Error& error) {
        throw Error(source.name() + ": " + error.what(), error.blame());
      }
    });
    done(fitted, begin);
    progress.Show(begin + std::ssize(fitted), std::ssize(sources));
  }
}

void ForEachEncoded(const PictureFolder& folder, const std::vector<PictureSource>& sources, const EncodedBatch& done) {
  ForEachFitted(FitBy(folder.processor), sources, [&](std::span<const Picture> fitted, std::int64_t first) {
    EncodePictures(folder, fitted, ImageOptions().batch_pixels,
                   [&](Context& context, const EncodedPictures& encoded, std::size_t place) {
                     done(context, encoded, static_cast<std::size_t>(first) + place);
                   });
  });
}

void CheckNumbers(const Tensor& rows, const PictureFolder& folder, const std::vector<PictureSource>& sources,
                  std::size_t first) {
  for (std::int64_t i = 0; i < rows.rows(); ++i)
    CheckFinite(rows.ViewRows(i, 1), *folder.model, sources[first + static_cast<std::size_t>(i)].name());
}

// As a table with the names at the right.
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

// Before anything is read.
void CheckConfusions(const EvaluateOptions& options) {
  std::vector<std::string> inputs = options.files;
  inputs.push_back(options.folder);
  CheckOutputs({{"--confusion", options.confusions}}, inputs);
  if (options.confusions.empty()) return;
  CheckPicturePath(options.confusions);
  CheckWritable(options.confusions);
}

// Where the classes are known, and the pictures.
void CheckConfusions(const EvaluateOptions& options, const std::vector<std::string>& labels,
                     const std::vector<PictureSource>& pictures) {
  Check(options.confusions.empty() || labels.size() <= LogitScores::kMostConfused,
        "--confusion: {}: {} classes; a confusion matrix has at most {}", options.folder, labels.size(),
        LogitScores::kMostConfused);
  CheckNoPicture("--confusion", options.confusions, pictures);
}

void WriteClasses(const EvaluateOptions& options, const std::vector<std::string>& labels, const LogitScores& scores) {
  ValidationReport report;
  report.score_name = "accuracy";
  report.score = 100 * scores.classes().accuracy();
  report.more_scores = {{"macro_f1", 100 * scores.classes().macro_f1()}};
  if (labels.size() > 5) report.more_scores.push_back({"top5_accuracy", 100 * scores.top5_accuracy()});
  report.loss = scores.loss();
  report.labels = scores.classes().count();
  report.classes = ClassesOf(labels, scores.classes());
  const std::vector<std::int64_t>& confusions = scores.confusions();
  Evaluated evaluated{"image-classification", std::move(report), "pictures",
                      static_cast<std::size_t>(scores.classes().count()), "pictures"};
  if (!confusions.empty()) {
    if (labels.size() <= kMostPrinted) evaluated.lines = Table(labels, confusions);
    Json::Array rows;
    for (auto row = confusions.begin(); row != confusions.end(); row += std::ssize(labels))
      rows.push_back(std::vector<std::int64_t>(row, row + std::ssize(labels)));
    evaluated.members = {{"confusions", std::move(rows)}};
  }
  if (!options.confusions.empty()) DrawConfusions({options.folder, labels, confusions}, options.confusions);
  WriteEvaluated(evaluated, options.json);
}

void EvaluateClasses(const EvaluateOptions& options) {
  const PictureFolder folder = Loaded([&] { return LoadPictureFolder(options.folder, options.load); });
  Check(
      folder.model->heads().classes,
      "{}: the model has no head for classes of pictures; --knn or --linear-probe, with --train, evaluate its features",
      options.folder);
  std::vector<std::string> labels = folder.model->labels();
  Check(ReadProblem(ReadJson(options.folder + "/config.json"), labels.size()) == Problem::one_label,
        "{}: a multi-label classifier or a regression; only classifiers with one class per picture can be evaluated",
        options.folder);
  const PictureList pictures = ListLabelledPictures(options.files, labels, NewLabels::refused_but_numbers);
  CheckConfusions(options, labels, pictures.sources);
  LogitScores scores(labels.size());
  ForEachEncoded(folder, pictures.sources, [&](Context& context, const EncodedPictures& encoded, std::size_t first) {
    const Tensor logits = folder.model->ClassLogits(context, encoded);
    CheckNumbers(logits, folder, pictures.sources, first);
    for (std::int64_t i = 0; i < logits.rows(); ++i)
      scores.Add(pictures.labels[first + static_cast<std::size_t>(i)], {logits.matrix<float>().row(i), labels.size()});
  });

  WriteClasses(options, labels, scores);
}

// A row for each picture: the encoder's vector, or its pixels as the model reads them.
Tensor Features(const PictureFolder& folder, const std::vector<PictureSource>& sources, bool pixels) {
  Tensor features;
  const auto add = [&](const Tensor& rows, std::size_t first) {
    if (features.empty()) {
      Check(std::ssize(sources) <= kMostNumbers / rows.columns(),
            "{} pictures with features of {} numbers: no more than {} numbers are held in memory", sources.size(),
            rows.columns(), kMostNumbers);
      features = Tensor::Empty({std::ssize(sources), rows.columns()});
    }
    Check(rows.columns() == features.columns(),
          "--pixels: {}: the model's preprocessor_config.json gives pictures of different sizes",
          sources[first].name());
    features.ViewRows(static_cast<std::int64_t>(first), rows.rows()).CopyFrom(rows);
  };
  if (pixels) {
    ForEachFitted(FitBy(folder.processor), sources, [&](std::span<const Picture> fitted, std::int64_t first) {
      for (std::size_t i = 0; i < fitted.size(); ++i) {
        const Tensor values = folder.processor.Values(fitted[i]);
        add(values.ViewAs({1, values.elements()}), static_cast<std::size_t>(first) + i);
      }
    });
    return features;
  }
  ForEachEncoded(folder, sources, [&](Context&, const EncodedPictures& encoded, std::size_t first) {
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

void EvaluateFeatures(const EvaluateOptions& options) {
  std::vector<std::string> labels;
  const PictureList known = ListLabelledPictures(options.train, labels, NewLabels::added);
  const PictureList asked = ListLabelledPictures(options.files, labels, NewLabels::refused);
  Check(options.neighbours <= std::ssize(known.sources), "--knn {}: --train has {} pictures", options.neighbours,
        known.sources.size());
  Check(!options.linear_probe || labels.size() > 1, "--linear-probe: all pictures of --train have the same class");
  const PictureFolder folder = Loaded([&] { return LoadPictureFolder(options.folder, options.load); });
  const LabelledFeatures learned{Features(folder, known.sources, options.pixels), known.labels};
  const Tensor vectors = Features(folder, asked.sources, options.pixels);
  Check(vectors.columns() == learned.vectors.columns(),
        "--pixels: the model's preprocessor_config.json gives pictures of different sizes");
  const std::string of = fmt::format("of {} pictures; {} pictures in --train, {} {} each", asked.sources.size(),
                                     known.sources.size(), vectors.columns(), options.pixels ? "pixels" : "features");
  Json json = Json::Object{{"task", "picture-features"}};
  std::string lines;
  const Progress progress("comparing features");
  if (options.neighbours > 0) {
    const double accuracy = Accuracy(NeighbourClasses(learned, vectors, options.neighbours), asked.labels);
    lines += fmt::format("{} nearest neighbours: accuracy {:.2f} {}\n", options.neighbours, accuracy, of);
    json.Set("knn", options.neighbours);
    json.Set("knn_accuracy", accuracy);
  }
  if (options.linear_probe) {
    const LinearProbe probe(learned);
    if (!probe.converged()) Note("warning: --linear-probe: the logistic regression did not reach its minimum");
    const double accuracy = Accuracy(probe.Classes(vectors), asked.labels);
    lines += fmt::format("linear probe: accuracy {:.2f} {}\n", accuracy, of);
    json.Set("linear_probe_accuracy", accuracy);
  }
  json.Set("pictures", asked.sources.size());
  json.Set("train_pictures", known.sources.size());
  json.Set(options.pixels ? "pixels" : "features", vectors.columns());
  WriteResult(options.json ? json.Line() + "\n" : lines);
}

}  // namespace

void EvaluatePictureEncoder(const EvaluateOptions& options) {
  const bool features = options.neighbours > 0 || options.linear_probe;
  Check(!features || !options.train.empty(),
        "--knn and --linear-probe need --train, the labelled pictures to learn from");
  Check(features || (options.train.empty() && !options.pixels),
        "--train and --pixels are for --knn and --linear-probe");
  Check(!features || options.confusions.empty(), "--confusion is for the model's own classes, not for its features");
  CheckConfusions(options);
  return features ? EvaluateFeatures(options) : EvaluateClasses(options);
}

void EvaluateZeroShot(const EvaluateOptions& options) {
  CheckConfusions(options);
  std::vector<std::string> labels;
  const PictureList pictures = ListLabelledPictures(options.files, labels, NewLabels::added);
  CheckConfusions(options, labels, pictures.sources);
  const DualEmbedder embedder = Loaded([&] { return DualEmbedder::Load(options.folder, options.load); });
  Check(embedder.reads_texts() && embedder.reads_pictures(),
        "{}: a model of one tower cannot tell which class a picture has", options.folder);
  const std::vector<std::string> plain = {"{}"};
  const Tensor classes = embedder.EmbedLabels(labels, options.templates.empty() ? plain : options.templates);
  LogitScores scores(labels.size());
  ForEachFitted([&](const Picture& picture) { return embedder.Fit(picture); }, pictures.sources,
                [&](std::span<const Picture> fitted, std::int64_t first) {
                  const auto name = [&](std::size_t i) {
                    return pictures.sources[static_cast<std::size_t>(first) + i].name();
                  };
                  Tensor logits = embedder.Probabilities(embedder.EmbedFitted(fitted, {.name_of = name}), classes);
                  for (float& value : logits.span<float>()) value = std::log(value);
                  for (std::int64_t i = 0; i < logits.rows(); ++i)
                    scores.Add(pictures.labels[static_cast<std::size_t>(first + i)],
                               {logits.matrix<float>().row(i), labels.size()});
                });
  WriteClasses(options, labels, scores);
}

}  // namespace headlight
