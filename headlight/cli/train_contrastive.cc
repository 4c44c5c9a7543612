// headlight train contrastive: pictures with texts into one space.
#include <fmt/format.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/cli/choice.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/contrastive_training.h"
#include "headlight/cli/output.h"
#include "headlight/cli/picture_training.h"
#include "headlight/cli/training_folder.h"
#include "headlight/cli/training_run.h"
#include "headlight/data/picture_texts.h"
#include "headlight/io/model_folder.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/models/clip.h"
#include "headlight/models/family.h"
#include "headlight/models/siglip.h"
#include "headlight/text/tokenizers/fast_tokenizer_config.h"
#include "headlight/train/tasks/contrastive.h"

namespace headlight::train_contrastive {
namespace {

using Architecture = ContrastiveTrainingOptions::Architecture;
using Options = ContrastiveTrainingOptions;

// How a picture is prepared: as CLIP's and SigLIP's processors say it.
Json NewPreprocessorConfig(const Options& options) {
  const std::int64_t side = options.picture;
  const Json::Object square = {{"height", side}, {"width", side}};
  const bool clip = options.architecture == Architecture::clip;
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

// The sizes of both towers, as far as they are alike.
template <typename Config>
void SetSizes(const Options& options, const PipelineTokenizer& tokenizer, Config& config) {
  const ModelSizes& sizes = options.sizes;
  auto& picture = *config.picture;
  picture.model = sizes.model;
  picture.layers = sizes.layers;
  picture.heads = sizes.heads;
  picture.ffn = sizes.inner();
  picture.picture = {options.picture, options.picture};
  picture.patch = {options.patch, options.patch};
  auto& text = *config.text;
  text.model = options.text_model.value_or(sizes.model);
  text.layers = options.text_layers.value_or(sizes.layers);
  text.heads = options.text_heads.value_or(sizes.heads);
  text.ffn = options.text_model ? 4 * text.model : sizes.inner();
  text.vocabulary = tokenizer.size();
  text.positions = options.positions;
  picture.attention_dropout = text.attention_dropout = options.new_attention_dropout();
}

// The token that ends every text, in whose state a CLIP sums it up.
std::int32_t EndOf(const Options& options, const PipelineTokenizer& tokenizer) {
  const std::vector<std::int32_t> ids = tokenizer.Encode("a").ids;
  Check(!ids.empty() && tokenizer.IsSpecial(ids.back()),
        "{}: the tokenizer puts no special token behind a text, by which a CLIP reads it: one of `headlight train "
        "tokenizer --algorithm wordpiece` or unigram does",
        options.tokenizer);
  Check(ids.back() != kLargestIdEnds,
        "{}: the token behind a text, {}, has the id 2, which a CLIP's configuration reads as the token of the largest "
        "id",
        options.tokenizer, Quoted(tokenizer.Piece(ids.back())));
  return ids.back();
}

std::unique_ptr<DualEncoder> NewModel(const Options& options, const PipelineTokenizer& tokenizer) {
  std::unique_ptr<DualEncoder> model;
  if (options.architecture == Architecture::clip) {
    ClipConfig config;
    SetSizes(options, tokenizer, config);
    config.vector = options.vector.value_or(options.sizes.model);
    config.text->end_id = EndOf(options, tokenizer);
    model = std::make_unique<Clip>(config);
  } else {
    Check(!options.vector, "--vector-dim: a SigLIP's vectors have the size of its pictures' tower, --model-dim");
    SiglipConfig config;
    SetSizes(options, tokenizer, config);
    config.text->vector = options.sizes.model;
    model = std::make_unique<Siglip>(config);
  }
  model->parameters().Initialise(options.training.seed);
  return model;
}

PictureProcessor ProcessorOf(const Options& options) {
  return options.from_scratch()
             ? ReadPictureProcessor(JsonView(NewPreprocessorConfig(options), "preprocessor_config.json"))
             : LoadPictureProcessor(options.from);
}

void Save(const Options& options, const DualEncoder& model, const std::string& to) {
  model.Save(to);
  if (!options.from_scratch()) return CopyBesideModel(options.from, to);
  CopyTokenizer(options.tokenizer, to);
  WriteFastTokenizerConfig(to, TokenizerOfModel{.longest = model.limits().positions});
  WriteFile(to + "/preprocessor_config.json", NewPreprocessorConfig(options).Text());
}

// Options of one kind of training are refused in the other.
void RefuseOptions(const Options& options, std::initializer_list<const char*> names, const char* kind) {
  for (const char* name : names) Check(!options.given(name), "{}: is not for {}", name, kind);
}

void Run(Options& options) {
  Check(options.from.empty() != options.tokenizer.empty(),
        "either --from DIR, to fine-tune a model, or --tokenizer DIR, for one from scratch");
  const bool texts_alone = options.from_scratch() ? options.architecture == Architecture::bert
                                                  : FamilyOf(OpenModelFolder(options.from)).kind == TextEncoder::kKind;
  if (texts_alone) {
    RefuseOptions(options,
                  {"--pictures", "--skip-errors", "--random-resized-crop", "--image-size", "--patch-size",
                   "--text-layers", "--text-model-dim", "--text-heads", "--vector-dim"},
                  "a training of texts with texts");
    return TrainOnSimilarTexts(options);
  }
  RefuseOptions(options, {"--scale"}, "pictures with texts, whose temperature is learned");
  if (!options.from_scratch()) CheckKind<DualEncoder>(options.from);
  Check(options.picture % options.patch == 0, "--image-size {}: is not a multiple of --patch-size {}", options.picture,
        options.patch);
  CompleteModelTraining(options);
  const TrainingFolder folder(options.out, options.resume);
  options.contrastive.batches = options.batches;

  const std::string& tokens = options.tokenizer_folder();
  std::unique_ptr<DualEncoder> model;
  if (options.from_scratch())
    model = NewModel(options, PipelineTokenizer::Load(tokens));
  else
    model = LoadModel<DualEncoder>(options.from, {.dropout = options.chosen_dropout()});
  const WholeTexts texts = WholeTexts::Load(tokens, model->limits().positions, model->limits().filled);
  Check(texts.tokenizer.size() <= model->limits().vocabulary, "{}: the tokenizer has {} tokens, and the model {}",
        tokens, texts.tokenizer.size(), model->limits().vocabulary);

  TrainingProgress progress(Quiet(), "pairs");
  const auto read = [&](const std::vector<std::string>& paths, const TextShare& share, const char* purpose) {
    PictureTextSet set =
        ReadPictureTextSet(ListPictureTexts(paths, options.pictures), options.skip_errors, progress, share);
    CheckNotEmpty(static_cast<std::size_t>(set.size()), "pictures with texts", paths, share);
    progress.Note(fmt::format("{}: {} pictures with {} texts to {}", fmt::join(paths, ", "), set.size(),
                              set.text_count(), purpose));
    if (const std::int64_t cut = CountCutTexts(texts, set); cut > 0)
      progress.Note(
          fmt::format("{} of them are longer than the {} tokens that the model reads: their ends are left out", cut,
                      texts.longest));
    return set;
  };
  const PictureTextSet train = read(options.train, options.learned(), "learn from");
  const PictureTextSet valid = read(options.validation(), options.validated(), "validate on");
  const TrainingTask task = ContrastiveTask(*model, ProcessorOf(options), texts, train, valid, options.contrastive);
  Json of = Json::Object{{"batch_size", options.batches.batch_tokens},
                         {"least_share", options.contrastive.least_share},
                         {"part_size", options.contrastive.part}};
  if (options.from_scratch()) {
    of.Set("architecture", options.architecture == Architecture::clip ? "clip" : "siglip");
    of.Set("image_size", options.picture);
    of.Set("patch_size", options.patch);
    of.Set("positions", options.positions);
    of.Set("text_layers", options.text_layers ? Json(*options.text_layers) : Json());
    of.Set("text_model_dim", options.text_model ? Json(*options.text_model) : Json());
    of.Set("text_heads", options.text_heads ? Json(*options.text_heads) : Json());
    of.Set("vector_dim", options.vector ? Json(*options.vector) : Json());
  }
  RunModelTraining(
      task, options, "contrastive", "headlight embed", train.hash(), std::move(of),
      [&](const std::string& to) { Save(options, *model, to); }, progress);
}

}  // namespace

void Add(Command& train) {
  const auto options = std::make_shared<Options>();
  Command& command = train.AddCommand("contrastive", "Train pictures with texts, or texts with texts, into one space");
  // Of the paper's appendix F.
  options->training.adam.beta2 = 0.98;
  options->training.adam.epsilon = 1e-6;
  options->training.adam.weight_decay = 0.2;
  Option& from = AddModelTrainingOptions(
      command, *options,
      {.train =
           "Pictures with texts to train on: a .tsv of path and text, a .csv or .jsonl file, COCO's captions .json, "
           "or a folder of pictures with a .txt beside each",
       .valid = "Pictures with texts to validate on, likewise",
       .from = "Folder of a CLIP or SigLIP to fine-tune, with its tokenizer",
       .unit = {"--batch-size", "Pairs per batch, which are compared with each other"}});
  AddSkipPictures(command, options->skip_errors);
  command.Add("--pictures", options->pictures, "Folders of COCO's pictures, unless they lie beside the file")
      .Check(ExistingFolder())
      .Type("DIR");
  command.Add("--tokenizer", options->tokenizer, "Folder of the tokenizer for a model from scratch")
      .Check(ExistingFolder())
      .Excludes(from)
      .Type("DIR");
  AddChoice<Architecture>(
      command, "--architecture", options->architecture,
      {{"clip", Architecture::clip}, {"siglip", Architecture::siglip}, {"bert", Architecture::bert}},
      "Pictures with texts by a softmax over the batch or a sigmoid for each pair; or texts with "
      "texts")
      .Excludes(from)
      .Group(kModelGroup);
  const auto add_size = [&](const char* name, auto& value, std::int64_t most, const char* description) -> Option& {
    return command.Add(name, value, Between(1, most), description).Excludes(from).Group(kModelGroup);
  };
  add_size("--image-size", options->picture, 4096, "Pixels of a side, to which pictures are resized").ShowDefault();
  add_size("--patch-size", options->patch, 4096, "Pixels of a patch's side").ShowDefault();
  add_size("--positions", options->positions, 1 << 15, "Tokens of the longest text; a longer one is cut").ShowDefault();
  add_size("--text-layers", options->text_layers, 1024, "Layers of the texts' tower [--layers]");
  add_size("--text-model-dim", options->text_model, 1 << 15, "Size of its embeddings and layers [--model-dim]");
  add_size("--text-heads", options->text_heads, 1 << 15, "Its attention heads [--heads]");
  add_size("--vector-dim", options->vector, 1 << 15, "Size of the common space of a CLIP [--model-dim]");
  command
      .Add("--part-size", options->contrastive.part, AtLeast(1),
           "Pairs whose activations are in memory at a time; a larger batch is computed twice, with the same result")
      .ShowDefault()
      .Group("Training");
  command
      .Add("--random-resized-crop", options->contrastive.least_share, NumberAbove(0, 1),
           "Learn from random regions that have at least this share of a picture; 1: from the whole")
      .ShowDefault()
      .Group("Training");
  command.Add("--scale", options->scale, NumberAbove(0), "Of texts with texts: factor of the cosines [20]")
      .Group("Training");
  Describe(command, "--learning-rate", "Peak learning rate [0.001; with --from 0.00001]");  // in place of 1e-05
  command.footer =
      "\nA picture with several texts is learned with another one in each epoch. The temperature is learned. "
      "Validated\n"
      "among blocks of 1,000 pairs by recall, the share in per cent of pictures that find their own text first and of\n"
      "texts that find their own picture (text_recall, picture_recall), or find it among the first ten.\n"
      "Records may name \"near_misses\", as many as captions: texts that are nearly those and false of the picture, "
      "from\n"
      "which all pictures of a batch must tell their own, too, and which validations have among the 1,000.\n\n"
      "An encoder of texts (--from one, or --architecture bert) learns from a text, a tab, its match and perhaps tabs "
      "and\n"
      "hard negatives a line, or JSON lines of {\"anchor\", \"positive\", \"negatives\"}, and becomes a folder that\n"
      "sentence-transformers loads.\n\n"
      "Examples:\n"
      "  headlight train tokenizer --algorithm wordpiece --vocabulary-size 4000 --out tokens captions.txt\n"
      "  headlight train contrastive --train pairs.tsv --valid more.tsv --tokenizer tokens --image-size 64 --out "
      "model\n"
      "  headlight train contrastive --train captions.json --pictures photos --valid val.json --from clip --out model\n"
      "  headlight train contrastive --train questions.tsv --validate-split 0.05 --from bert --out sentences\n"
      "  headlight classify model photo.jpg --labels 'a red circle' 'a blue square'";
  command.run = [options] { Run(*options); };
}

}  // namespace headlight::train_contrastive
