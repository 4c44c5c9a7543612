#include "headlight/pipelines/folder_attention.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "headlight/base/error.h"
#include "headlight/inspect/image_attention.h"
#include "headlight/inspect/relevance.h"
#include "headlight/io/model_folder.h"
#include "headlight/kinds/caption_model.h"
#include "headlight/kinds/detection_model.h"
#include "headlight/kinds/dual_encoder.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/kinds/text_to_image_model.h"
#include "headlight/models/family.h"
#include "headlight/models/imagegpt.h"
#include "headlight/pipelines/dual_folder.h"
#include "headlight/pipelines/encoder_folder.h"
#include "headlight/pipelines/image_captioner.h"
#include "headlight/pipelines/object_detector.h"
#include "headlight/pipelines/region_folder.h"
#include "headlight/pipelines/text_generator.h"
#include "headlight/pipelines/text_to_image.h"
#include "headlight/pipelines/text_to_image_prompt.h"
#include "headlight/pipelines/visual_question_answerer.h"

namespace headlight {
namespace {

AttentionRecord OfEncoderDecoder(const std::string& folder, const AttentionInput& input) {
  Check(input.source.has_value(), "{}: an encoder-decoder model reads a source text: give it with `source`{}", folder,
        input.text ? ", not with `text`" : "");
  return Translator::Load(folder).Attention(*input.source, input.target, input.translate);
}

AttentionRecord OfTextEncoder(const std::string& folder, const AttentionInput& input) {
  Check(input.text.has_value(), "{}: an encoder reads one text: give it with `text`", folder);
  return AttentionOf(LoadEncoderFolder(folder), *input.text, input.second);
}

AttentionRecord OfLanguageModel(const std::string& folder, const AttentionInput& input) {
  Check(input.text.has_value(), "{}: a language model reads one text: give it with `text`", folder);
  Check(!input.second, "{}: a language model reads no second text", folder);
  return TextGenerator::Load(folder).Attention(*input.text);
}

// Returns the only layer to record, or nothing for all layers. Rollout to a layer needs all layers before it.
std::optional<int> OneLayer(const AttentionInput& input) {
  return input.layer && input.attention != "rollout" ? std::optional(*input.layer - 1) : std::nullopt;
}

AttentionRecord OfImageEncoder(const std::string& folder, const AttentionInput& input) {
  Check(input.image.has_value(), "{}: an image encoder reads one: give it with `image`", folder);
  const auto model = LoadModel<ImageEncoder>(folder, {.purpose = LoadFor::computing});
  if (model->limits().special == 0 && model->heads().classes) {  // a convolutional network
    Check(!input.attention, "`attention`: {} is a convolutional network, whose class activations are shown", folder);
    Check(!input.patch, "`patch`: {} is a convolutional network, whose class activations are shown", folder);
    const auto differentiable = LoadModel<ImageEncoder>(folder, {.purpose = LoadFor::everything});
    return ClassActivationOf(*differentiable, LoadImageProcessor(folder), *input.image);
  }
  return AttentionOf(*model, LoadImageProcessor(folder), *input.image, OneLayer(input));
}

AttentionRecord OfImageGenerator(const std::string& folder, const AttentionInput& input) {
  Check(input.image.has_value(), "{}: an image generation model reads one: give it with `image`", folder);
  const auto model = LoadModel<ImageGpt>(folder, {.purpose = LoadFor::computing});
  return AttentionOf(*model, model->config().start_id(), LoadImageProcessor(folder), *input.image, OneLayer(input));
}

// Returns the attention in a text and the image generated from it, with the default options of `headlight draw`.
AttentionRecord OfTextToImage(const std::string& folder, const AttentionInput& input) {
  const std::optional<std::string>& text = input.text;
  Check(text.has_value(), "{}: a text-to-image model reads a text: give it with `text`", folder);
  const TextToImage drawer = TextToImage::Load(folder);
  const GeneratedImage image = drawer.Generate(*text).front();
  const std::vector<std::int32_t> ids =
      DrawingIds(drawer.tokenizer(), *text, drawer.model().drawing().text_positions, "`text`");
  return AttentionOf(drawer.model(), ids, drawer.tokenizer().Labels(ids), image.codes, image.image, OneLayer(input));
}

AttentionRecord OfDetector(const std::string& folder, const AttentionInput& input) {
  Check(input.image.has_value(), "{}: a detector reads an image: give it with `image`", folder);
  AttentionChoice choice;
  if (input.attention) choice = ParseAttentionChoice(*input.attention);
  Check(!input.patch || choice.kind != AttentionKind::cross,
        "`patch` is for the encoder's attention, and `attention` cross shows that of the boxes' queries");
  Check(!input.threshold || (!choice.rollout && choice.kind.value_or(AttentionKind::cross) == AttentionKind::cross),
        "`threshold` chooses boxes, and `attention` {} shows none", input.attention.value_or(""));
  const auto model = LoadModel<DetectionModel>(folder, {.purpose = LoadFor::computing});
  AttentionRecord record =
      AttentionOf(*model, LoadImageProcessor(folder), *input.image,
                  {.threshold = input.threshold.value_or(DetectorLook().threshold),
                   .layer = OneLayer(input),
                   .encoder = choice.kind != AttentionKind::cross,
                   .cross = !choice.rollout && choice.kind.value_or(AttentionKind::cross) == AttentionKind::cross});
  if (record.target_tokens.empty() && !input.attention && !input.patch && input.note)
    input.note("no object is found in the image; a lower `threshold` finds more");
  return record;
}

AttentionRecord OfDualEncoder(const std::string& folder, const AttentionInput& input) {
  Check(input.image || input.text,
        "{}: give this model of two towers an image with `image`, a text with `text`, or both, to see which patches "
        "move their score",
        folder);
  Check(!input.second, "{}: this model reads no second text", folder);
  if (input.image && input.text) {
    Check(!input.attention, "`attention`: an image with a text shows the relevance of its patches");
    Check(!input.patch, "`patch`: an image with a text shows the relevance of all patches");
    return ImageRelevanceOf(LoadDualFolder(folder, {}, LoadFor::everything), *input.image, *input.text);
  }
  if (input.text) return TextAttentionOf(LoadDualFolder(folder), *input.text);
  const auto model = LoadModel<DualEncoder>(folder, {.purpose = LoadFor::computing});
  return AttentionOf(*model, LoadImageProcessor(folder), *input.image, OneLayer(input));
}

AttentionRecord OfCaptionModel(const std::string& folder, const AttentionInput& input) {
  Check(input.image.has_value(), "{}: a model of captions reads an image: give it with `image`", folder);
  if (input.question) {
    Check(!input.target, "`target` is a caption, and a `question` has none");
    return VisualQuestionAnswerer::Load(folder).Attention(*input.image, *input.question, OneLayer(input));
  }
  return ImageCaptioner::Load(folder).Attention(*input.image, input.target, {}, OneLayer(input));
}

AttentionRecord OfRegionTextEncoder(const std::string& folder, const AttentionInput& input) {
  Check(input.image && input.question && input.detector,
        "{}: this model reads a question and the regions of an image: give it `image`, `question`, and with "
        "`detector` a model that finds them",
        folder);
  Check(!input.patch, "`patch`: the model reads regions of the image, and no patches");
  const ObjectDetector detector = ObjectDetector::Load(*input.detector);
  std::vector<NamedBox> boxes;
  for (const DetectedObject& found : detector.Detect(*input.image))
    boxes.push_back({found.box, fmt::format("{} {:.2f}", found.label, found.score)});
  return RegionAttentionOf(LoadRegionFolder(folder), *input.image, boxes, *input.question, OneLayer(input));
}

// The optional inputs that a model accepts. Each of these inputs exists only for some kinds of models.
struct Reads {
  bool image = false, text_with_image = false, target_of_image = false;
  bool question = false, detector = false, threshold = false;
};
struct KindAttention {
  std::string_view kind;
  AttentionRecord (*attention)(const std::string& folder, const AttentionInput& input);
  Reads reads = {};
};
constexpr KindAttention kAttention[] = {
    {EncoderDecoder::kKind, OfEncoderDecoder},
    {TextEncoder::kKind, OfTextEncoder},
    {LanguageModel::kKind, OfLanguageModel},
    {ImageEncoder::kKind, OfImageEncoder, {.image = true}},
    {ImageGpt::kKind, OfImageGenerator, {.image = true}},
    {DetectionModel::kKind, OfDetector, {.image = true, .threshold = true}},
    {DualEncoder::kKind, OfDualEncoder, {.image = true, .text_with_image = true}},
    {CaptionModel::kKind, OfCaptionModel, {.image = true, .target_of_image = true, .question = true}},
    {RegionTextEncoder::kKind, OfRegionTextEncoder, {.image = true, .question = true, .detector = true}},
    {TextToImageModel::kKind, OfTextToImage}};

}  // namespace

std::string NameOfFolder(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
  return path.has_filename() ? path.filename() : path.parent_path().filename();
}

AttentionRecord FolderAttention(const std::string& folder, const AttentionInput& input) {
  AttentionChoice choice;
  if (input.attention) choice = ParseAttentionChoice(*input.attention);
  if (input.layer) choice.layer = *input.layer - 1;
  const std::string_view kind = FamilyOf(OpenModelFolder(folder)).kind;
  const auto of = std::ranges::find(kAttention, kind, &KindAttention::kind);
  Check(of != std::end(kAttention), "{}: the attention of this kind of model is not supported", folder);
  const Reads& reads = of->reads;
  Check(reads.image || !input.image, "{}: this model reads no image", folder);
  Check(reads.question || !input.question, "{}: `question` is for models that answer questions about images", folder);
  Check(reads.text_with_image || !input.image || !input.text, "{}: `text` with `image` is for models of two towers",
        folder);
  Check(reads.target_of_image || !input.image || !input.target, "{}: `target` is for models that write", folder);
  Check(reads.detector || !input.detector, "{}: `detector` is for models that read regions of an image", folder);
  Check(reads.threshold || !input.threshold, "{}: `threshold` is for detectors", folder);
  AttentionRecord record = of->attention(folder, input);
  if (input.patch)  // cross-attention is moved to the end, so that a page first shows the attention of the patch
    std::stable_partition(record.maps.begin(), record.maps.end(),
                          [](const AttentionMap& map) { return map.kind != AttentionKind::cross; });
  AddRollout(record);
  record = SelectAttention(std::move(record), choice);
  record.title = NameOfFolder(folder);
  return record;
}

}  // namespace headlight
