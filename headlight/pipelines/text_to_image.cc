#include "headlight/pipelines/text_to_image.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "headlight/base/error.h"
#include "headlight/image/processor.h"
#include "headlight/kinds/image_coder.h"
#include "headlight/kinds/text_to_image_model.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/draw_tokens.h"
#include "headlight/pipelines/image_text_embedder.h"
#include "headlight/pipelines/text_to_image_prompt.h"
#include "headlight/pipelines/tokenizer_fit.h"
#include "headlight/text/utf8.h"

namespace headlight {

std::vector<std::int32_t> DrawingIds(const PipelineTokenizer& tokenizer, std::string_view text, std::int32_t positions,
                                     const std::string& name) {
  CheckUtf8(text, name);
  std::vector<std::int32_t> ids = tokenizer.Encode(text, {.add_special = false, .read_special = false}).ids;
  Check(!ids.empty(), "{}: the text has no tokens", name);
  Check(std::ssize(ids) <= positions, "{}: the text has {} tokens, and the model reads at most {}", name, ids.size(),
        positions);
  return ids;
}

struct TextToImage::State {
  std::unique_ptr<const TextToImageModel> model;
  std::unique_ptr<const ImageCoder> coder;
  PipelineTokenizer tokenizer;
};

TextToImage TextToImage::Load(const std::string& folder, const LoadOptions& options) {
  Check(!options.shortlist && !options.draft, "{}: shortlist and draft are for models that write text", folder);
  auto model = LoadModel<TextToImageModel>(folder, {.compute = options.compute, .purpose = LoadFor::computing});
  const std::string coder_folder = folder + "/vae";
  // The discrete VAE runs once per image, and rounded weights would change its codes and colors.
  auto coder = LoadModel<ImageCoder>(coder_folder, {.purpose = LoadFor::computing});
  const TextToImageModel::Drawing& drawing = model->drawing();
  const ImageCoder::Limits& limits = coder->limits();
  Check(limits.codes == drawing.codes && limits.grid() == drawing.grid,
        "{}: the discrete VAE has {} x {} of {} codes, and the model draws {} x {} of {}", coder_folder,
        limits.grid().width, limits.grid().height, limits.codes, drawing.grid.width, drawing.grid.height,
        drawing.codes);
  PipelineTokenizer tokenizer = PipelineTokenizer::Load(folder);
  CheckRows(folder, tokenizer.size(), drawing.text_vocabulary);
  return TextToImage(std::make_shared<State>(State{std::move(model), std::move(coder), std::move(tokenizer)}));
}

std::int64_t TextToImage::side() const { return state_->coder->limits().image; }
std::int64_t TextToImage::rows() const { return model().drawing().grid.height; }
const TextToImageModel& TextToImage::model() const { return *state_->model; }
const PipelineTokenizer& TextToImage::tokenizer() const { return state_->tokenizer; }

std::vector<std::int32_t> TextToImage::Encode(const Image& image) const {
  const ImageProcessor processor = CenterSquare(side());
  const Tensor values = processor.Values(processor.Fit(image));
  return CodesOf(*state_->coder, {&values, 1});
}

Image TextToImage::Decode(std::span<const std::int32_t> codes) const {
  const Grid grid = model().drawing().grid;
  Check(std::ssize(codes) == grid.cells(), "{} codes: an image has {}", codes.size(), grid.cells());
  Context context;
  const Tensor pixels =
      PixelsOf(*state_->coder, state_->coder->Decode(context, WeightsOf(*state_->coder, codes, {grid})).rows);
  Image image = {.height = side(), .width = side()};
  for (const float value : pixels.span<float>())
    image.pixels.push_back(static_cast<std::uint8_t>(std::lround(255 * value)));
  return image;
}

void TextToImage::CheckText(const std::string& text, const std::string& name) const {
  DrawingIds(tokenizer(), text, model().drawing().text_positions, name);
}

std::vector<std::vector<GeneratedImage>> TextToImage::GenerateFrom(std::span<const std::string> texts,
                                                                   std::span<const std::int32_t> begun,
                                                                   const TextToImageOptions& options) const {
  Check(options.count >= 1, "`count` must be at least 1, not {}", options.count);
  const TextToImageModel::Drawing& drawing = model().drawing();
  const auto prompt_of = [&](std::span<const std::int32_t> text) {
    std::vector<std::int32_t> prompt = model().Prompt(text);
    prompt.insert(prompt.end(), begun.begin(), begun.end());
    return prompt;
  };
  const auto count = static_cast<std::size_t>(options.count);
  TokensToDraw wanted = {.prompts = {}, .unguided = prompt_of({}), .count = drawing.grid.cells() - std::ssize(begun)};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::vector<std::int32_t> ids =
        DrawingIds(tokenizer(), texts[i], drawing.text_positions, fmt::format("text {}", i + 1));
    wanted.prompts.insert(wanted.prompts.end(), count, prompt_of(ids));
  }
  const std::vector<std::vector<std::int32_t>> drawn = DrawTokens(model(), wanted, options);
  std::vector<std::vector<GeneratedImage>> images(texts.size());
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    std::vector<std::int32_t> codes(begun.begin(), begun.end());
    codes.insert(codes.end(), drawn[i].begin(), drawn[i].end());
    Image image = Decode(codes);
    images[i / count].push_back({std::move(image), std::move(codes)});
  }
  return images;
}

std::vector<std::vector<GeneratedImage>> TextToImage::Generate(std::span<const std::string> texts,
                                                               const TextToImageOptions& options) const {
  return GenerateFrom(texts, {}, options);
}

std::vector<std::vector<GeneratedImage>> TextToImage::Complete(std::span<const std::string> texts, const Image& begun,
                                                               std::optional<std::int64_t> rows,
                                                               const TextToImageOptions& options) const {
  const std::int64_t kept = rows.value_or(this->rows() / 2);
  Check(kept >= 0 && kept < this->rows(), "from 0 to {} rows of codes of an image of {} can be kept, not {}",
        this->rows() - 1, this->rows(), kept);
  std::vector<std::int32_t> codes = Encode(begun);
  codes.resize(static_cast<std::size_t>(kept * model().drawing().grid.width));
  return GenerateFrom(texts, codes, options);
}

std::vector<RankedImage> RankImages(const ImageTextEmbedder& ranker, const std::string& text,
                                    std::span<const GeneratedImage> images) {
  const std::vector<float> wanted = ranker.EmbedText(text);
  std::vector<Image> fitted;
  for (const GeneratedImage& one : images) fitted.push_back(ranker.Fit(one.image));
  const Tensor vectors = ranker.EmbedFitted(fitted).vectors;
  std::vector<RankedImage> ranked;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const float* const one = vectors.matrix<float>().row(static_cast<std::int64_t>(i));
    ranked.push_back({i, std::inner_product(wanted.begin(), wanted.end(), one, 0.0f)});
  }
  std::ranges::stable_sort(ranked, std::greater{}, &RankedImage::score);
  return ranked;
}

}  // namespace headlight
