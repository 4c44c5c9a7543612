// headlight train text-to-picture.
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/base/parallel.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/model_training.h"
#include "headlight/cli/output.h"
#include "headlight/cli/picture_training.h"
#include "headlight/cli/training_folder.h"
#include "headlight/data/picture_texts.h"
#include "headlight/image/processor.h"
#include "headlight/io/coder_folder.h"
#include "headlight/io/model_folder.h"
#include "headlight/kinds/picture_coder.h"
#include "headlight/models/dalle.h"
#include "headlight/models/family.h"
#include "headlight/tasks/drawer_text.h"
#include "headlight/train/tasks/text_to_picture.h"

namespace headlight::train_text_to_picture {
namespace {

struct Options : ModelTrainingOptions {
  Options() {
    sizes = {.model = 256, .heads = 4, .layers = 8};
    batches.batch_tokens = 32;  // pairs
  }

  std::vector<std::string> images;
  std::string vae, tokenizer;
  std::int32_t text_positions = 32;
  double drop_text = 0;
  bool skip_errors = false;
  std::vector<std::string> attention;

  const std::string& text_folder() const { return from.empty() ? tokenizer : from; }
  std::string coder_folder() const { return from.empty() ? vae : from + "/vae"; }
};

// The names repeated for all layers; without any those of the paper: "column attention where (i - 2) mod 4 = 0 and row
// attention otherwise, the last self-attention layer uses the convolutional" one (appendix B.1), i from 1.
std::vector<GridAttentionKind> KindsOf(const std::vector<std::string>& names, int layers) {
  std::vector<GridAttentionKind> kinds;
  for (int layer = 0; layer < layers; ++layer) {
    if (names.empty()) {
      kinds.push_back(layer + 1 == layers ? GridAttentionKind::convolution
                      : layer % 4 == 1    ? GridAttentionKind::column
                                          : GridAttentionKind::row);
    } else {
      const std::string& name = names[static_cast<std::size_t>(layer) % names.size()];
      kinds.push_back(std::ranges::find(kGridAttentionNames, name, &ConfigName<GridAttentionKind>::name)->value);
    }
  }
  return kinds;
}

std::unique_ptr<DrawingModel> ModelOf(const Options& options, const PipelineTokenizer& tokenizer,
                                      const PictureCoder& coder) {
  if (!options.from_scratch()) return LoadModel<DrawingModel>(options.from, {.dropout = options.chosen_dropout()});
  Check(options.sizes.model % options.sizes.heads == 0, "--heads {} must divide --model-dim {}", options.sizes.heads,
        options.sizes.model);
  DalleConfig config;
  config.text_vocabulary = tokenizer.size();
  config.text_positions = options.text_positions;
  config.codes = coder.limits().codes;
  config.side = static_cast<std::int32_t>(coder.limits().grid().width);
  config.model = options.sizes.model;
  config.layers = options.sizes.layers;
  config.heads = options.sizes.heads;
  config.head_dim = config.model / config.heads;
  config.ffn = options.sizes.inner();
  config.kinds = KindsOf(options.attention, config.layers);
  config.dropout = options.new_dropout();
  config.attention_dropout = options.new_attention_dropout();
  auto model = std::make_unique<Dalle>(config);
  model->parameters().Initialise(options.training.seed);
  return model;
}

// The pictures in the coder's codes, and the texts in the tokenizer's ids.
DrawnTexts InCodes(const PictureTextSet& pairs, const PictureCoder& coder, const PipelineTokenizer& tokenizer,
                   std::int32_t positions) {
  const std::int64_t at_once = PicturesAtOnce(coder);
  const PictureProcessor processor = CentreSquare(coder.limits().picture);
  DrawnTexts drawn = {.cells = coder.limits().grid().cells()};
  for (std::int64_t begin = 0; begin < pairs.size(); begin += at_once) {
    std::vector<Tensor> pictures(static_cast<std::size_t>(std::min(at_once, pairs.size() - begin)));
    ParallelFor(std::ssize(pictures), [&](std::int64_t i) {
      pictures[static_cast<std::size_t>(i)] = processor.Values(processor.Fit(pairs[begin + i]));
    });
    const std::vector<std::int32_t> codes = CodesOf(coder, pictures);
    drawn.codes.insert(drawn.codes.end(), codes.begin(), codes.end());
    for (std::int64_t i = begin; i < begin + std::ssize(pictures); ++i) {
      std::vector<std::vector<std::int32_t>>& texts = drawn.texts.emplace_back();
      for (const std::string& text : pairs.texts(i))
        texts.push_back(DrawingIds(tokenizer, text, positions, pairs.name(i)));
    }
  }
  return drawn;
}

// Of all that is learned from: another coder or tokenizer than the one that a training began with is another corpus.
std::uint64_t HashOf(const DrawnTexts& pairs) {
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

void Run(Options& options) {
  if (!options.from_scratch()) CheckKind<DrawingModel>(options.from);
  CompleteModelTraining(options);
  Check(!options.from_scratch() || (!options.vae.empty() && !options.tokenizer.empty()),
        "either --from DIR, to train a model further, or --vae DIR and --tokenizer DIR, for one from scratch");
  const TrainingFolder folder(options.out, options.resume);
  TrainingProgress progress(Quiet(), "pairs");
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(options.text_folder());
  const auto coder = LoadModel<PictureCoder>(options.coder_folder(), {.purpose = LoadFor::computing});
  const std::unique_ptr<DrawingModel> model = ModelOf(options, tokenizer, *coder);
  const auto read = [&](const std::vector<std::string>& paths, const TextShare& share, const char* purpose) {
    const PictureTextSet pairs =
        ReadPictureTextSet(ListPictureTexts(paths, options.images), options.skip_errors, progress, share);
    CheckNotEmpty(static_cast<std::size_t>(pairs.size()), "pictures", paths, share);
    progress.Note(fmt::format("{}: {} pictures with {} texts to {}", fmt::join(paths, ", "), pairs.size(),
                              pairs.text_count(), purpose));
    return InCodes(pairs, *coder, tokenizer, model->drawing().text_positions);
  };
  const DrawnTextSets pairs = {read(options.train, options.learned(), "learn from"),
                               read(options.validation(), options.validated(), "validate on")};
  const TrainingTask task = TextToPictureTask(*model, pairs, options.batches, options.drop_text);
  Json of = Json::Object{{"batch_size", options.batches.batch_tokens}};
  if (options.drop_text > 0) of.Set("drop_text", options.drop_text);
  if (options.from_scratch()) {
    of.Set("text_positions", options.text_positions);
    of.Set("attention", Json::Array(options.attention.begin(), options.attention.end()));
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
  RunModelTraining(task, options, "text-to-picture", "headlight draw", HashOf(pairs.train), std::move(of), save,
                   progress);
}

}  // namespace

void Add(Command& train) {
  const auto options = std::make_shared<Options>();
  Command& command = train.AddCommand("text-to-picture", "Train a DALL-E, which draws pictures from texts");
  Option& from = AddModelTrainingOptions(
      command, *options,
      {.train = "Pictures with texts to train on: .tsv, .csv or .jsonl files of path and text, COCO's captions as "
                ".json, or folders of pictures with a .txt file beside each",
       .valid = "Pictures with texts to validate on, likewise",
       .from = "Folder of a DALL-E to train further",
       .unit = {"--batch-size", "Pairs per batch"}});
  command.Add("--images", options->images, "Folders of the pictures that COCO's .json files name")
      .Check(ExistingFolder())
      .Type("DIR");
  AddSkipPictures(command, options->skip_errors);
  const auto folder = [&](const char* name, std::string& value, const char* description) {
    command.Add(name, value, description).Check(ExistingFolder()).Excludes(from).Type("DIR");
  };
  folder("--vae", options->vae, "Folder of the discrete VAE of a model from scratch");
  folder("--tokenizer", options->tokenizer, "Folder of its tokenizer");
  AddModelNumber(command, "--text-positions", options->text_positions, Between(1, 1 << 14),
                 "Tokens of the longest text");
  std::vector<std::string> kinds;
  for (const ConfigName<GridAttentionKind>& kind : kGridAttentionNames) kinds.emplace_back(kind.name);
  command
      .Add("--attention", options->attention,
           "Which earlier codes the layers see, repeated for all layers: all, or those of a row, of a column or "
           "of a square [as DALL-E's: row column row row, and last convolution]")
      .Check(OneOf(kinds))
      .Excludes(from)
      .Type(fmt::format("{}", fmt::join(kinds, "|")))
      .Group(kModelGroup);
  command
      .Add("--drop-text", options->drop_text, NumberFrom(0, 1),
           "Share of the pictures that are learned without their text, for the --guidance of `headlight draw`; a tenth "
           "is usual")
      .ShowDefault()
      .Group("Training");
  command.footer =
      "\nA picture's codes are those of the coder (`headlight train picture-codes`), whose folder is copied into the "
      "model's\n"
      "as vae. The loss is (text + 7 * picture) / 8, the mean losses of a text's tokens and of a picture's codes,\n"
      "which validations report beside it as text_loss and picture_loss. Of several texts of a picture each epoch "
      "draws one.\n\n"
      "Examples:\n"
      "  headlight train text-to-picture --train train.tsv --valid val.tsv --vae vae --tokenizer words --out shapes\n"
      "  headlight train text-to-picture --train captions.json --images photos --valid val.tsv --from shapes --out m";
  command.run = [options] { Run(*options); };
}

}  // namespace headlight::train_text_to_picture
