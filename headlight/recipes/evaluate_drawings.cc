#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/data/picture_texts.h"
#include "headlight/kinds/drawing_model.h"
#include "headlight/kinds/picture_coder.h"
#include "headlight/models/family.h"
#include "headlight/recipes/evaluate_kinds.h"
#include "headlight/recipes/evaluation_report.h"
#include "headlight/tasks/drawer.h"
#include "headlight/tasks/drawer_text.h"
#include "headlight/train/tasks/picture_codes.h"
#include "headlight/train/tasks/text_to_picture.h"

namespace headlight {

EvaluationResult EvaluateDrawer(const Evaluation& options, const EvaluationObserver& observer) {
  const Drawer drawer = Loaded(observer, [&] { return Drawer::Load(options.folder, options.load); });
  const DrawingModel& model = drawer.model();
  const PictureTextSet pairs(ListPictureTexts(options.files, options.pictures), DecoderOf(options));
  DrawnTexts drawn = {.cells = model.drawing().grid.cells()};
  Show(observer, "pictures in codes");
  for (std::int64_t i = 0; i < pairs.size(); ++i) {
    const std::vector<std::int32_t> codes = drawer.Encode(pairs[i]);
    drawn.codes.insert(drawn.codes.end(), codes.begin(), codes.end());
    drawn.texts.push_back(
        {DrawingIds(drawer.tokenizer(), pairs.texts(i).front(), model.drawing().text_positions, pairs.name(i))});
    Show(observer, "pictures in codes", i + 1, pairs.size());
  }
  const ValidationReport report = ValidateTextToPicture(model, drawn, Watch(observer, "pictures evaluated"));
  CheckLoss(model, report.loss);
  const double of_text = report.more_scores[0].value, of_picture = report.more_scores[1].value;
  const double bits = of_picture / std::numbers::ln2;
  return {
      Json::Object{{"task", "text-to-picture"},
                   {"bits_per_code", bits},
                   {"loss", report.loss},
                   {"text_loss", of_text},
                   {"picture_loss", of_picture},
                   {"pictures", drawn.count()},
                   {"cells", drawn.cells},
                   {"codes", model.drawing().codes}},
      fmt::format("{:.4f} bits per code, loss {:.4f} (text {:.4f}, picture {:.4f}), of {} pictures in {} of {} codes\n",
                  bits, report.loss, of_text, of_picture, drawn.count(), drawn.cells, model.drawing().codes)};
}

EvaluationResult EvaluateImageCoder(const Evaluation& options, const EvaluationObserver& observer) {
  const std::unique_ptr<PictureCoder> model = Loaded(observer, [&] {
    return LoadModel<PictureCoder>(options.folder, {.compute = options.load.compute, .purpose = LoadFor::computing});
  });
  const PictureSet pictures({.sources = ListUnlabelledPictures(options.files), .labels = {}}, DecoderOf(options));
  ValidationReport report = ValidatePictureCodes(*model, pictures, Watch(observer, "pictures evaluated"));
  CheckLoss(*model, report.loss);
  CheckLoss(*model, report.score);
  for (const auto& [name, value] : report.more_scores) CheckLoss(*model, value);
  return ResultOf({.task = "picture-codes",
                   .report = std::move(report),
                   .units = "pictures",
                   .count = static_cast<std::size_t>(pictures.size()),
                   .labels = "pictures",
                   .members = {{"codes", model->limits().codes}}});
}

}  // namespace headlight
