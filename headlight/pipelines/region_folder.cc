#include "headlight/pipelines/region_folder.h"

#include <cmath>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/encoder_folder.h"
#include "headlight/pipelines/image_folder.h"
#include "headlight/pipelines/tokenizer_fit.h"

namespace headlight {

std::int64_t RegionSideOf(const RegionTextEncoder& model) {
  const std::int64_t features = model.limits().features;
  const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(features) / 3)));
  const std::int64_t numbers = model.limits().box_numbers;
  Check(model.limits().patch.cells() == 0, "{}: the model reads whole images, and no regions",
        model.parameters().source());
  Check(3 * side * side == features && (numbers == 0 || numbers == 4 || numbers == 5),
        "{}: the model reads {} features of a region, which are no pixels of a square with three channels; regions of "
        "another detector are only read by `forward`",
        model.parameters().source(), features);
  return side;
}

RegionFolder LoadRegionFolder(const std::string& folder, const LoadOptions& options) {
  CheckImageOptions(folder, options);
  std::unique_ptr<const RegionTextEncoder> model =
      LoadModel<RegionTextEncoder>(folder, {.compute = options.compute, .purpose = LoadFor::computing});
  PipelineTokenizer tokenizer = PipelineTokenizer::Load(folder);
  CheckRows(folder, tokenizer.size(), model->limits().vocabulary);
  const std::int64_t side = model->limits().patch.cells() > 0 ? 0 : RegionSideOf(*model);
  return {std::move(model), std::move(tokenizer), side};
}

Encoding ReadQuestion(const RegionFolder& loaded, std::string_view question) {
  CheckText(
      question, [](std::size_t) { return "the question"; }, 0);
  Check(!loaded.tokenizer.Encode(question, {.add_special = false, .read_special = false}).ids.empty(),
        "the question has no words");
  Encoding encoding = loaded.tokenizer.Encode(question, {.read_special = false});
  const std::int64_t positions = loaded.model->limits().positions;
  Check(std::ssize(encoding.ids) <= positions, "the question has {} tokens, and the model reads at most {}",
        encoding.ids.size(), positions);
  return encoding;
}

AttentionRecord RegionAttentionOf(const RegionFolder& loaded, const Image& image, std::span<const NamedBox> boxes,
                                  std::string_view question, std::optional<int> layer) {
  Check(loaded.side > 0, "{}: the model reads whole images, and no regions", loaded.model->parameters().source());
  const Encoding encoding = ReadQuestion(loaded, question);
  RegionLook look{.ids = encoding.ids,
                  .types = encoding.type_ids,
                  .labels = loaded.tokenizer.Labels(encoding.ids),
                  .boxes = {boxes.begin(), boxes.end()},
                  .layer = layer};
  for (std::size_t i = 0; i < look.ids.size(); ++i)
    if (loaded.tokenizer.IsSpecial(look.ids[i])) look.special.push_back(static_cast<int>(i));
  return AttentionOf(*loaded.model, loaded.side, image, look);
}

}  // namespace headlight
