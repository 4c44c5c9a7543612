#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/data/detection.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/decoding/voc.h"
#include "headlight/models/family.h"
#include "headlight/models/imagegpt.h"
#include "headlight/recipes/color_images.h"
#include "headlight/recipes/evaluate_kinds.h"
#include "headlight/recipes/evaluation_report.h"
#include "headlight/text/printable.h"
#include "headlight/train/objectives/detection.h"
#include "headlight/train/objectives/image_generation.h"

namespace headlight {

EvaluationResult EvaluateImageGenerator(const Evaluation& options, const EvaluationObserver& observer) {
  const auto model = Loaded(observer, [&] {
    return LoadModel<ImageGpt>(options.folder, {.compute = options.load.compute, .purpose = LoadFor::computing});
  });
  const ImageProcessor processor = LoadColorProcessor(options.folder);
  const PassWatch watch = Watch(observer, "images evaluated");
  const ColorImages images =
      InColors(ReadFittedImages(options.files, processor, options.most_pixels.value_or(kMostPixels)), processor);
  const ValidationReport report = ValidateImages(*model, images, watch);
  CheckLoss(*model, report.loss);
  const double bits = report.more_scores.front().value;
  return {
      Json::Object{{"task", "image-generation"},
                   {"bits_per_pixel", bits},
                   {"loss", report.loss},
                   {"images", images.count()},
                   {"pixels", report.labels},
                   {"colors", processor.clusters.size()}},
      fmt::format("{:.4f} bits per pixel, loss {:.4f}, of {} images as the model reads them: {} x {} pixels in "
                  "{} colors\n",
                  bits, report.loss, images.count(), images.size.width, images.size.height, processor.clusters.size())};
}

EvaluationResult EvaluateDetector(const Evaluation& options, const EvaluationObserver& observer) {
  const auto model = Loaded(observer, [&] {
    return LoadModel<DetectionModel>(options.folder, {.compute = options.load.compute, .purpose = LoadFor::computing});
  });
  std::vector<std::string> labels = model->labels();
  const DetectionSet set = ReadDetectionSet(options.files, options.images, labels, NewLabels::refused, ReadVoc);
  if (set.without_area > 0)
    Note(observer,
         fmt::format("{} of {} boxes have no area: they count as objects that are not found, as in pycocotools",
                     set.without_area, set.boxes + set.without_area));
  const std::int64_t most_pixels = options.most_pixels.value_or(kMostPixels);
  const auto [report, scores] = EvaluateDetection(
      *model, LoadImageProcessor(options.folder), set,
      [=](const std::string& path) { return ReadImage(path, most_pixels); }, Watch(observer, "images evaluated"));
  const std::vector<std::pair<const char*, double>> all = {{"ap", scores.ap},
                                                           {"ap50", scores.ap50},
                                                           {"ap75", scores.ap75},
                                                           {"ap_small", scores.ap_small},
                                                           {"ap_medium", scores.ap_medium},
                                                           {"ap_large", scores.ap_large},
                                                           {"ar1", scores.ar1},
                                                           {"ar10", scores.ar10},
                                                           {"ar100", scores.ar100}};
  EvaluationResult result;
  // There is no score for a size or class without objects.
  const auto per_cent = [](double score) { return std::isnan(score) ? Json() : Json(100 * score); };
  const auto in_words = [](double score) { return std::isnan(score) ? "none" : fmt::format("{:.2f}", 100 * score); };
  result.scores = Json::Object{{"task", "detection"}};
  for (const auto& [name, score] : all) result.scores.Set(name, per_cent(score));
  result.scores.Set("loss", report.loss);
  result.scores.Set("images", set.examples.size());
  result.scores.Set("boxes", set.boxes + set.without_area);
  result.text = fmt::format(
      "AP {}, AP50 {}, AP75 {}; small {}, medium {}, large {}, of {} boxes in {} images\n"
      "AR1 {}, AR10 {}, AR100 {}\nloss {:.4f}\n",
      in_words(scores.ap), in_words(scores.ap50), in_words(scores.ap75), in_words(scores.ap_small),
      in_words(scores.ap_medium), in_words(scores.ap_large), set.boxes + set.without_area, set.examples.size(),
      in_words(scores.ar1), in_words(scores.ar10), in_words(scores.ar100), report.loss);
  Json::Array classes;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double ap = scores.class_ap[i], ap50 = scores.class_ap50[i];
    classes.push_back(Json::Object{{"label", labels[i]}, {"ap", per_cent(ap)}, {"ap50", per_cent(ap50)}});
    if (!std::isnan(ap))
      result.text += fmt::format("{}: AP {}, AP50 {}\n", InRow(labels[i]), in_words(ap), in_words(ap50));
  }
  result.scores.Set("classes", std::move(classes));
  return result;
}

}  // namespace headlight
