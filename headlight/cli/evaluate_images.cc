#include "headlight/cli/evaluate_images.h"

#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/cli/colour_pictures.h"
#include "headlight/cli/output.h"
#include "headlight/cli/picture_batches.h"
#include "headlight/cli/progress.h"
#include "headlight/data/detection.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/decoding/voc.h"
#include "headlight/models/family.h"
#include "headlight/models/imagegpt.h"
#include "headlight/train/tasks/detection.h"
#include "headlight/train/tasks/image_generation.h"

namespace headlight {

void EvaluateImageGenerator(const EvaluateOptions& options) {
  const auto model = Loaded([&] {
    return LoadModel<ImageGpt>(options.folder, {.compute = options.load.compute, .purpose = LoadFor::computing});
  });
  const PictureProcessor processor = LoadColourProcessor(options.folder);
  Progress progress("pictures evaluated");
  const ColourPictures pictures = InColours(ReadFittedPictures(options.files, processor), processor);
  const PassWatch watch({}, [&](std::int64_t done, std::int64_t all) { progress.Show(done, all); });
  const ValidationReport report = ValidatePictures(*model, pictures, watch);
  CheckLoss(*model, report.loss);
  const double bits = report.more_scores.front().value;
  if (options.json)
    return WriteResult(Json(Json::Object{{"task", "image-generation"},
                                         {"bits_per_pixel", bits},
                                         {"loss", report.loss},
                                         {"pictures", pictures.count()},
                                         {"pixels", report.labels},
                                         {"colours", processor.clusters.size()}})
                           .Line() +
                       "\n");
  WriteResult(fmt::format(
      "{:.4f} bits per pixel, loss {:.4f}, of {} pictures as the model reads them: {} x {} pixels in "
      "{} colours\n",
      bits, report.loss, pictures.count(), pictures.size.width, pictures.size.height, processor.clusters.size()));
}

void EvaluateDetector(const EvaluateOptions& options) {
  const auto model = Loaded([&] {
    return LoadModel<ObjectDetector>(options.folder, {.compute = options.load.compute, .purpose = LoadFor::computing});
  });
  std::vector<std::string> labels = model->labels();
  const DetectionSet set = ReadDetectionSet(options.files, options.pictures, labels, NewLabels::refused, ReadVoc);
  if (set.without_area > 0)
    Note("{} of {} boxes have no area: they count as objects that are not found, as in pycocotools", set.without_area,
         set.boxes + set.without_area);
  Progress progress("pictures evaluated");
  const PassWatch watch({}, [&](std::int64_t done, std::int64_t all) { progress.Show(done, all); });
  const auto [report, scores] = EvaluateDetection(
      *model, LoadPictureProcessor(options.folder), set,
      [](const std::string& path) { return ReadPicture(path, MostPixels()); }, watch);
  const std::vector<std::pair<const char*, double>> all = {{"ap", scores.ap},
                                                           {"ap50", scores.ap50},
                                                           {"ap75", scores.ap75},
                                                           {"ap_small", scores.ap_small},
                                                           {"ap_medium", scores.ap_medium},
                                                           {"ap_large", scores.ap_large},
                                                           {"ar1", scores.ar1},
                                                           {"ar10", scores.ar10},
                                                           {"ar100", scores.ar100}};
  if (options.json) {
    // Without an object of a size or class there is no such score.
    const auto per_cent = [](double score) { return std::isnan(score) ? Json() : Json(100 * score); };
    Json object = Json::Object{{"task", "detection"}};
    for (const auto& [name, score] : all) object.Set(name, per_cent(score));
    object.Set("loss", report.loss);
    object.Set("pictures", set.examples.size());
    object.Set("boxes", set.boxes + set.without_area);
    Json::Array classes;
    for (std::size_t i = 0; i < labels.size(); ++i)
      classes.push_back(Json::Object{
          {"label", labels[i]}, {"ap", per_cent(scores.class_ap[i])}, {"ap50", per_cent(scores.class_ap50[i])}});
    object.Set("classes", std::move(classes));
    return WriteResult(object.Line() + "\n");
  }
  const auto in_words = [](double score) { return std::isnan(score) ? "none" : fmt::format("{:.2f}", 100 * score); };
  WriteResult(fmt::format(
      "AP {}, AP50 {}, AP75 {}; small {}, medium {}, large {}, of {} boxes in {} pictures\n"
      "AR1 {}, AR10 {}, AR100 {}\nloss {:.4f}\n",
      in_words(scores.ap), in_words(scores.ap50), in_words(scores.ap75), in_words(scores.ap_small),
      in_words(scores.ap_medium), in_words(scores.ap_large), set.boxes + set.without_area, set.examples.size(),
      in_words(scores.ar1), in_words(scores.ar10), in_words(scores.ar100), report.loss));
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (!std::isnan(scores.class_ap[i]))
      WriteResult(fmt::format("{}: AP {}, AP50 {}\n", InRow(labels[i]), in_words(scores.class_ap[i]),
                              in_words(scores.class_ap50[i])));
}

}  // namespace headlight
