#include "headlight/recipes/train_image_text.h"

#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/counted.h"
#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/data/image_texts.h"
#include "headlight/models/family.h"
#include "headlight/train/objectives/image_text_pretraining.h"

namespace headlight {
namespace {

// Reads the pairs that `share` selects by their image paths.
ImageTextList Read(const ImageTextTraining& options, const std::vector<std::string>& paths, const TextShare& share,
                   const char* purpose, const TrainingObserver& observer) {
  ImageTextList all = ListImageTexts(paths), some;
  std::vector<std::string> images;
  for (const ImageSource& source : all.sources)
    if (share.Has(source.path)) images.push_back(source.path);
  const std::vector<bool> readable = ReadablePaths(images, options, observer);
  std::size_t texts = 0, own = 0;
  for (std::size_t i = 0; i < all.sources.size(); ++i) {
    if (!share.Has(all.sources[i].path) || !readable[own++]) continue;
    texts += all.texts[i].size();
    some.sources.push_back(std::move(all.sources[i]));
    some.texts.push_back(std::move(all.texts[i]));
  }
  CheckNotEmpty(texts, "texts", paths, share);
  Note(observer, fmt::format("{}: {} of {} to {}", fmt::join(paths, ", "), Counted(texts, "text"),
                             Counted(some.sources.size(), "image"), purpose));
  return some;
}

ImageTextPairs SetOf(const ImageTextList& read, const PipelineTokenizer& tokenizer, const ImageBoxes& boxes,
                     const RegionTextEncoder& model) {
  ImageTextPairs set;
  std::vector<std::string> paths;
  for (const ImageSource& source : read.sources) paths.push_back(source.path);
  set.images = RegionsOf(paths, boxes, model);
  const std::int64_t longest = model.limits().positions;
  for (std::size_t image = 0; image < paths.size(); ++image)
    for (const std::string& text : read.texts[image]) {
      ImageText pair{EncoderExample(text, tokenizer), image};
      Check(std::ssize(pair.text.ids) <= longest, "{}: a text of {} tokens, and the model reads at most {}",
            paths[image], pair.text.ids.size(), longest);
      set.pairs.push_back(std::move(pair));
    }
  return set;
}

std::unique_ptr<RegionTextEncoder> ModelOf(const ImageTextTraining& options, const TrainingPlan& plan,
                                           std::int64_t vocabulary, std::int64_t classes) {
  if (options.from_scratch()) {
    VilbertConfig config = NewVilbertConfig(options, plan, vocabulary);
    config.region_classes = classes;
    config.pretraining = true;
    auto model = std::make_unique<Vilbert>(config);
    model->parameters().Initialize(options.seed);
    return model;
  }
  auto model = LoadModel<RegionTextEncoder>(options.from, {.dropout = options.chosen_dropout()});
  // The folder has no class names, so only the numbers of classes are compared.
  Check(!model->pair_heads().regions || model->limits().region_classes == classes,
        "{}: the model was trained on {} classes of boxes, and these have {}", options.from,
        model->limits().region_classes, classes);
  return model;
}

}  // namespace

void Describe(OptionTable& table, ImageTextTraining& options) {
  Describe(table, options,
           "Images with texts to train on: JSON lines or CSV of path and text, a .tsv file of them, COCO's captions "
           "(.json), or a folder with a .txt file next to each image",
           "Texts per batch");
}

TrainingResult TrainImageText(ImageTextTraining options, const TrainingObserver& observer) {
  const TrainingPlan plan = CompleteTraining(options, kRegionDefaults);
  const TrainingFolder folder = BeginRegionTraining(options);
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(options.tokenizer_folder());
  PretrainingOptions how;
  SetSpecialTokens(tokenizer, options.tokenizer_folder(), how.masking);
  const ImageTextList learned = Read(options, options.train, options.learned(), "train on", observer);
  const ImageTextList validated = Read(options, options.validation(), options.validated(), "validate on", observer);
  const ImageBoxes boxes(options.boxes, options.detector);
  const std::unique_ptr<RegionTextEncoder> model = ModelOf(options, plan, tokenizer.size(), std::ssize(boxes.labels()));
  how.batches = plan.batches;
  const ImageTextPairs train = SetOf(learned, tokenizer, boxes, *model),
                       valid = SetOf(validated, tokenizer, boxes, *model);
  Hash64 hash;
  AddToHash(hash, train.images);
  for (const ImageText& pair : train.pairs) {
    const std::uint64_t parts[] = {HashOfTexts({pair.text}), pair.image};
    hash.Update({reinterpret_cast<const char*>(parts), sizeof(parts)});
  }
  return RunRegionTraining(ImageTextPretraining(*model, train, valid, how), options, plan, "image-text-pretraining",
                           "texts", hash.value(), observer);
}

}  // namespace headlight
