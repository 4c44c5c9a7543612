#include "headlight/tasks/drawer.h"

#include <algorithm>
#include <cmath>

#include "headlight/base/error.h"
#include "headlight/generate/generate.h"
#include "headlight/image/processor.h"
#include "headlight/models/family.h"
#include "headlight/nn/drawing_model.h"
#include "headlight/nn/picture_coder.h"
#include "headlight/tasks/drawer_text.h"
#include "headlight/text/utf8.h"

namespace headlight {

std::vector<std::int32_t> DrawingIds(const PipelineTokenizer& tokenizer, std::string_view text, std::int32_t positions,
                                     const std::string& place) {
  CheckUtf8(text, place);
  std::vector<std::int32_t> ids = tokenizer.Encode(text, {.add_special = false, .read_special = false}).ids;
  Check(!ids.empty(), "{}: the text has no tokens", place);
  Check(std::ssize(ids) <= positions, "{}: the text has {} tokens, and the model reads at most {}", place, ids.size(),
        positions);
  return ids;
}

struct Drawer::State {
  std::unique_ptr<const DrawingModel> model;
  std::unique_ptr<const PictureCoder> coder;
  PipelineTokenizer tokenizer;
};

Drawer Drawer::Load(const std::string& folder, const LoadOptions& options) {
  Check(!options.shortlist && !options.draft, "{}: shortlist and draft are for models that write text", folder);
  auto model = LoadModel<DrawingModel>(folder, {.compute = options.compute, .purpose = LoadFor::computing});
  const std::string coder_folder = folder + "/vae";
  // The codes of a picture, and its colours, hardly bear the rounding of weights, and are computed once a picture.
  auto coder = LoadModel<PictureCoder>(coder_folder, {.purpose = LoadFor::computing});
  const DrawingModel::Drawing& drawing = model->drawing();
  const PictureCoder::Limits& limits = coder->limits();
  Check(limits.codes == drawing.codes && limits.grid() == drawing.grid,
        "{}: the coder of pictures has {} x {} of {} codes, and the model draws {} x {} of {}", coder_folder,
        limits.grid().width, limits.grid().height, limits.codes, drawing.grid.width, drawing.grid.height,
        drawing.codes);
  PipelineTokenizer tokenizer = PipelineTokenizer::Load(folder);
  Check(tokenizer.size() <= drawing.text_vocabulary, "{}: the tokenizer has {} tokens, and the model {}", folder,
        tokenizer.size(), drawing.text_vocabulary);
  return Drawer(std::make_shared<State>(State{std::move(model), std::move(coder), std::move(tokenizer)}));
}

std::int64_t Drawer::side() const { return state_->coder->limits().picture; }
std::int64_t Drawer::rows() const { return model().drawing().grid.height; }
const DrawingModel& Drawer::model() const { return *state_->model; }
const PipelineTokenizer& Drawer::tokenizer() const { return state_->tokenizer; }

std::vector<std::int32_t> Drawer::Encode(const Picture& picture) const {
  const PictureProcessor processor = CentreSquare(side());
  const Tensor values = processor.Values(processor.Fit(picture));
  Context context;
  return LikeliestCodes(*state_->coder, state_->coder->Encode(context, MapsOf({&values, 1}, 3, DType::float32)).rows);
}

Picture Drawer::Decode(std::span<const std::int32_t> codes) const {
  const Grid grid = model().drawing().grid;
  Check(std::ssize(codes) == grid.cells(), "{} codes: a picture has {}", codes.size(), grid.cells());
  Context context;
  const Tensor pixels =
      PixelsOf(*state_->coder, state_->coder->Decode(context, WeightsOf(*state_->coder, codes, {grid})).rows);
  Picture picture = {.height = side(), .width = side()};
  for (const float value : pixels.span<float>())
    picture.pixels.push_back(static_cast<std::uint8_t>(std::lround(255 * value)));
  return picture;
}

namespace {

// Pictures whose keys and values take about 256 MB, at least one: more at once are hardly faster.
std::int64_t PicturesAtOnce(const DrawingModel& model) {
  constexpr std::int64_t most = 64, memory = 1 << 28;
  // The weights of a token's keys and values are at most half of all.
  std::int64_t bytes = 0;
  for (const Parameter& parameter : model.parameters().all())
    if (parameter.names.front().ends_with("query_key_value.weight"))
      bytes += parameter.shape[0] * 2 / 3 * std::int64_t{sizeof(float)} * model.limits().positions;
  return std::clamp<std::int64_t>(memory / std::max<std::int64_t>(1, bytes), 1, most);
}

}  // namespace

std::vector<Drawing> Drawer::DrawFrom(std::span<const std::string> texts, std::span<const std::int32_t> begun,
                                      std::int64_t count, const DrawOptions& options) const {
  Check(count >= 1, "at least one picture is drawn, not {}", count);
  const std::int64_t cells = model().drawing().grid.cells(), rest = cells - std::ssize(begun);
  std::vector<std::vector<std::int32_t>> prompts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::vector<std::int32_t> ids =
        DrawingIds(tokenizer(), texts[i], model().drawing().text_positions, fmt::format("text {}", i + 1));
    std::vector<std::int32_t> prompt = model().Prompt(ids);
    prompt.insert(prompt.end(), begun.begin(), begun.end());
    prompts.insert(prompts.end(), static_cast<std::size_t>(count), prompt);
  }
  const std::int64_t all = rest * std::ssize(prompts), at_once = PicturesAtOnce(model());
  std::int64_t done = 0;
  GenerationOptions generation{.sample = true,
                               .temperature = options.temperature,
                               .top_k = options.top_k,
                               .top_p = options.top_p,
                               .seed = options.seed,
                               .max_new_tokens = static_cast<std::int32_t>(rest),
                               .batch_tokens = at_once * model().limits().positions,
                               .cancelled = options.cancelled};
  generation.on_token = [&](std::size_t, std::int32_t) {
    if (options.progress) options.progress(++done, all);
    return true;
  };
  std::vector<Drawing> drawings;
  for (std::size_t first = 0; first < prompts.size(); first += static_cast<std::size_t>(at_once)) {
    const auto begin = prompts.begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<std::vector<std::int32_t>> some(begin,
                                                      begin + std::min<std::ptrdiff_t>(at_once, prompts.end() - begin));
    generation.first_stream = first;
    for (const std::vector<Hypothesis>& drawn : Generate(model(), some, generation)) {
      std::vector<std::int32_t> codes(begun.begin(), begun.end());
      codes.insert(codes.end(), drawn.front().ids.begin(), drawn.front().ids.end());
      Picture picture = Decode(codes);
      drawings.push_back({std::move(picture), std::move(codes)});
    }
  }
  return drawings;
}

std::vector<Drawing> Drawer::Draw(std::span<const std::string> texts, std::int64_t count,
                                  const DrawOptions& options) const {
  return DrawFrom(texts, {}, count, options);
}

std::vector<Drawing> Drawer::Complete(std::span<const std::string> texts, const Picture& begun,
                                      std::optional<std::int64_t> rows, std::int64_t count,
                                      const DrawOptions& options) const {
  const std::int64_t kept = rows.value_or(this->rows() / 2);
  Check(kept >= 0 && kept < this->rows(), "from 0 to {} rows of codes of a picture of {} can be kept, not {}",
        this->rows() - 1, this->rows(), kept);
  std::vector<std::int32_t> codes = Encode(begun);
  codes.resize(static_cast<std::size_t>(kept * model().drawing().grid.width));
  return DrawFrom(texts, codes, count, options);
}

}  // namespace headlight
