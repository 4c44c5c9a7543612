#include "headlight/tasks/image_generator.h"

#include <algorithm>
#include <array>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/generate/generate.h"
#include "headlight/image/colours.h"
#include "headlight/image/processor.h"
#include "headlight/models/family.h"
#include "headlight/models/imagegpt.h"

namespace headlight {

struct ImageGenerator::State {
  std::unique_ptr<const ImageGpt> model;
  PictureProcessor processor;
  PictureSize size = {};
  std::vector<std::array<std::uint8_t, 3>> colours = {};
};

ImageGenerator ImageGenerator::Load(const std::string& folder, const LoadOptions& options) {
  Check(!options.shortlist && !options.draft, "{}: shortlist and draft are for models that write text", folder);
  State state{.model = LoadModel<ImageGpt>(folder, {.compute = options.compute, .purpose = LoadFor::computing}),
              .processor = LoadPictureProcessor(folder)};
  const ImageGptConfig& config = state.model->config();
  Check(config.next_colour, "{}: this ImageGPT has no head that predicts the next colour", folder);
  const ResizeRule& resize = state.processor.resize;
  Check(resize.kind == ResizeRule::Kind::exact && !state.processor.crop,
        "{}: the processor must resize pictures to one height and width", folder);
  state.size = resize.size;
  Check(std::ssize(state.processor.clusters) == config.start_id(),
        "{}: the processor has {} clusters, and the model {}", folder, state.processor.clusters.size(),
        config.start_id());
  Check(state.size.height <= config.positions / state.size.width,
        "{}: the processor makes pictures of {} x {}, and the model generates at most {} pixels", folder,
        state.size.width, state.size.height, config.positions);
  for (const Colour& colour : state.processor.clusters) state.colours.push_back(BytesOf(colour));
  return ImageGenerator(std::make_shared<State>(std::move(state)));
}

std::int64_t ImageGenerator::height() const { return state_->size.height; }
std::int64_t ImageGenerator::width() const { return state_->size.width; }

namespace {

// Pictures whose keys and values take about 256 MB, at least one: more at once are hardly faster.
std::int64_t PicturesAtOnce(const ImageGptConfig& config) {
  constexpr std::int64_t most = 64, memory = 1 << 28;
  const std::int64_t bytes = 2 * 4 * config.layers * config.model * config.positions;
  return std::clamp<std::int64_t>(memory / bytes, 1, most);
}

}  // namespace

// The rest of each list of colours.
std::vector<Picture> ImageGenerator::Draw(const std::vector<std::vector<std::int32_t>>& begun,
                                          const GenerateImageOptions& options) const {
  const ImageGpt& model = *state_->model;
  const std::int64_t pixels = height() * width();
  std::int64_t done = 0, all = 0;
  for (const std::vector<std::int32_t>& colours : begun) all += pixels - std::ssize(colours);
  GenerationOptions generation{.sample = true,
                               .temperature = options.temperature,
                               .top_k = options.top_k,
                               .top_p = options.top_p,
                               .seed = options.seed,
                               .cancelled = options.cancelled};
  generation.on_token = [&](std::size_t, std::int32_t) {
    if (options.progress) options.progress(++done, all);
    return true;
  };
  const std::int64_t at_once = PicturesAtOnce(model.config());
  std::vector<Picture> pictures;
  for (std::size_t first = 0; first < begun.size(); first += static_cast<std::size_t>(at_once)) {
    const std::size_t last = std::min(begun.size(), first + static_cast<std::size_t>(at_once));
    std::vector<std::vector<std::int32_t>> prompts;
    for (std::size_t i = first; i < last; ++i) {
      std::vector<std::int32_t>& prompt = prompts.emplace_back(1, model.config().start_id());
      prompt.insert(prompt.end(), begun[i].begin(), begun[i].end());
    }
    generation.first_stream = first;
    generation.max_new_tokens = static_cast<std::int32_t>(pixels - std::ssize(begun[first]));
    generation.batch_tokens = at_once * (pixels + 1);
    if (model.outputs() > model.config().start_id()) {  // the start has a score, too
      generation.end_ids = {model.config().start_id()};
      generation.min_new_tokens = generation.max_new_tokens;
    }
    const std::vector<std::vector<Hypothesis>> drawn = headlight::Generate(model, prompts, generation);
    for (std::size_t i = first; i < last; ++i) {
      std::vector<std::int32_t> colours = begun[i];
      const std::vector<std::int32_t>& rest = drawn[i - first].front().ids;
      colours.insert(colours.end(), rest.begin(), rest.end());
      Ensure(std::ssize(colours) == pixels, "a picture of {} pixels has {}", pixels, colours.size());
      Picture& picture = pictures.emplace_back(Picture{.height = height(), .width = width()});
      for (const std::int32_t colour : colours) {
        const std::array<std::uint8_t, 3>& bytes = state_->colours[static_cast<std::size_t>(colour)];
        picture.pixels.insert(picture.pixels.end(), bytes.begin(), bytes.end());
      }
    }
  }
  return pictures;
}

std::vector<Picture> ImageGenerator::Generate(std::int64_t count, const GenerateImageOptions& options) const {
  Check(count >= 1, "at least one picture is generated, not {}", count);
  return Draw(std::vector<std::vector<std::int32_t>>(static_cast<std::size_t>(count)), options);
}

std::vector<Picture> ImageGenerator::Complete(std::span<const Picture> pictures, std::optional<std::int64_t> rows,
                                              std::int64_t count, const GenerateImageOptions& options) const {
  Check(count >= 1, "at least one picture is generated, not {}", count);
  const std::int64_t kept = rows.value_or(height() / 2);
  Check(kept >= 0 && kept < height(), "from 0 to {} rows of a picture of {} can be kept, not {}", height() - 1,
        height(), kept);
  std::vector<std::vector<std::int32_t>> begun;
  for (const Picture& picture : pictures) {
    std::vector<std::int32_t> colours = state_->processor.Colours(state_->processor.Fit(picture));
    colours.resize(static_cast<std::size_t>(kept * width()));
    begun.insert(begun.end(), static_cast<std::size_t>(count), colours);
  }
  return Draw(begun, options);
}

}  // namespace headlight
