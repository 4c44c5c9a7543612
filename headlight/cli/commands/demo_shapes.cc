#include "headlight/cli/commands/demo_shapes.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/train/training_command.h"
#include "headlight/data/images.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/decoding/encode.h"
#include "headlight/inspect/attention_page.h"
#include "headlight/inspect/drawing/image_drawing.h"
#include "headlight/inspect/image_attention.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/image_classifier.h"
#include "headlight/recipes/image_training.h"
#include "headlight/synthetic/scene_files.h"
#include "headlight/train/objectives/image_classification.h"

namespace headlight {
namespace {

constexpr std::int64_t kSide = 32, kPatch = 4;  // pixels
constexpr std::int64_t kTrainingDrawings = 16000, kTestDrawings = 600;
constexpr SceneOptions kDrawings = {
    .height = kSide, .width = kSide, .smallest = 0.25, .largest = 0.42, .turned = false, .clutter = false};

ImageTraining SettingsOf(const std::string& out, std::int64_t steps, std::uint64_t seed) {
  ImageTraining settings;
  settings.out = out;
  settings.model_dim = 96;
  settings.ffn_dim = 192;
  settings.heads = 4;
  settings.layers = 4;
  settings.image_size = kSide;
  settings.patch_size = kPatch;
  settings.batch = 48;
  settings.steps = steps;
  settings.warmup = steps / 10;
  settings.validate_every = steps;
  settings.log_every = 100;
  settings.seed = seed;
  return settings;
}

ImageSet ReadShapes(const std::string& prefix) {
  std::vector<std::string> numbers;
  return {ListLabeledImages({prefix + "-images-idx4-ubyte", prefix + "-labels-idx1-ubyte"}, numbers, NewLabels::added),
          [](std::span<const std::byte> file, const std::string& name) { return DecodeImage(file, name); }};
}

}  // namespace

void LearnShapes(const std::string& out, std::int64_t steps, std::uint64_t seed) {
  const std::string model = out + "/model", drawings = out + "/train", tests = out + "/test";
  std::filesystem::create_directories(model);
  WriteShapes(drawings, kTrainingDrawings, seed, kDrawings);
  WriteShapes(tests, kTestDrawings, seed + 1, kDrawings);
  const ImageSet train = ReadShapes(drawings), test = ReadShapes(tests);
  Note("{} images of shapes are generated for training, and {} for the test", train.size(), test.size());

  ImageTraining settings = SettingsOf(model, steps, seed);
  const TrainingPlan plan = CompleteTraining(settings, kImageDefaults, /*validates=*/false);
  const std::unique_ptr<ImageEncoder> vit = NewImageModel(settings, plan, SceneLabels());
  const ImageProcessor processor = ProcessorOf(settings);
  ImageClassificationOptions options;
  options.batches = plan.batches;
  options.augmentation.flip = 0.5;
  const TrainingTask task = ImageClassificationTask(*vit, processor, train, test, options);
  RunTrainingCommand(settings, "headlight classify", [&](const TrainingObserver& observer) {
    return RunImageTraining(task, settings, plan, "image-classification", "images", train.hash(), Json::Object{}, *vit,
                            observer);
  });

  const ImageClassifier classifier = ImageClassifier::Load(model);
  std::vector<Image> images;
  for (std::int64_t i = 0; i < test.size(); ++i) images.push_back(test[i]);
  const Tensor scores = classifier.Scores(images);
  std::int64_t right = 0;
  std::size_t shown = 0;  // index of the correctly classified star with the highest score
  float surest = 0;
  for (std::int64_t i = 0; i < test.size(); ++i) {
    const float* const row = scores.matrix<float>().row(i);
    const std::int64_t named = std::max_element(row, row + scores.columns()) - row;
    if (named != test.label(i)) continue;
    ++right;
    if (SceneLabels()[static_cast<std::size_t>(named)] == "star" && row[named] > surest) {
      surest = row[named];
      shown = static_cast<std::size_t>(i);
    }
  }
  WriteResult(fmt::format("A ViT trained on drawings names {} of {} held-out shapes: {:.1f}%\n", right, test.size(),
                          100.0 * static_cast<double>(right) / static_cast<double>(test.size())));

  const std::string star = out + "/star.png", page = out + "/attention.html", sheet = out + "/attention.png";
  WritePng(star, images[shown]);
  AttentionRecord record =
      AttentionOf(*LoadModel<ImageEncoder>(model, {.purpose = LoadFor::computing}), processor, images[shown]);
  AddRollout(record);
  record.title = star;
  WriteFile(page, AttentionPage(record));
  DrawImageAttention(record, {}, sheet);
  WriteResult(fmt::format("The attention of all heads over {} is in {} and {}\n", star, page, sheet));
}

}  // namespace headlight
