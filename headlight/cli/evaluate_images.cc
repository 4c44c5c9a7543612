#include "headlight/cli/evaluate_images.h"

#include <memory>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/cli/colour_pictures.h"
#include "headlight/cli/output.h"
#include "headlight/cli/progress.h"
#include "headlight/models/family.h"
#include "headlight/models/imagegpt.h"
#include "headlight/train/tasks/image_generation.h"

namespace headlight {

void EvaluateImageGenerator(const EvaluateOptions& options) {
  const auto model =
      LoadModel<ImageGpt>(options.folder, {.compute = options.load.compute, .purpose = LoadFor::computing});
  const PictureProcessor processor = LoadColourProcessor(options.folder);
  Progress progress("pictures evaluated");
  const ColourPictures pictures = InColours(ReadFittedPictures(options.files, processor), processor);
  const PassWatch watch({}, [&](std::int64_t done, std::int64_t all) { progress.Show(done, all); });
  const ValidationReport report = ValidatePictures(*model, pictures, watch);
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

}  // namespace headlight
