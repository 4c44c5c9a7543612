#include "headlight/recipes/train_text_to_image.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "headlight/base/counted.h"
#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/base/option_checks.h"
#include "headlight/base/parallel.h"
#include "headlight/data/image_texts.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/processor.h"
#include "headlight/io/model_folder.h"
#include "headlight/kinds/image_coder.h"
#include "headlight/models/dalle.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/text_to_image_prompt.h"
#include "headlight/recipes/image_training.h"
#include "headlight/recipes/training_folder.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/train/objectives/text_to_image.h"

namespace headlight {
namespace {

constexpr TrainingDefaults kDrawingDefaults = {.sizes = {.model = 256, .heads = 4, .layers = 8}, .batch = 32};

std::vector<std::string> GridAttentionNames() {
  std::vector<std::string> names;
  for (const ConfigName<GridAttentionKind>& kind : kGridAttentionNames) names.emplace_back(kind.name);
  return names;
}

// Returns the attention kind of each layer: `names`, repeated for all layers. The default is from the paper, appendix
// B.1: layer i (from 1) has column attention if (i - 2) mod 4 = 0, and row attention otherwise. The last layer has
// convolutional attention.
std::vector<GridAttentionKind> KindsOf(const std::vector<std::string>& names, int layers) {
  std::vector<GridAttentionKind> kinds;
  for (int layer = 0; layer < layers; ++layer) {
    if (names.empty()) {
      kinds.push_back(layer + 1 == layers ? GridAttentionKind::convolution
                      : layer % 4 == 1    ? GridAttentionKind::column
                                          : GridAttentionKind::row);
    } else {
      const std::string& name = names[static_cast<std::size_t>(layer) % names.size()];
      const auto found = std::ranges::find(kGridAttentionNames, name, &ConfigName<GridAttentionKind>::name);
      Check(found != std::end(kGridAttentionNames), "`attention_types` must be {}, not {}",
            Alternatives(GridAttentionNames()), Quoted(name));
      kinds.push_back(found->value);
    }
  }
  return kinds;
}

std::unique_ptr<TextToImageModel> ModelOf(const TextToImageTraining& options, const TrainingPlan& plan,
                                          const PipelineTokenizer& tokenizer, const ImageCoder& coder) {
  if (!options.from_scratch()) return LoadModel<TextToImageModel>(options.from, {.dropout = options.chosen_dropout()});
  DalleConfig config;
  config.text_vocabulary = tokenizer.size();
  config.text_positions = options.text_positions;
  config.codes = coder.limits().codes;
  config.side = static_cast<std::int32_t>(coder.limits().grid().width);
  config.model = plan.sizes.model;
  config.layers = plan.sizes.layers;
  config.heads = plan.sizes.heads;
  config.head_dim = config.model / config.heads;
  config.ffn = plan.sizes.inner();
  config.kinds = KindsOf(options.attention_types, config.layers);
  config.dropout = plan.dropout;
  config.attention_dropout = plan.attention_dropout;
  auto model = std::make_unique<Dalle>(config);
  model->parameters().Initialize(options.seed);
  return model;
}

// Encodes the images as codes of the discrete VAE, and the texts as token ids.
ImageCodesWithTexts InCodes(const ImageTextSet& pairs, const ImageCoder& coder, const PipelineTokenizer& tokenizer,
                            std::int32_t positions) {
  const std::int64_t at_once = ImagesAtOnce(coder);
  const ImageProcessor processor = CenterSquare(coder.limits().image);
  ImageCodesWithTexts drawn = {.cells = coder.limits().grid().cells()};
  for (std::int64_t begin = 0; begin < pairs.size(); begin += at_once) {
    std::vector<Tensor> images(static_cast<std::size_t>(std::min(at_once, pairs.size() - begin)));
    ParallelFor(std::ssize(images), [&](std::int64_t i) {
      images[static_cast<std::size_t>(i)] = processor.Values(processor.Fit(pairs[begin + i]));
    });
    const std::vector<std::int32_t> codes = CodesOf(coder, images);
    drawn.codes.insert(drawn.codes.end(), codes.begin(), codes.end());
    for (std::int64_t i = begin; i < begin + std::ssize(images); ++i) {
      std::vector<std::vector<std::int32_t>>& texts = drawn.texts.emplace_back();
      for (const std::string& text : pairs.texts(i))
        texts.push_back(DrawingIds(tokenizer, text, positions, pairs.name(i)));
    }
  }
  return drawn;
}

// Returns a hash of all training data. The hash depends on the discrete VAE and the tokenizer.
std::uint64_t HashOf(const ImageCodesWithTexts& pairs) {
  Hash64 hash;
  const auto add = [&](const std::vector<std::int32_t>& numbers) {
    const std::int64_t size = std::ssize(numbers);
    hash.Update({reinterpret_cast<const char*>(&size), sizeof(size)});
    hash.Update({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(numbers[0])});
  };
  add(pairs.codes);
  for (const std::vector<std::vector<std::int32_t>>& texts : pairs.texts) {
    add({static_cast<std::int32_t>(texts.size())});
    for (const std::vector<std::int32_t>& text : texts) add(text);
  }
  return hash.value();
}

}  // namespace

void Describe(OptionTable& table, TextToImageTraining& options) {
  Describe(table, options, kDrawingDefaults,
           {.train = "Images with texts to train on: .tsv, .csv or .jsonl files of path and text, COCO's captions as "
                     ".json, or folders of images with a .txt file next to each",
            .valid = "Images with texts to validate on, in the same formats",
            .from = "Folder of a DALL-E to train further",
            .batch = "--batch-size",
            .batch_description = "Pairs per batch"});
  Option& from = table.Get("--from");
  table.Add("--images", options.images, "Folders of the images that COCO's .json files name")
      .Check(ExistingFolder())
      .Type("DIR");
  DescribeSkipErrors(table, options.skip_errors);
  const auto folder = [&](const char* name, std::string& value, const char* description) {
    table.Add(name, value, description).Model(ExistingFolder()).Excludes(from).Type("DIR");
  };
  folder("--vae", options.vae, "Folder of the discrete VAE for a model from scratch, which `train image-codes` trains");
  folder("--tokenizer", options.tokenizer, "Folder of the tokenizer for a model from scratch");
  AddModelNumber(table, "--text-positions", options.text_positions, Between(1, 1 << 14), "Tokens of the longest text");
  const std::vector<std::string> kinds = GridAttentionNames();
  table
      .Add("--attention-types", options.attention_types,
           "Which earlier codes the layers see, repeated for all layers: all, or those of a row, of a column or "
           "of a square")
      .Check(OneOf(kinds))
      .Excludes(from)
      .Type(fmt::format("{}", fmt::join(kinds, "|")))
      .Group(kModelGroup)
      .Default("as DALL-E's: row column row row, and last convolution");
  table
      .Add(
          "--drop-text", options.drop_text, NumberFrom(0, 1),
          "Share of the images that are trained on without their text, for the `guidance` of `headlight draw`; a tenth "
          "is usual")
      .ShowDefault()
      .Group("Training");
}

TrainingResult TrainTextToImage(TextToImageTraining options, const TrainingObserver& observer) {
  if (!options.from_scratch()) CheckKind<TextToImageModel>(options.from);
  const TrainingPlan plan = CompleteTraining(options, kDrawingDefaults);
  Check(!options.from_scratch() || (!options.vae.empty() && !options.tokenizer.empty()),
        "either `from` DIR, to train a model further, or `vae` DIR and `tokenizer` DIR, for one from scratch");
  const TrainingFolder folder(options.out, options.resume, options.ranks);
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(options.text_folder());
  const auto coder = LoadModel<ImageCoder>(options.coder_folder(), {.purpose = LoadFor::computing});
  const std::unique_ptr<TextToImageModel> model = ModelOf(options, plan, tokenizer, *coder);
  const auto read = [&](const std::vector<std::string>& paths, const TextShare& share, const char* purpose) {
    const ImageTextSet pairs =
        ReadImageTextSet(ListImageTexts(paths, options.images), options.skip_errors, kMostPixels, observer, share);
    CheckNotEmpty(static_cast<std::size_t>(pairs.size()), "images", paths, share);
    Note(observer, fmt::format("{}: {} with {} to {}", fmt::join(paths, ", "), Counted(pairs.size(), "image"),
                               Counted(pairs.text_count(), "text"), purpose));
    return InCodes(pairs, *coder, tokenizer, model->drawing().text_positions);
  };
  const ImageCodeSets pairs = {read(options.train, options.learned(), "train on"),
                               read(options.validation(), options.validated(), "validate on")};
  const TrainingTask task = TextToImageTask(*model, pairs, plan.batches, options.drop_text);
  Json of = Json::Object{{"batch_size", plan.batches.batch_size}};
  if (options.drop_text > 0) of.Set("drop_text", options.drop_text);
  if (options.from_scratch()) {
    of.Set("text_positions", options.text_positions);
    of.Set("attention", Json::Array(options.attention_types.begin(), options.attention_types.end()));
  }
  const auto save = [&](const std::string& to) {
    model->Save(to);
    if (options.from_scratch()) {
      CopyTokenizer(options.tokenizer, to);
      CopyCoder(options.vae, to);
    } else {
      CopyBesideModel(options.from, to);
    }
  };
  return RunModelTraining(task, options, plan, "text-to-image", "pairs", HashOf(pairs.train), std::move(of), save,
                          observer);
}

}  // namespace headlight
