#include "headlight/cli/look_models.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "headlight/base/error.h"
#include "headlight/cli/output.h"
#include "headlight/inspect/picture_attention.h"
#include "headlight/io/model_folder.h"
#include "headlight/kinds/caption_model.h"
#include "headlight/kinds/drawing_model.h"
#include "headlight/kinds/dual_encoder.h"
#include "headlight/kinds/object_detector.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/models/family.h"
#include "headlight/models/imagegpt.h"
#include "headlight/tasks/captioner.h"
#include "headlight/tasks/detector.h"
#include "headlight/tasks/drawer.h"
#include "headlight/tasks/drawer_text.h"
#include "headlight/tasks/dual_folder.h"
#include "headlight/tasks/encoder_folder.h"
#include "headlight/tasks/generator.h"
#include "headlight/tasks/picture_answerer.h"
#include "headlight/tasks/region_folder.h"

namespace headlight {
namespace {

AttentionRecord OfEncoderDecoder(const std::string& folder, const LookInput& input) {
  const LookOptions& options = input.options;
  Check(options.source.has_value(), "{}: an encoder with a decoder reads a source text: give it with --source", folder);
  return Translator::Load(folder).Attention(*options.source, options.target, options.translate);
}

AttentionRecord OfTextEncoder(const std::string& folder, const LookInput& input) {
  const LookOptions& options = input.options;
  Check(options.text.has_value(), "{}: an encoder reads one text: give it with --text", folder);
  return AttentionOf(LoadEncoderFolder(folder), *options.text, options.second);
}

AttentionRecord OfLanguageModel(const std::string& folder, const LookInput& input) {
  const LookOptions& options = input.options;
  Check(options.text.has_value(), "{}: a language model reads one text: give it with --text", folder);
  Check(!options.second, "{}: a language model reads no second text", folder);
  return Generator::Load(folder).Attention(*options.text);
}

// A rollout to a layer is made of those before it.
std::optional<int> OneLayer(const LookOptions& options) {
  return options.layer && options.attention != "rollout" ? std::optional(*options.layer - 1) : std::nullopt;
}

AttentionRecord OfPictureEncoder(const std::string& folder, const LookInput& input) {
  const LookOptions& options = input.options;
  Check(input.picture.has_value(), "{}: an encoder of pictures reads one: give it with --picture", folder);
  const auto model = LoadModel<PictureEncoder>(folder, {.purpose = LoadFor::computing});
  return AttentionOf(*model, LoadPictureProcessor(folder), *input.picture, OneLayer(options));
}

AttentionRecord OfPictureGenerator(const std::string& folder, const LookInput& input) {
  Check(input.picture.has_value(), "{}: a generator of pictures reads one: give it with --picture", folder);
  const auto model = LoadModel<ImageGpt>(folder, {.purpose = LoadFor::computing});
  return AttentionOf(*model, model->config().start_id(), LoadPictureProcessor(folder), *input.picture,
                     OneLayer(input.options));
}

// Of what the text is drawn as, with the options of headlight draw as they are unless given.
AttentionRecord OfDrawer(const std::string& folder, const LookInput& input) {
  const std::optional<std::string>& text = input.options.text;
  Check(text.has_value(), "{}: a model that draws reads a text: give it with --text", folder);
  const Drawer drawer = Drawer::Load(folder);
  const Drawing drawing = drawer.Draw({&*text, 1}, 1).front();
  const std::vector<std::int32_t> ids =
      DrawingIds(drawer.tokenizer(), *text, drawer.model().drawing().text_positions, "--text");
  return AttentionOf(drawer.model(), ids, drawer.tokenizer().Labels(ids), drawing.codes, drawing.picture,
                     OneLayer(input.options));
}

AttentionRecord OfDetector(const std::string& folder, const LookInput& input) {
  const LookOptions& options = input.options;
  Check(input.picture.has_value(), "{}: a detector reads a picture: give it with --picture", folder);
  AttentionChoice choice;
  if (options.attention) choice = ParseAttentionChoice(*options.attention);
  Check(!options.patch || choice.kind != AttentionKind::cross,
        "--patch is for the encoder's attention, and --attention cross shows that of the boxes' queries");
  Check(!options.threshold || (!choice.rollout && choice.kind.value_or(AttentionKind::cross) == AttentionKind::cross),
        "--threshold chooses boxes, and --attention {} shows none", options.attention.value_or(""));
  const auto model = LoadModel<ObjectDetector>(folder, {.purpose = LoadFor::computing});
  AttentionRecord record =
      AttentionOf(*model, LoadPictureProcessor(folder), *input.picture,
                  {.threshold = options.threshold.value_or(DetectorLook().threshold),
                   .layer = OneLayer(options),
                   .encoder = choice.kind != AttentionKind::cross,
                   .cross = !choice.rollout && choice.kind.value_or(AttentionKind::cross) == AttentionKind::cross});
  if (record.target_tokens.empty() && !options.attention && !options.patch)
    Note("no object is found in the picture; a lower --threshold finds more");
  return record;
}

AttentionRecord OfDualEncoder(const std::string& folder, const LookInput& input) {
  const LookOptions& options = input.options;
  Check(input.picture || options.text,
        "{}: give this model of two towers a picture with --picture, a text with --text, or both, to see which patches "
        "move their score",
        folder);
  Check(!options.second, "{}: this model reads no second text", folder);
  if (input.picture && options.text) {
    Check(!options.attention, "--attention: of a picture with a text the relevance of its patches is shown");
    Check(!options.patch, "--patch: of a picture with a text the relevance of all patches is shown");
    return PictureRelevanceOf(LoadDualFolder(folder, {}, LoadFor::everything), *input.picture, *options.text);
  }
  if (options.text) return TextAttentionOf(LoadDualFolder(folder), *options.text);
  const auto model = LoadModel<DualEncoder>(folder, {.purpose = LoadFor::computing});
  return AttentionOf(*model, LoadPictureProcessor(folder), *input.picture, OneLayer(options));
}

AttentionRecord OfCaptionModel(const std::string& folder, const LookInput& input) {
  const LookOptions& options = input.options;
  Check(input.picture.has_value(), "{}: a model of captions reads a picture: give it with --picture", folder);
  if (options.question) {
    Check(!options.target, "--target is a caption, which is not shown with a --question");
    return PictureAnswerer::Load(folder).Attention(*input.picture, *options.question, OneLayer(options));
  }
  return Captioner::Load(folder).Attention(*input.picture, options.target, {}, OneLayer(options));
}

AttentionRecord OfRegionTextEncoder(const std::string& folder, const LookInput& input) {
  const LookOptions& options = input.options;
  Check(input.picture && options.question && options.detector,
        "{}: this model reads a question and the regions of a picture: give it --picture, --question, and with "
        "--detector a model that finds them",
        folder);
  Check(!options.patch, "--patch: the model reads regions of the picture, and no patches");
  const Detector detector = Detector::Load(*options.detector);
  std::vector<NamedBox> boxes;
  const std::vector<std::vector<FoundBox>> detected = detector.Detect({*input.picture});
  for (const FoundBox& found : detected.front())
    boxes.push_back(
        {found.box, fmt::format("{} {:.2f}", detector.labels()[static_cast<std::size_t>(found.label)], found.score)});
  return RegionAttentionOf(LoadRegionFolder(folder), *input.picture, boxes, *options.question, OneLayer(options));
}

struct KindAttention {
  std::string_view kind;
  AttentionRecord (*attention)(const std::string& folder, const LookInput& input);
};
constexpr KindAttention kAttention[] = {{EncoderDecoder::kKind, OfEncoderDecoder},
                                        {TextEncoder::kKind, OfTextEncoder},
                                        {LanguageModel::kKind, OfLanguageModel},
                                        {PictureEncoder::kKind, OfPictureEncoder},
                                        {ImageGpt::kKind, OfPictureGenerator},
                                        {ObjectDetector::kKind, OfDetector},
                                        {DualEncoder::kKind, OfDualEncoder},
                                        {CaptionModel::kKind, OfCaptionModel},
                                        {RegionTextEncoder::kKind, OfRegionTextEncoder},
                                        {DrawingModel::kKind, OfDrawer}};

}  // namespace

std::string NameOfFolder(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
  return path.has_filename() ? path.filename() : path.parent_path().filename();
}

AttentionRecord AttentionFor(const std::string& folder, const LookInput& input, const AttentionChoice& choice) {
  const std::string_view kind = FamilyOf(OpenModelFolder(folder)).kind;
  const auto of = std::ranges::find(kAttention, kind, &KindAttention::kind);
  Check(of != std::end(kAttention), "{}: look does not support this kind of model", folder);
  const bool detects = kind == ObjectDetector::kKind, captions = kind == CaptionModel::kKind,
             regions = kind == RegionTextEncoder::kKind;
  Check(!input.picture || detects || captions || regions || kind == PictureEncoder::kKind || kind == ImageGpt::kKind ||
            kind == DualEncoder::kKind,
        "{}: this model reads no picture", folder);
  Check(captions || regions || !input.options.question,
        "{}: --question is for models that answer questions about pictures", folder);
  Check(!input.picture || !input.options.text || kind == DualEncoder::kKind,
        "{}: --text with --picture is for models of two towers", folder);
  Check(!input.picture || captions || !input.options.target, "{}: --target is for models that write", folder);
  Check(regions || !input.options.detector, "{}: --detector is for models that read regions of a picture", folder);
  Check(detects || !input.options.threshold, "{}: --threshold is for detectors", folder);
  AttentionRecord record = of->attention(folder, input);
  if (input.options.patch)  // is shown first
    std::stable_partition(record.maps.begin(), record.maps.end(),
                          [](const AttentionMap& map) { return map.kind != AttentionKind::cross; });
  AddRollout(record);
  record = SelectAttention(std::move(record), choice);
  record.title = NameOfFolder(folder);
  return record;
}

}  // namespace headlight
