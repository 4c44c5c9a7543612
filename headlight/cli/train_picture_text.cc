// headlight train picture-text-pretraining: masked words, masked regions, and whether a text and a picture belong
// together.
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/region_training.h"
#include "headlight/data/picture_texts.h"
#include "headlight/models/family.h"
#include "headlight/train/tasks/picture_text_pretraining.h"

namespace headlight::train_picture_text {
namespace {

// The pairs of a share, which is chosen by the pictures' paths.
PictureTextList Read(const std::vector<std::string>& paths, const TextShare& share, const char* purpose,
                     TrainingProgress& progress) {
  PictureTextList all = ListPictureTexts(paths), some;
  std::size_t texts = 0;
  for (std::size_t i = 0; i < all.sources.size(); ++i) {
    if (!share.Has(all.sources[i].path)) continue;
    texts += all.texts[i].size();
    some.sources.push_back(std::move(all.sources[i]));
    some.texts.push_back(std::move(all.texts[i]));
  }
  CheckNotEmpty(texts, "texts", paths, share);
  progress.Note(
      fmt::format("{}: {} texts of {} pictures to {}", fmt::join(paths, ", "), texts, some.sources.size(), purpose));
  return some;
}

PictureTextPairs SetOf(const PictureTextList& read, const PipelineTokenizer& tokenizer, const PictureBoxes& boxes,
                       const RegionTextEncoder& model) {
  PictureTextPairs set;
  std::vector<std::string> paths;
  for (const PictureSource& source : read.sources) paths.push_back(source.path);
  set.pictures = RegionsOf(paths, boxes, model);
  const std::int64_t longest = model.limits().positions;
  for (std::size_t picture = 0; picture < paths.size(); ++picture)
    for (const std::string& text : read.texts[picture]) {
      PictureText pair{EncoderExample(text, tokenizer), picture};
      Check(std::ssize(pair.text.ids) <= longest, "{}: a text of {} tokens, of which the model reads {}",
            paths[picture], pair.text.ids.size(), longest);
      set.pairs.push_back(std::move(pair));
    }
  return set;
}

void Run(RegionTrainingOptions& options) {
  const TrainingFolder folder = BeginRegionTraining(options);
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(options.folder());
  PretrainingOptions how;
  SetSpecialTokens(tokenizer, options.folder(), how.masking);
  TrainingProgress progress(Quiet(), "texts");
  const PictureTextList learned = Read(options.train, options.learned(), "learn from", progress);
  const PictureTextList validated = Read(options.validation(), options.validated(), "validate on", progress);
  const PictureBoxes boxes(options.boxes, options.detector);
  std::unique_ptr<RegionTextEncoder> model;
  if (options.from_scratch()) {
    VilbertConfig config = NewVilbertConfig(options, tokenizer.size());
    config.region_classes = std::ssize(boxes.labels());
    config.pretraining = true;
    model = std::make_unique<Vilbert>(config);
    model->parameters().Initialise(options.training.seed);
  } else {
    model = LoadModel<RegionTextEncoder>(options.from, {.dropout = options.chosen_dropout()});
    // The folder does not name them: another number of classes is certainly other classes.
    Check(!model->pair_heads().regions || model->limits().region_classes == std::ssize(boxes.labels()),
          "{}: the model was trained on {} classes of boxes, and these have {}", options.from,
          model->limits().region_classes, boxes.labels().size());
  }
  how.batches = options.batches;
  const PictureTextPairs train = SetOf(learned, tokenizer, boxes, *model),
                         valid = SetOf(validated, tokenizer, boxes, *model);
  Hash64 hash;
  AddToHash(hash, train.pictures);
  for (const PictureText& pair : train.pairs) {
    const std::uint64_t parts[] = {HashOfTexts({pair.text}), pair.picture};
    hash.Update({reinterpret_cast<const char*>(parts), sizeof(parts)});
  }
  RunRegionTraining(PictureTextPretraining(*model, train, valid, how), options, "picture-text-pretraining",
                    "headlight train visual-question-answering --from", hash.value(), progress);
}

}  // namespace

void Add(Command& train) {
  const auto options = std::make_shared<RegionTrainingOptions>();
  Command& command = train.AddCommand("picture-text-pretraining",
                                      "Pre-train a model of texts with pictures' regions (from scratch a ViLBERT)");
  AddRegionTrainingOptions(command, *options,
                           "Pictures with texts to train on: JSON lines or CSV of path and text, a .tsv file of them, "
                           "COCO's captions (.json), or a folder with a .txt file beside each picture",
                           "Texts per batch");
  command.footer =
      "\nThe model learns to fill in masked words and to name masked regions, whose classes are those of the boxes, "
      "each\n"
      "from the rest of the text and of the picture, and to tell whether both belong together: every second text is "
      "that\n"
      "of another picture. Its encoder is then one to go on from.\n\n"
      "Example:\n"
      "  headlight train picture-text-pretraining --train scenes/captions.en.jsonl --valid more/captions.en.jsonl \\\n"
      "    --boxes scenes/annotations.json more/annotations.json --tokenizer tokens --out pretrained";
  command.run = [options] { Run(*options); };
}

}  // namespace headlight::train_picture_text
