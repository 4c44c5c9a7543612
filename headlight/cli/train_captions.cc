// headlight train captions: models that describe pictures.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/picture_training.h"
#include "headlight/cli/text_training.h"
#include "headlight/data/picture_texts.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/models/vision_encoder_decoder.h"
#include "headlight/text/tokenizers/fast_tokenizer_config.h"
#include "headlight/train/tasks/captions.h"

namespace headlight::train_captions {
namespace {

struct Options : PictureTrainingOptions {
  std::string tokenizer;
  std::vector<std::string> pictures;  // folders where COCO's are looked for
  std::int64_t positions = 64;        // of a decoder from scratch
  double label_smoothing = 0;
  std::int64_t validated_pictures = 500;

  const std::string& folder() const { return from.empty() ? tokenizer : from; }  // of the tokenizer
};

// A ViT and a GPT-2 of the same sizes.
std::unique_ptr<CaptionModel> NewModel(const Options& options, const PipelineTokenizer& tokenizer) {
  const ModelSizes& sizes = options.sizes;
  VisionEncoderDecoderConfig config;
  config.encoder = NewVitConfig(options);
  config.encoder.scope = "";
  GptConfig& decoder = config.decoder;
  decoder.model = sizes.model;
  decoder.layers = sizes.layers;
  decoder.heads = sizes.heads;
  decoder.ffn = sizes.inner();
  decoder.dropout = decoder.embedding_dropout = options.new_dropout();
  decoder.attention_dropout = options.new_attention_dropout();
  decoder.vocabulary = tokenizer.size();
  decoder.positions = options.positions;
  config.start_id = config.end_id = decoder.end_id =
      TokenOf(tokenizer, options.tokenizer, "token that ends a text", {"<|endoftext|>", "</s>", "[SEP]"});
  auto model = std::make_unique<VisionEncoderDecoder>(config);
  model->parameters().Initialise(options.training.seed);
  return model;
}

// The settings of generation: what is written gets no longer than what was learned.
Json NewGenerationConfig(const CaptionModel& model, std::size_t longest) {
  const ConditionalDecoder::Limits& limits = model.limits();
  return Json::Object{{"decoder_start_token_id", limits.start_id},
                      {"eos_token_id", limits.end_id},
                      {"pad_token_id", limits.end_id},
                      {"max_length", std::min<std::int64_t>(static_cast<std::int64_t>(longest) + 2, limits.positions)}};
}

PictureTextSet Read(const Options& options, const std::vector<std::string>& paths, const TextShare& share,
                    const char* purpose, TrainingProgress& progress) {
  PictureTextSet set =
      ReadPictureTextSet(ListPictureTexts(paths, options.pictures), options.skip_errors, progress, share);
  CheckNotEmpty(static_cast<std::size_t>(set.size()), "pictures", paths, share);
  progress.Note(fmt::format("{}: {} pictures with {} captions to {}", fmt::join(paths, ", "), set.size(),
                            set.text_count(), purpose));
  return set;
}

void Run(Options& options) {
  Check(options.from.empty() != options.tokenizer.empty(),
        "either --from DIR, to fine-tune a model, or --tokenizer DIR, for one from scratch");
  const TrainingFolder held = BeginPictureTraining(options, CaptionModel::kKind);
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(options.folder());
  const std::unique_ptr<CaptionModel> model =
      options.from_scratch() ? NewModel(options, tokenizer)
                             : LoadModel<CaptionModel>(options.from, {.dropout = options.chosen_dropout()});
  Check(model->uses().captions, "{}: a model that writes captions is needed, and this one does not", options.from);
  Check(tokenizer.size() <= model->limits().target_vocabulary, "{}: the tokenizer has {} tokens, and the model {}",
        options.folder(), tokenizer.size(), model->limits().target_vocabulary);
  const PictureProcessor processor = ProcessorOf(options);
  TrainingProgress progress(Quiet());
  const PictureTextSet train = Read(options, options.train, options.learned(), "learn from", progress);
  const PictureTextSet valid = Read(options, options.validation(), options.validated(), "validate on", progress);
  const auto encode = [&](const std::string& text) {
    return tokenizer.Encode(text, {.add_special = false, .read_special = false}).ids;
  };
  const TokenizedCaptions learned = TokenizeCaptions(*model, train, encode),
                          validated = TokenizeCaptions(*model, valid, encode);
  const auto decode = [&](std::span<const std::int32_t> ids) { return tokenizer.Decode(ids); };
  const TrainingTask task = CaptionTask(*model, processor, learned, validated, decode,
                                        {.batches = options.batches,
                                         .label_smoothing = options.label_smoothing,
                                         .drop_path = options.drop_path,
                                         .validated = options.validated_pictures});
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
    SaveBesidePictureModel(options, to);
    WriteFastTokenizerConfig(to, TokenizerOfModel{.longest = model->limits().positions});
  };
  Json of = Json::Object{{"batch_size", options.batches.batch_tokens},
                         {"drop_path", options.drop_path},
                         {"label_smoothing", options.label_smoothing}};
  if (options.given("--validate-pictures")) of.Set("validate_pictures", options.validated_pictures);
  if (options.from_scratch()) {
    of.Set("image_size", options.picture);
    of.Set("patch_size", options.patch);
    of.Set("positions", options.positions);
  }
  RunModelTraining(task, options, "captions", "headlight caption", train.hash(), std::move(of), save, progress);
}

}  // namespace

