#include "headlight/cli/evaluate_drawings.h"

#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/cli/evaluate_report.h"
#include "headlight/cli/output.h"
#include "headlight/cli/picture_batches.h"
#include "headlight/cli/progress.h"
#include "headlight/data/picture_texts.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/kinds/drawing_model.h"
#include "headlight/kinds/picture_coder.h"
#include "headlight/models/family.h"
#include "headlight/tasks/drawer.h"
#include "headlight/tasks/drawer_text.h"
#include "headlight/train/tasks/picture_codes.h"
#include "headlight/train/tasks/text_to_picture.h"

namespace headlight {
namespace {

Picture Decode(std::span<const std::byte> file, const std::string& name) {
  return DecodePicture(file, name, MostPixels());
}

}  // namespace

void EvaluateDrawer(const EvaluateOptions& options) {
  const Drawer drawer = Loaded([&] { return Drawer::Load(options.folder, options.load); });
  const DrawingModel& model = drawer.model();
  const PictureTextSet pairs(ListPictureTexts(options.files, options.pictures), Decode);
  DrawnTexts drawn = {.cells = model.drawing().grid.cells()};
  {
    Progress progress("pictures in codes");
    for (std::int64_t i = 0; i < pairs.size(); ++i) {
      const std::vector<std::int32_t> codes = drawer.Encode(pairs[i]);
      drawn.codes.insert(drawn.codes.end(), codes.begin(), codes.end());
      drawn.texts.push_back(
          {DrawingIds(drawer.tokenizer(), pairs.texts(i).front(), model.drawing().text_positions, pairs.name(i))});
      progress.Show(i + 1, pairs.size());
    }
  }
  ValidationReport report;
  {
    Progress progress("pictures evaluated");
    report = ValidateTextToPicture(model, drawn,
                                   {{}, [&](std::int64_t done, std::int64_t all) { progress.Show(done, all); }});
  }
  CheckLoss(model, report.loss);
  const double of_text = report.more_scores[0].value, of_picture = report.more_scores[1].value;
  const double bits = of_picture / std::numbers::ln2;
  if (options.json)
    return WriteResult(Json(Json::Object{{"task", "text-to-picture"},
                                         {"bits_per_code", bits},
                                         {"loss", report.loss},
                                         {"text_loss", of_text},
                                         {"picture_loss", of_picture},
                                         {"pictures", drawn.count()},
                                         {"cells", drawn.cells},
                                         {"codes", model.drawing().codes}})
                           .Line() +
                       "\n");
  WriteResult(
      fmt::format("{:.4f} bits per code, loss {:.4f} (text {:.4f}, picture {:.4f}), of {} pictures in {} of {} codes\n",
                  bits, report.loss, of_text, of_picture, drawn.count(), drawn.cells, model.drawing().codes));
}

void EvaluatePictureCoder(const EvaluateOptions& options) {
  const std::unique_ptr<PictureCoder> model = Loaded([&] {
    return LoadModel<PictureCoder>(options.folder, {.compute = options.load.compute, .purpose = LoadFor::computing});
  });
  const PictureSet pictures({.sources = ListUnlabelledPictures(options.files), .labels = {}}, Decode);
  ValidationReport report;
  {
    Progress progress("pictures evaluated");
    report = ValidatePictureCodes(*model, pictures,
                                  {{}, [&](std::int64_t done, std::int64_t all) { progress.Show(done, all); }});
  }
  CheckLoss(*model, report.loss);
  CheckLoss(*model, report.score);
  for (const auto& [name, value] : report.more_scores) CheckLoss(*model, value);
  WriteEvaluated({.task = "picture-codes",
                  .report = std::move(report),
                  .units = "pictures",
                  .count = static_cast<std::size_t>(pictures.size()),
                  .labels = "pictures",
                  .members = {{"codes", model->limits().codes}}},
                 options.json);
}

}  // namespace headlight
