#include "headlight/recipes/train_captions.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "headlight/base/counted.h"
#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/option_checks.h"
#include "headlight/data/image_texts.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/models/vision_encoder_decoder.h"
#include "headlight/recipes/text_training.h"
#include "headlight/text/tokenizers/fast_tokenizer_config.h"
#include "headlight/train/objectives/captions.h"

namespace headlight {
namespace {

constexpr TrainingDefaults kCaptionDefaults = [] {
  TrainingDefaults defaults = kImageDefaults;
  defaults.sizes.layers = 6;
  defaults.tuning_rate = 5e-5;
  return defaults;
}();

std::unique_ptr<CaptionModel> NewModel(const CaptionTraining& options, const TrainingPlan& plan,
                                       const PipelineTokenizer& tokenizer) {
  const ModelSizes& sizes = plan.sizes;
  VisionEncoderDecoderConfig config;
  config.encoder = NewVitConfig(options, plan);
  config.encoder.scope = "";
  GptConfig& decoder = config.decoder;
  decoder.model = sizes.model;
  decoder.layers = sizes.layers;
  decoder.heads = sizes.heads;
  decoder.ffn = sizes.inner();
  decoder.dropout = decoder.embedding_dropout = plan.dropout;
  decoder.attention_dropout = plan.attention_dropout;
  decoder.vocabulary = tokenizer.size();
  decoder.positions = options.positions;
  config.start_id = config.end_id = decoder.end_id =
      TokenOf(tokenizer, options.tokenizer, "token that ends a text", {"<|endoftext|>", "</s>", "[SEP]"});
  auto model = std::make_unique<VisionEncoderDecoder>(config);
  model->parameters().Initialize(options.seed);
  return model;
}

// Returns the generation settings. The maximum length is the length of the longest training caption.
Json NewGenerationConfig(const CaptionModel& model, std::size_t longest) {
  const ConditionalDecoder::Limits& limits = model.limits();
  return Json::Object{{"decoder_start_token_id", limits.start_id},
                      {"eos_token_id", limits.end_id},
                      {"pad_token_id", limits.end_id},
                      {"max_length", std::min<std::int64_t>(static_cast<std::int64_t>(longest) + 2, limits.positions)}};
}

ImageTextSet Read(const CaptionTraining& options, const std::vector<std::string>& paths, const TextShare& share,
                  const char* purpose, const TrainingObserver& observer) {
  ImageTextSet set = ReadImageTextSet(ListImageTexts(paths, options.images), options.skip_errors, options.most_pixels,
                                      observer, share);
  CheckNotEmpty(static_cast<std::size_t>(set.size()), "images", paths, share);
  Note(observer, fmt::format("{}: {} with {} to {}", fmt::join(paths, ", "), Counted(set.size(), "image"),
                             Counted(set.text_count(), "caption"), purpose));
  return set;
}

}  // namespace

void Describe(OptionTable& table, CaptionTraining& options) {
  Describe(table, options, kCaptionDefaults,
           "a .tsv, .csv or .jsonl file of path and text, a folder of images with a text file next to each, or COCO's "
           "captions in .json",
           /*validates=*/true);
  Option& from = table.Get("--from").Describe("Folder of a model of captions to fine-tune");
  table.Get("--batch-size").Describe("Images per batch, one for each caption");
  table.Add("--images", options.images, "Folders of the images that a COCO file names")
      .Check(NotEmpty())
      .Type("DIR")
      .Default("next to it");
  table.Add("--tokenizer", options.tokenizer, "Folder of the tokenizer for a model from scratch")
      .Model(ExistingFolder())
      .Excludes(from)
      .Type("DIR");
  AddModelNumber(table, "--positions", options.positions, Between(2, 1 << 15), "Tokens of the longest caption");
  DescribeSkipErrors(table, options.skip_errors);
  AddLabelSmoothing(table, options.label_smoothing);
  table
      .Add("--validate-images", options.validate_images, AtLeast(1),
           "Write captions for the first N images of a validation")
      .Default("500")
      .Group("Training");
}

TrainingResult TrainCaptions(CaptionTraining options, const TrainingObserver& observer) {
  Check(options.from.empty() != options.tokenizer.empty(),
        "either `from` DIR, to fine-tune a model, or `tokenizer` DIR, for one from scratch");
  const auto [plan, folder] =
      BeginImageTraining(options, kCaptionDefaults, observer, /*validates=*/true, CaptionModel::kKind);
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(options.tokenizer_folder());
  const std::unique_ptr<CaptionModel> model =
      options.from_scratch() ? NewModel(options, plan, tokenizer)
                             : LoadModel<CaptionModel>(options.from, {.dropout = options.chosen_dropout()});
  Check(model->uses().captions, "{}: a model that writes captions is needed, and this one does not", options.from);
  Check(tokenizer.size() <= model->limits().target_vocabulary, "{}: the tokenizer has {} tokens, and the model {}",
        options.tokenizer_folder(), tokenizer.size(), model->limits().target_vocabulary);
  const ImageProcessor processor = ProcessorOf(options);
  const ImageTextSet train = Read(options, options.train, options.learned(), "train on", observer);
  const ImageTextSet valid = Read(options, options.validation(), options.validated(), "validate on", observer);
  const auto encode = [&](const std::string& text) {
    return tokenizer.Encode(text, {.add_special = false, .read_special = false}).ids;
  };
  const TokenizedCaptions learned = TokenizeCaptions(*model, train, encode),
                          validated = TokenizeCaptions(*model, valid, encode);
  const auto decode = [&](std::span<const std::int32_t> ids) { return tokenizer.Decode(ids); };
  const TrainingTask task = CaptionTask(*model, processor, learned, validated, decode,
                                        {.batches = plan.batches,
                                         .label_smoothing = options.label_smoothing,
                                         .drop_path = options.drop_path.value_or(0),
                                         .validated = options.validate_images.value_or(500)});
  std::size_t longest = 0;
  for (const TokenizedCaptions::Example& example : learned.examples) longest = std::max(longest, example.ids.size());
  const auto save = [&](const std::string& to) {
    model->Save(to);
    if (options.from_scratch()) {
      CopyTokenizer(options.tokenizer, to);
      WriteFile(to + "/generation_config.json", NewGenerationConfig(*model, longest).Text());
    } else {
      CopyBesideModel(options.from, to);
    }
    SaveBesideImageModel(options, to);
    WriteFastTokenizerConfig(to, TokenizerOfModel{.longest = model->limits().positions});
  };
  Json of = Json::Object{{"batch_size", plan.batches.batch_size},
                         {"drop_path", options.drop_path.value_or(0)},
                         {"label_smoothing", options.label_smoothing}};
  if (options.validate_images) of.Set("validate_images", *options.validate_images);
  if (options.from_scratch()) {
    const VitConfig encoder = NewVitConfig(options, plan);
    of.Set("image_size", encoder.image.height);
    of.Set("patch_size", encoder.patch.height);
    of.Set("positions", options.positions);
  }
  return RunModelTraining(task, options, plan, "captions", "target tokens", train.hash(), std::move(of), save,
                          observer);
}

}  // namespace headlight