void Add(Command& train) {
  const auto options = std::make_shared<Options>();
  Command& command =
      train.AddCommand("captions", "Train a model that describes pictures (from scratch a ViT with a GPT-2)");
  options->sizes = {.model = 192, .heads = 3, .layers = 6};
  options->tuning_rate = 5e-5;
  AddPictureTrainingOptions(command, *options,
                            "a .tsv, .csv or .jsonl file of path and text, a folder of pictures with a text file "
                            "beside each, or COCO's captions in .json",
                            /*validates=*/true);
  Option& from = command.Get("--from").Describe("Folder of a model of captions to fine-tune");
  command.Get("--batch-size").Describe("Pictures per batch, one for each caption");
  command.Add("--pictures", options->pictures, "Folders of the pictures that a COCO file names [beside it]")
      .Check(NotEmpty())
      .Type("DIR");
  command.Add("--tokenizer", options->tokenizer, "Folder of the tokenizer for a model from scratch")
      .Check(ExistingFolder())
      .Excludes(from)
      .Type("DIR");
  command.Add("--positions", options->positions, Between(2, 1 << 15), "Tokens of the longest caption")
      .Excludes(from)
      .Group(kModelGroup)
      .ShowDefault();
  AddSkipPictures(command, options->skip_errors);
  AddLabelSmoothing(command, options->label_smoothing);
  command
      .Add("--validate-pictures", options->validated_pictures, AtLeast(1),
           "Write captions for the first N pictures of a validation")
      .ShowDefault()
      .Group("Training");
  command.footer =
      "\nJPEG, PNG and WebP are read. A picture with several captions is an example with each. Pictures are resized "
      "and\n"
      "not changed otherwise: a flipped picture has another left and right. A validation's scores are the share of\n"
      "greedy captions that are one of their picture's word for word, and their BLEU against all captions of a "
      "picture.\n"
      "The best model is that of the first, or where none is right of the loss, unless --validate-metric says "
      "otherwise.\n\n"
      "Examples:\n"
      "  headlight train tokenizer --byte-level --vocabulary-size 8000 --out tokens captions.txt\n"
      "  headlight train captions --train train.tsv --valid valid.tsv --tokenizer tokens --image-size 64 --out model\n"
      "  headlight train captions --train captions.json --pictures train2017 --valid val.tsv --from vit-gpt2 --out m\n"
      "  headlight caption model photos/";
  command.run = [options] { Run(*options); };
}

}  // namespace headlight::train_captions
