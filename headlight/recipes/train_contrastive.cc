#include "headlight/recipes/train_contrastive.h"

#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/choice.h"
#include "headlight/base/counted.h"
#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/option_checks.h"
#include "headlight/data/image_texts.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/io/model_folder.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/models/clip.h"
#include "headlight/models/family.h"
#include "headlight/models/siglip.h"
#include "headlight/recipes/image_training.h"
#include "headlight/recipes/training_folder.h"
#include "headlight/text/tokenizers/fast_tokenizer_config.h"
#include "headlight/train/objectives/contrastive.h"

namespace headlight {
namespace {

using Architecture = ContrastiveTraining::Architecture;

std::int64_t ImageSide(const ContrastiveTraining& options) { return options.image_size.value_or(224); }
std::int64_t PatchSide(const ContrastiveTraining& options) { return options.patch_size.value_or(16); }

// Returns a preprocessor_config.json with the settings of CLIP or SigLIP.
Json NewPreprocessorConfig(const ContrastiveTraining& options) {
  const std::int64_t side = ImageSide(options);
  const Json::Object square = {{"height", side}, {"width", side}};
  const bool clip = options.family == Architecture::clip;
  const Json::Array half = {0.5, 0.5, 0.5};
  Json config = Json::Object{{"image_processor_type", clip ? "CLIPImageProcessor" : "SiglipImageProcessor"},
                             {"do_resize", true},
                             {"size", clip ? Json(Json::Object{{"shortest_edge", side}}) : Json(square)},
                             {"resample", static_cast<int>(ResizeFilter::bicubic)},
                             {"do_rescale", true},
                             {"rescale_factor", 1.0 / 255},
                             {"do_normalize", true},
                             {"image_mean", clip ? Json::Array{0.48145466, 0.4578275, 0.40821073} : half},
                             {"image_std", clip ? Json::Array{0.26862954, 0.26130258, 0.27577711} : half}};
  if (clip) {
    config.Set("do_center_crop", true);
    config.Set("crop_size", square);
  }
  return config;
}

// Sets the sizes that both towers share.
template <typename Config>
void SetSizes(const ContrastiveTraining& options, const TrainingPlan& plan, const PipelineTokenizer& tokenizer,
              Config& config) {
  const ModelSizes& sizes = plan.sizes;
  auto& image = *config.image;
  image.model = sizes.model;
  image.layers = sizes.layers;
  image.heads = sizes.heads;
  image.ffn = sizes.inner();
  image.image = {ImageSide(options), ImageSide(options)};
  image.patch = {PatchSide(options), PatchSide(options)};
  auto& text = *config.text;
  text.model = options.text_model_dim.value_or(sizes.model);
  text.layers = options.text_layers.value_or(sizes.layers);
  text.heads = options.text_heads.value_or(sizes.heads);
  text.ffn = options.text_model_dim ? 4 * text.model : sizes.inner();
  text.vocabulary = tokenizer.size();
  text.positions = options.positions;
  image.attention_dropout = text.attention_dropout = plan.attention_dropout;
}

// Returns the token that ends every text. The hidden state of this token is CLIP's representation of the text.
std::int32_t EndOf(const ContrastiveTraining& options, const PipelineTokenizer& tokenizer) {
  const std::vector<std::int32_t> ids = tokenizer.Encode("a").ids;
  Check(!ids.empty() && tokenizer.IsSpecial(ids.back()),
        "{}: the tokenizer puts no special token after a text, which a CLIP needs; a WordPiece or "
        "Unigram tokenizer trained by headlight does",
        options.tokenizer);
  Check(
      ids.back() != kLargestIdEnds,
      "{}: the token after a text, {}, has the id 2, which a CLIP's configuration reads as the token with the largest "
      "id",
      options.tokenizer, Quoted(tokenizer.Piece(ids.back())));
  return ids.back();
}

std::unique_ptr<DualEncoder> NewModel(const ContrastiveTraining& options, const TrainingPlan& plan,
                                      const PipelineTokenizer& tokenizer) {
  std::unique_ptr<DualEncoder> model;
  if (options.family == Architecture::clip) {
    ClipConfig config;
    SetSizes(options, plan, tokenizer, config);
    config.vector = options.vector_dim.value_or(plan.sizes.model);
    config.text->end_id = EndOf(options, tokenizer);
    model = std::make_unique<Clip>(config);
  } else {
    Check(!options.vector_dim, "`vector_dim`: a SigLIP's vectors have the size of its image tower, `model_dim`");
    SiglipConfig config;
    SetSizes(options, plan, tokenizer, config);
    config.text->vector = plan.sizes.model;
    model = std::make_unique<Siglip>(config);
  }
  model->parameters().Initialize(options.seed);
  return model;
}

ImageProcessor ProcessorOf(const ContrastiveTraining& options) {
  return options.from_scratch()
             ? ReadImageProcessor(JsonView(NewPreprocessorConfig(options), "preprocessor_config.json"))
             : LoadImageProcessor(options.from);
}

void Save(const ContrastiveTraining& options, const DualEncoder& model, const std::string& to) {
  model.Save(to);
  if (!options.from_scratch()) return CopyBesideModel(options.from, to);
  CopyTokenizer(options.tokenizer, to);
  WriteFastTokenizerConfig(to, TokenizerOfModel{.longest = model.limits().positions});
  WriteFile(to + "/preprocessor_config.json", NewPreprocessorConfig(options).Text());
}

// Throws Error for options that apply only to training on images with texts.
void CheckOfTexts(const ContrastiveTraining& options) {
  for (const auto& [name, given] :
       {std::pair("images", !options.images.empty()), std::pair("skip_errors", options.skip_errors),
        std::pair("random_resized_crop", options.random_resized_crop.has_value()),
        std::pair("image_size", options.image_size.has_value()),
        std::pair("patch_size", options.patch_size.has_value()),
        std::pair("text_layers", options.text_layers.has_value()),
        std::pair("text_model_dim", options.text_model_dim.has_value()),
        std::pair("text_heads", options.text_heads.has_value()),
        std::pair("vector_dim", options.vector_dim.has_value())})
    Check(!given, "`{}`: is not for a training of texts with texts", name);
}

TrainingResult TrainOnImages(ContrastiveTraining& options, const TrainingObserver& observer) {
  Check(!options.scale, "`scale`: is not for images with texts, whose temperature is a trained parameter");
  if (!options.from_scratch()) CheckKind<DualEncoder>(options.from);
  Check(PatchSide(options) > 0 && ImageSide(options) % PatchSide(options) == 0,
        "`image_size` {}: is not a multiple of `patch_size` {}", ImageSide(options), PatchSide(options));
  const TrainingPlan plan = CompleteTraining(options, kContrastiveDefaults);
  const TrainingFolder folder(options.out, options.resume, options.ranks);

  const std::string& tokens = options.tokenizer_folder();
  std::unique_ptr<DualEncoder> model;
  if (options.from_scratch())
    model = NewModel(options, plan, PipelineTokenizer::Load(tokens));
  else
    model = LoadModel<DualEncoder>(options.from, {.dropout = options.chosen_dropout()});
  const WholeTexts texts = WholeTexts::Load(tokens, model->limits().positions, model->limits().filled);
  Check(texts.tokenizer.size() <= model->limits().vocabulary, "{}: the tokenizer has {} tokens, and the model {}",
        tokens, texts.tokenizer.size(), model->limits().vocabulary);

  const auto read = [&](const std::vector<std::string>& paths, const TextShare& share, const char* purpose) {
    ImageTextSet set =
        ReadImageTextSet(ListImageTexts(paths, options.images), options.skip_errors, kMostPixels, observer, share);
    CheckNotEmpty(static_cast<std::size_t>(set.size()), "images with texts", paths, share);
    Note(observer, fmt::format("{}: {} with {} to {}", fmt::join(paths, ", "), Counted(set.size(), "image"),
                               Counted(set.text_count(), "text"), purpose));
    const std::int64_t cut = CountCutTexts(texts, set);
    Check(options.truncate || cut == 0,
          "{}: {} than the {} tokens that the model reads at once; `truncate` leaves out the end",
          fmt::join(paths, ", "), cut == 1 ? "1 text is longer" : fmt::format("{} texts are longer", cut),
          texts.longest);
    if (cut > 0) Note(observer, TruncatedNote(cut));
    return set;
  };
  const ImageTextSet train = read(options.train, options.learned(), "train on");
  const ImageTextSet valid = read(options.validation(), options.validated(), "validate on");
  const ContrastiveOptions contrastive = {.batches = plan.batches,
                                          .part = options.micro_batch_size,
                                          .least_share = options.random_resized_crop.value_or(1)};
  const TrainingTask task = ContrastiveTask(*model, ProcessorOf(options), texts, train, valid, contrastive);
  Json of = Json::Object{{"batch_size", plan.batches.batch_size},
                         {"least_share", contrastive.least_share},
                         {"part_size", contrastive.part}};
  if (options.from_scratch()) {
    of.Set("architecture", options.family == Architecture::clip ? "clip" : "siglip");
    of.Set("image_size", ImageSide(options));
    of.Set("patch_size", PatchSide(options));
    of.Set("positions", options.positions);
    of.Set("text_layers", options.text_layers ? Json(*options.text_layers) : Json());
    of.Set("text_model_dim", options.text_model_dim ? Json(*options.text_model_dim) : Json());
    of.Set("text_heads", options.text_heads ? Json(*options.text_heads) : Json());
    of.Set("vector_dim", options.vector_dim ? Json(*options.vector_dim) : Json());
  }
  const auto save = [&](const std::string& to) { Save(options, *model, to); };
  return RunModelTraining(task, options, plan, "contrastive", "pairs", train.hash(), std::move(of), save, observer);
}

}  // namespace

void Describe(OptionTable& table, ContrastiveTraining& options) {
  Describe(
      table, options, kContrastiveDefaults,
      {.train =
           "Images with texts to train on: a .tsv of path and text, a .csv or .jsonl file, COCO's captions "
           ".json, or a folder of images with a .txt next to each; for a text encoder a .tsv of a text and its match",
       .valid = "Images with texts to validate on, in the same formats",
       .from = "Folder of a CLIP, SigLIP or text encoder to fine-tune, with its tokenizer",
       .batch = "--batch-size",
       .batch_description = "Pairs per batch, which are compared with each other"});
  Option& from = table.Get("--from");
  DescribeSkipErrors(table, options.skip_errors);
  table.Add("--truncate", options.truncate,
            "Leave out the end of a text that is too long for the model, instead of refusing it");
  table.Add("--images", options.images, "Folders of COCO's images, unless they are next to the file")
      .Check(ExistingFolder())
      .Type("DIR");
  table.Add("--tokenizer", options.tokenizer, "Folder of the tokenizer for a model from scratch")
      .Model(ExistingFolder())
      .Excludes(from)
      .Type("DIR");
  AddChoice<Architecture>(
      table, "--family", options.family,
      {{"clip", Architecture::clip}, {"siglip", Architecture::siglip}, {"bert", Architecture::bert}},
      "Model from scratch: clip for images with texts, with a softmax over the batch; siglip, with a sigmoid for each "
      "pair; bert for texts with texts")
      .Excludes(from)
      .Group(kModelGroup);
  const auto add_size = [&](const char* name, auto& value, std::int64_t most, const char* description) -> Option& {
    return table.Add(name, value, Between(1, most), description).Excludes(from).Group(kModelGroup);
  };
  add_size("--image-size", options.image_size, 4096, "Pixels of a side, to which images are resized").Default("224");
  add_size("--patch-size", options.patch_size, 4096, "Pixels of a patch's side").Default("16");
  add_size("--positions", options.positions, 1 << 15, "Tokens of the longest text").ShowDefault();
  add_size("--text-layers", options.text_layers, 1024, "Layers of the text tower").Default("`layers`");
  add_size("--text-model-dim", options.text_model_dim, 1 << 15, "Size of its embeddings and layers")
      .Default("`model_dim`");
  add_size("--text-heads", options.text_heads, 1 << 15, "Its attention heads").Default("`heads`");
  add_size("--vector-dim", options.vector_dim, 1 << 15, "Embedding size of a CLIP").Default("`model_dim`");
  table
      .Add("--micro-batch-size", options.micro_batch_size, AtLeast(1),
           "Pairs whose activations are in memory at a time; a larger batch is computed twice, with the same result")
      .ShowDefault()
      .Group("Training");
  table
      .Add("--random-resized-crop", options.random_resized_crop, NumberAbove(0, 1),
           "Train on random regions that have at least this share of an image; 1: on the whole")
      .Default("1")
      .Group("Training");
  table.Add("--scale", options.scale, NumberAbove(0), "For texts with texts: factor of the cosine similarities")
      .Default("20")
      .Group("Training");
}

TrainingResult TrainContrastive(ContrastiveTraining options, const TrainingObserver& observer) {
  Check(options.from.empty() != options.tokenizer.empty(),
        "either `from` DIR, to fine-tune a model, or `tokenizer` DIR, for one from scratch");
  const bool texts_alone = options.from_scratch() ? options.family == Architecture::bert
                                                  : FamilyOf(OpenModelFolder(options.from)).kind == TextEncoder::kKind;
  if (!texts_alone) return TrainOnImages(options, observer);
  CheckOfTexts(options);
  return TrainOnSimilarTexts(options, observer);
}

}  // namespace headlight
