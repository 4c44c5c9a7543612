// headlight train self-distillation: features of pictures without labels, by DINO.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/cli/augmented_page.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/picture_batches.h"
#include "headlight/cli/picture_training.h"
#include "headlight/data/batches.h"
#include "headlight/data/pictures.h"
#include "headlight/image/augment.h"
#include "headlight/models/family.h"
#include "headlight/train/tasks/image_classification.h"
#include "headlight/train/tasks/self_distillation.h"

namespace headlight::train_self_distillation {
namespace {

struct Options : PictureTrainingOptions {
  SelfDistillationOptions distillation;
  MultiCrop crops{.global_size = 0, .local_size = 0};  // 0: by the model
  double final_weight_decay = 0.4;
  std::vector<std::string> labelled;
  std::string show_augmented;
};

// DINO's own (Caron et al., 2021, section 3.2), but for the prototypes: the paper's 65,536 are for a million pictures.
void SetDefaults(Options& options) {
  options.drop_path = 0.1;
  options.batches.batch_tokens = 64;
  options.distillation.head.prototypes = 4096;
  options.training.adam.clip_parameter_norm = 3;
}

std::unique_ptr<PictureEncoder> NewModel(const Options& options) {
  if (options.from_scratch()) return NewPictureModel(options, {});
  const auto model = LoadModel<PictureEncoder>(options.from, {.dropout = options.chosen_dropout()});
  Check(model->limits().channels == 3, "{}: the model reads {} channels, and pictures have 3", options.from,
        model->limits().channels);
  return GiveClasses(*model, {}, options.training.seed);
}

// The sizes that are not given, and whether the model reads them.
void CompleteCrops(const PictureEncoder::Limits& limits, const PictureProcessor& processor, MultiCrop& crops) {
  const std::int64_t patch = std::max(limits.patch.height, limits.patch.width);
  if (crops.global_size == 0) {
    const PictureSize size = FixedSize(processor);
    crops.global_size = std::min(size.height, size.width);
  }
  if (crops.local_size == 0) crops.local_size = std::max(patch, crops.global_size * 3 / 7 / patch * patch);
  for (const auto& [option, size] :
       {std::pair("--global-size", crops.global_size), std::pair("--local-size", crops.local_size)})
    Check(size >= patch, "{} {}: a crop is smaller than a patch of {} pixels", option, size, patch);
  Check(crops.local_share.least <= crops.global_share.least,
        "--local-share {}: a local crop would show more of the picture than a global one, which has --global-share {}",
        crops.local_share.least, crops.global_share.least);
  crops.local_share.most = crops.global_share.least;
}

DistilledPictures CropsOf(const PictureSet& pictures, const PictureProcessor& processor, const Options& options) {
  return {.count = pictures.size(),
          .crops =
              [&](std::int64_t picture, std::int64_t epoch) {
                Random random = RandomOfExample(options.training.seed, epoch, picture);
                std::vector<Tensor> crops;
                for (const Picture& crop : RandomCrops(pictures[picture], options.crops, random))
                  crops.push_back(processor.Values(crop));
                return crops;
              },
          .whole = [&](std::int64_t picture) { return processor.Values(processor.Fit(pictures[picture])); }};
}

void Run(Options& options) {
  for (const char* name : {"--average-decay", "--average-last"})
    Check(!options.given(name), "{}: the teacher, which is saved, is a moving average already (--teacher-momentum)",
          name);
  for (const char* name : {"--patience", "--validate-metric"})
    Check(!options.given(name) || !options.labelled.empty(),
          "{} needs --labelled: without labels no score tells which model is better", name);
  Check(!options.given("--local-size") || options.crops.locals > 0, "--local-size: --local-crops 0 makes none");
  CompletePictureSizes(options);
  const TrainingFolder folder = BeginPictureTraining(options);
  CheckAugmentedPage(options.show_augmented, options.inputs());
  TrainingOptions& training = options.training;
  Check(!options.given("--final-weight-decay") || FallsToZero(training.schedule.kind),
        "--final-weight-decay needs --schedule cosine or linear");
  if (!options.given("--learning-rate") && options.from_scratch())
    training.schedule.peak = 5e-4 * static_cast<double>(options.batches.batch_tokens) / 256;
  training.final_weight_decay = options.final_weight_decay;
  options.distillation.drop_path = options.drop_path;
  options.distillation.batches = options.batches;
  CheckSelfDistillation(options.distillation);
  const std::unique_ptr<PictureEncoder> student = NewModel(options), teacher = NewModel(options);
  const PictureProcessor processor = ProcessorOf(options);
  CompleteCrops(student->limits(), processor, options.crops);

  TrainingProgress progress(Quiet(), "pictures");
  std::vector<std::string> labels;
  PictureList list;
  if (!options.labelled.empty()) list = ListLabelledPictures(options.labelled, labels, NewLabels::added);
  std::vector<PictureSource> unlabelled = ListUnlabelledPictures(options.train);
  for (const std::vector<PictureSource>* sources : {&unlabelled, &list.sources})
    CheckNoPicture("--show-augmented", options.show_augmented, *sources);
  const PictureSet train = ReadPictureSet({std::move(unlabelled), {}}, options.skip_errors, progress);
  progress.Note(fmt::format("{}: {} pictures to learn from", fmt::join(options.train, ", "), train.size()));
  const PictureSet labelled = ReadPictureSet(list, options.skip_errors, progress);

  SelfDistillation distillation(*student, *teacher, options.distillation);
  teacher->parameters().SetCompute(Chosen(options.compute));
  const DistilledPictures learned = CropsOf(train, processor, options);
  if (!options.show_augmented.empty()) {
    WriteFile(options.show_augmented,
              AugmentedPage(
                  learned, [&](std::int64_t i) { return std::filesystem::path(train.name(i)).filename().string(); },
                  processor));
    progress.Note(fmt::format("{}: a page of pictures as the model sees them", options.show_augmented));
  }
  DistilledPictures validated = learned;
  if (options.labelled.empty()) {
    validated.count = std::min<std::int64_t>(learned.count, 256);
  } else {
    validated = CropsOf(labelled, processor, options);
    validated.classes = list.labels;
    progress.Note(fmt::format("{}: {} pictures of {} classes to validate on", fmt::join(options.labelled, ", "),
                              labelled.size(), labels.size()));
  }
  const SelfDistillationOptions& d = options.distillation;
  Json of = Json::Object{{"final_weight_decay", options.final_weight_decay},
                         {"clip_parameter_norm", training.adam.clip_parameter_norm},
                         {"global_size", options.crops.global_size},
                         {"local_size", options.crops.local_size},
                         {"local_crops", options.crops.locals},
                         {"global_share", options.crops.global_share.least},
                         {"local_share", options.crops.local_share.least},
                         {"prototypes", d.head.prototypes},
                         {"head_dim", d.head.hidden},
                         {"teacher_temperature", d.teacher_temperature},
                         {"teacher_warmup", d.warmup_epochs},
                         {"teacher_momentum", d.teacher_momentum},
                         {"frozen_prototypes", d.frozen_epochs},
                         {"labelled_hash", fmt::format("{:016x}", labelled.hash())}};
  RunPictureTraining(distillation.Task(learned, validated), options, "self-distillation", "headlight embed",
                     train.hash(), std::move(of), *teacher, progress);
}

}  // namespace

void Add(Command& train) {
  const auto options = std::make_shared<Options>();
  Command& command = train.AddCommand(
      "self-distillation", "Learn features of pictures without labels, by DINO (from scratch a ViT or a ResNet)");
  SetDefaults(*options);
  AddPictureTrainingOptions(
      command, *options,
      "files, folders, patterns, IDX files, or .csv, .jsonl and .tsv files of paths; labels are ignored",
      /*validates=*/false);
  AddSkipPictures(command, options->skip_errors);
  AddResnetOptions(command, *options);
  options->training.adam.weight_decay = 0.04;
  options->training.adam.clip_norm = 0;
  const auto describe = [&](const char* name, const char* value, const char* description) {
    command.Get(name).Default(value).Describe(description);
  };
  describe("--learning-rate", "", "Peak learning rate [0.0005 for 256 pictures per batch; with --from 0.0001]");
  describe("--weight-decay", "0.04", "AdamW's weight decay at the start");
  describe("--clip-norm", "0", "Clip the gradient of all parameters together to this norm; 0: do not clip");
  command
      .Add("--labelled", options->labelled,
           "Labelled pictures, as image-classification reads them, for the k-NN accuracy that validations report")
      .Type("FILE");
  const auto add = [&](const char* name, auto& value, const OptionCheck& check, const char* description) -> Option& {
    return command.Add(name, value, check, description).Group("Self-distillation");
  };
  const auto add_with_default = [&](const char* name, auto& value, const OptionCheck& check, const char* description) {
    add(name, value, check, description).ShowDefault();
  };
  SelfDistillationOptions& distillation = options->distillation;
  add("--global-size", options->crops.global_size, Between(1, 4096),
      "Pixels per side of the two global crops [as the model's pictures]");
  add("--local-size", options->crops.local_size, Between(1, 4096),
      "Pixels per side of the local crops [3/7 of the global ones, in whole patches]");
  add_with_default("--local-crops", options->crops.locals, Between(0, 64), "Local crops per picture");
  add_with_default("--global-share", options->crops.global_share.least, NumberAbove(0, 1),
                   "Global crops have this share of the picture's area or more, local ones less");
  add_with_default("--local-share", options->crops.local_share.least, NumberAbove(0, 1),
                   "Local crops have this share of the picture's area or more");
  add_with_default("--prototypes", distillation.head.prototypes, Between(2, 1 << 20),
                   "Outputs of the head; the paper has 65536 for ImageNet");
  add_with_default("--head-dim", distillation.head.hidden, Between(1, 1 << 14), "Inner size of the head");
  add_with_default("--teacher-temperature", distillation.teacher_temperature, NumberAbove(0),
                   "Temperature of the teacher's outputs");
  add_with_default("--teacher-warmup", distillation.warmup_epochs, AtLeast(0),
                   "Epochs in which that temperature rises linearly from 0.04; 0: it is constant");
  add_with_default("--teacher-momentum", distillation.teacher_momentum, NumberBelow(0, 1),
                   "Momentum of the teacher at the start; it rises to 1 by a cosine schedule");
  add_with_default("--frozen-prototypes", distillation.frozen_epochs, AtLeast(0),
                   "Epochs at the start in which the head's last layer is frozen");
  add_with_default("--final-weight-decay", options->final_weight_decay, NumberFrom(0),
                   "Weight decay at the end, by a cosine schedule");
  add_with_default("--clip-parameter-norm", options->training.adam.clip_parameter_norm, NumberFrom(0),
                   "Clip each parameter's gradient to this norm; 0: do not clip");
  command
      .AddFile("--show-augmented", options->show_augmented,
               "Write a page of crops as the model sees them, before the training starts", "FILE.html")
      .Group("Self-distillation");
  command.footer =
      "\nThe student sees random crops of a picture and is trained to predict the output of the teacher, a moving "
      "average\nof the student's weights, for the two large ones. The teacher is saved: a folder of a ViT, of a ResNet "
      "or of --from's\nfamily, for `embed`, or as --from of `train image-classification`. Without --labelled "
      "validations "
      "report the\nloss of 256 of the pictures.\n\n"
      "Examples:\n"
      "  headlight train self-distillation --train photos/ --out features --epochs 100\n"
      "  headlight train self-distillation --train photos/ --labelled some/ --image-size 32 --patch-size 4 \\\n    "
      "--out features\n"
      "  headlight embed features cat.jpg";
  command.run = [options] { Run(*options); };
}

}  // namespace headlight::train_self_distillation
