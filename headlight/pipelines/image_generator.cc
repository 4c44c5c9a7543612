#include "headlight/pipelines/image_generator.h"

#include <array>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/image/colors.h"
#include "headlight/image/processor.h"
#include "headlight/models/family.h"
#include "headlight/models/imagegpt.h"
#include "headlight/pipelines/draw_tokens.h"

namespace headlight {

struct ImageGenerator::State {
  std::unique_ptr<const ImageGpt> model;
  ImageProcessor processor;
  ImageSize size = {};
  std::vector<std::array<std::uint8_t, 3>> colors = {};
};

ImageGenerator ImageGenerator::Load(const std::string& folder, const LoadOptions& options) {
  Check(!options.shortlist && !options.draft, "{}: shortlist and draft are for models that write text", folder);
  State state{.model = LoadModel<ImageGpt>(folder, {.compute = options.compute, .purpose = LoadFor::computing}),
              .processor = LoadImageProcessor(folder)};
  const ImageGptConfig& config = state.model->config();
  Check(config.next_color, "{}: this ImageGPT has no head that predicts the next color", folder);
  const ResizeRule& resize = state.processor.resize;
  Check(resize.kind == ResizeRule::Kind::exact && !state.processor.crop,
        "{}: the processor must resize images to one height and width", folder);
  state.size = resize.size;
  Check(std::ssize(state.processor.clusters) == config.start_id(),
        "{}: the processor has {} clusters, and the model {}", folder, state.processor.clusters.size(),
        config.start_id());
  Check(state.size.height <= config.positions / state.size.width,
        "{}: the processor makes images of {} x {}, and the model generates at most {} pixels", folder,
        state.size.width, state.size.height, config.positions);
  for (const PaletteColor& color : state.processor.clusters) state.colors.push_back(BytesOf(color));
  return ImageGenerator(std::make_shared<State>(std::move(state)));
}

std::int64_t ImageGenerator::height() const { return state_->size.height; }
std::int64_t ImageGenerator::width() const { return state_->size.width; }

// Samples the remaining colors of each image.
std::vector<Image> ImageGenerator::Draw(const std::vector<std::vector<std::int32_t>>& begun,
                                        const TextToImageOptions& options) const {
  const ImageGpt& model = *state_->model;
  Check(options.guidance == 1, "`guidance` must be 1, not {}: an ImageGPT reads no text", options.guidance);
  if (begun.empty()) return {};
  const std::int64_t pixels = height() * width();
  TokensToDraw wanted = {.prompts = {}, .count = pixels - std::ssize(begun.front())};
  if (model.outputs() > model.config().start_id()) wanted.never = model.config().start_id();
  for (const std::vector<std::int32_t>& colors : begun) {
    std::vector<std::int32_t>& prompt = wanted.prompts.emplace_back(1, model.config().start_id());
    prompt.insert(prompt.end(), colors.begin(), colors.end());
  }
  const std::vector<std::vector<std::int32_t>> drawn = DrawTokens(model, wanted, options);
  std::vector<Image> images;
  for (std::size_t i = 0; i < begun.size(); ++i) {
    Image& image = images.emplace_back(Image{.height = height(), .width = width()});
    for (const std::vector<std::int32_t>& part : {begun[i], drawn[i]})
      for (const std::int32_t color : part) {
        const std::array<std::uint8_t, 3>& bytes = state_->colors[static_cast<std::size_t>(color)];
        image.pixels.insert(image.pixels.end(), bytes.begin(), bytes.end());
      }
  }
  return images;
}

std::vector<Image> ImageGenerator::Generate(const TextToImageOptions& options) const {
  Check(options.count >= 1, "`count` must be at least 1, not {}", options.count);
  return Draw(std::vector<std::vector<std::int32_t>>(static_cast<std::size_t>(options.count)), options);
}

std::vector<std::vector<Image>> ImageGenerator::Complete(std::span<const Image> images,
                                                         std::optional<std::int64_t> rows,
                                                         const TextToImageOptions& options) const {
  Check(options.count >= 1, "`count` must be at least 1, not {}", options.count);
  const std::int64_t kept = rows.value_or(height() / 2);
  Check(kept >= 0 && kept < height(), "from 0 to {} rows of an image of {} can be kept, not {}", height() - 1, height(),
        kept);
  const auto count = static_cast<std::size_t>(options.count);
  std::vector<std::vector<std::int32_t>> begun;
  for (const Image& image : images) {
    std::vector<std::int32_t> colors = state_->processor.Colors(state_->processor.Fit(image));
    colors.resize(static_cast<std::size_t>(kept * width()));
    begun.insert(begun.end(), count, colors);
  }
  std::vector<std::vector<Image>> completed(images.size());
  std::vector<Image> drawn = Draw(begun, options);
  for (std::size_t i = 0; i < drawn.size(); ++i) completed[i / count].push_back(std::move(drawn[i]));
  return completed;
}

}  // namespace headlight
