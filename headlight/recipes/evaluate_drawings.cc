#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/data/image_texts.h"
#include "headlight/kinds/image_coder.h"
#include "headlight/kinds/text_to_image_model.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/text_to_image.h"
#include "headlight/pipelines/text_to_image_prompt.h"
#include "headlight/recipes/evaluate_kinds.h"
#include "headlight/recipes/evaluation_report.h"
#include "headlight/train/objectives/image_codes.h"
#include "headlight/train/objectives/text_to_image.h"

namespace headlight {

EvaluationResult EvaluateDrawer(const Evaluation& options, const EvaluationObserver& observer) {
  const TextToImage drawer = Loaded(observer, [&] { return TextToImage::Load(options.folder, options.load); });
  const TextToImageModel& model = drawer.model();
  const ImageTextSet pairs(ListImageTexts(options.files, options.images), DecoderOf(options));
  ImageCodesWithTexts drawn = {.cells = model.drawing().grid.cells()};
  Show(observer, "images in codes");
  for (std::int64_t i = 0; i < pairs.size(); ++i) {
    const std::vector<std::int32_t> codes = drawer.Encode(pairs[i]);
    drawn.codes.insert(drawn.codes.end(), codes.begin(), codes.end());
    drawn.texts.push_back(
        {DrawingIds(drawer.tokenizer(), pairs.texts(i).front(), model.drawing().text_positions, pairs.name(i))});
    Show(observer, "images in codes", i + 1, pairs.size());
  }
  const ValidationReport report = ValidateTextToImage(model, drawn, Watch(observer, "images evaluated"));
  CheckLoss(model, report.loss);
  const double of_text = report.more_scores[0].value, of_image = report.more_scores[1].value;
  const double bits = of_image / std::numbers::ln2;
  return {Json::Object{{"task", "text-to-image"},
                       {"bits_per_code", bits},
                       {"loss", report.loss},
                       {"text_loss", of_text},
                       {"image_loss", of_image},
                       {"images", drawn.count()},
                       {"cells", drawn.cells},
                       {"codes", model.drawing().codes}},
          fmt::format("{:.4f} bits per code, loss {:.4f} (text {:.4f}, image {:.4f}), of {} images in {} of {} codes\n",
                      bits, report.loss, of_text, of_image, drawn.count(), drawn.cells, model.drawing().codes)};
}

EvaluationResult EvaluateImageCoder(const Evaluation& options, const EvaluationObserver& observer) {
  const std::unique_ptr<ImageCoder> model = Loaded(observer, [&] {
    return LoadModel<ImageCoder>(options.folder, {.compute = options.load.compute, .purpose = LoadFor::computing});
  });
  const ImageSet images({.sources = ListUnlabeledImages(options.files), .labels = {}}, DecoderOf(options));
  ValidationReport report = ValidateImageCodes(*model, images, Watch(observer, "images evaluated"));
  CheckLoss(*model, report.loss);
  CheckLoss(*model, report.score);
  for (const auto& [name, value] : report.more_scores) CheckLoss(*model, value);
  return ResultOf({.task = "image-codes",
                   .report = std::move(report),
                   .units = "images",
                   .count = static_cast<std::size_t>(images.size()),
                   .labels = "images",
                   .members = {{"codes", model->limits().codes}}});
}

}  // namespace headlight
