#include "headlight/train/objectives/captions.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/generate/decode.h"
#include "headlight/text/metrics/bleu.h"
#include "headlight/train/objectives/image_classification.h"
#include "headlight/train/objectives/prepared_batches.h"
#include "headlight/train/objectives/token_task.h"
#include "headlight/train/shared_pass.h"

namespace headlight {
namespace {

// Returns the selected images as model inputs.
std::vector<Tensor> ValuesOf(const ImageProcessor& processor, const ImageTextSet& images,
                             std::span<const std::int64_t> which) {
  std::vector<Tensor> values(which.size());
  ParallelFor(std::ssize(which), [&](std::int64_t i) {
    const auto index = static_cast<std::size_t>(i);
    values[index] = processor.Values(processor.Fit(images[which[index]]));
  });
  return values;
}

Memory MemoryOf(const CaptionModel& model, Context& context, std::span<const Tensor> images) {
  return model.MemoryOf(context, model.EncodeImages(context, images));
}

using Example = TokenizedCaptions::Example;

// Adds the images of a batch's examples to their texts.
CaptionBatch WithImages(TokenBatch texts, const ImageProcessor& processor, const TokenizedCaptions& captions,
                        std::span<const std::int64_t> examples) {
  std::vector<std::int64_t> images;
  for (const std::int64_t index : examples) images.push_back(captions.examples[static_cast<std::size_t>(index)].image);
  return {ValuesOf(processor, *captions.images, images), std::move(texts)};
}

TokenBatch TextsOf(const CaptionModel& model, const TokenizedCaptions& captions,
                   std::span<const std::int64_t> examples) {
  TokenBatch texts;
  for (const std::int64_t index : examples)
    AppendPair({}, captions.examples[static_cast<std::size_t>(index)].ids, model.limits().start_id,
               model.limits().end_id, texts);
  return texts;
}

CaptionBatch BatchOf(const CaptionModel& model, const ImageProcessor& processor, const TokenizedCaptions& captions,
                     std::span<const std::int64_t> examples) {
  return WithImages(TextsOf(model, captions, examples), processor, captions, examples);
}

Tensor LossOf(const CaptionModel& model, Context& context, const CaptionBatch& batch, double label_smoothing,
              double scale) {
  return TeacherForcedLoss(model, context, MemoryOf(model, context, batch.images), batch.texts, label_smoothing, scale);
}

// Returns the indices begin, ..., end - 1.
std::vector<std::int64_t> IndexRange(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> range;
  for (std::int64_t i = begin; i < end; ++i) range.push_back(i);
  return range;
}

// Returns the BLEU of the captions. BLEU needs the same number of references for every image. If an image has fewer
// captions, its first caption is repeated.
double BleuOf(const std::vector<std::string>& written, const ImageTextSet& images) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < written.size(); ++i)
    most = std::max(most, images.texts(static_cast<std::int64_t>(i)).size());
  std::vector<std::vector<std::string>> references(most);
  for (std::size_t set = 0; set < most; ++set)
    for (std::size_t i = 0; i < written.size(); ++i) {
      const std::vector<std::string>& texts = images.texts(static_cast<std::int64_t>(i));
      references[set].push_back(texts[set < texts.size() ? set : 0]);
    }
  return CorpusBleu(written, references).score;
}

void CheckCaptions(const CaptionModel& model, const TokenizedCaptions& captions, const char* purpose) {
  Check(model.uses().captions, "{}: this model does not generate captions", model.parameters().source());
  Check(captions.images != nullptr && !captions.examples.empty(), "there is no caption to {}", purpose);
}

}  // namespace

TokenizedCaptions TokenizeCaptions(const CaptionModel& model, const ImageTextSet& images,
                                   const std::function<std::vector<std::int32_t>(const std::string& text)>& encode) {
  TokenizedCaptions captions{.images = &images, .examples = {}};
  const std::int64_t most = model.limits().positions - 1;  // one position is for the end token
  for (std::int64_t image = 0; image < images.size(); ++image)
    for (const std::string& text : images.texts(image)) {
      captions.examples.push_back({image, encode(text)});
      const std::int64_t tokens = std::ssize(captions.examples.back().ids);
      Check(tokens >= 1 && tokens <= most, "{}: a caption has {} tokens, but must have from 1 to {}",
            images.name(image), tokens, most);
    }
  return captions;
}

ValidationReport ValidateCaptions(const CaptionModel& model, const ImageProcessor& processor,
                                  const TokenizedCaptions& valid,
                                  const std::function<std::string(std::span<const std::int32_t> ids)>& decode,
                                  std::int64_t validated, const PassWatch& watch) {
  CheckCaptions(model, valid, "validate on");
  const std::int64_t at_once = ImagesOfPart(model.image_limits(), FixedSize(processor), std::int64_t{1} << 20);
  double loss = 0;
  std::int64_t labels = 0;
  std::size_t longest = 0;
  PassWatch first_pass = watch;  // reports the progress of the first of two passes
  first_pass.progress = {};
  const auto blocks =
      SharedBlocks(first_pass, std::ssize(valid.examples), at_once, [&](std::int64_t begin, std::int64_t end) {
        const CaptionBatch batch = BatchOf(model, processor, valid, IndexRange(begin, end));
        Context context;
        return std::vector{static_cast<double>(LossOf(model, context, batch, 0, 1).data<float>()[0]),
                           static_cast<double>(batch.texts.labels.size())};
      });
  for (const std::vector<double>& block : blocks) {
    loss += block[0];
    labels += static_cast<std::int64_t>(block[1]);
  }
  ValidationReport report = LossReport(loss, labels);
  report.score_name = "exact";
  report.more_scores = {{"bleu", 0}};
  if (!std::isfinite(report.loss)) return report;  // decoding needs finite logits

  for (const Example& example : valid.examples) longest = std::max(longest, example.ids.size() + 1);
  const DecodingOptions decoding{
      .search = {.beam_size = 1},
      .max_length = static_cast<std::int32_t>(std::min(static_cast<std::int64_t>(longest), model.limits().positions)),
      .cancelled = watch.cancelled};
  const ImageTextSet& images = *valid.images;
  std::vector<std::string> written;
  const std::int64_t count = validated < 0 ? images.size() : std::min(images.size(), validated);
  // The values for an image are the length of its caption, followed by the caption's ids.
  const auto captions = SharedBlocks(watch, count, at_once, [&](std::int64_t begin, std::int64_t end) {
    Context context;
    const Memory memory = MemoryOf(model, context, ValuesOf(processor, images, IndexRange(begin, end)));
    std::vector<double> numbers;
    for (const auto& hypotheses : Decode(model, memory, decoding)) {
      const std::vector<std::int32_t>& ids = hypotheses.front().ids;
      numbers.push_back(static_cast<double>(ids.size()));
      numbers.insert(numbers.end(), ids.begin(), ids.end());
    }
    return numbers;
  });
  for (const std::vector<double>& block : captions)
    for (auto at = block.begin(); at != block.end();) {
      const auto length = static_cast<std::ptrdiff_t>(*at++);
      std::vector<std::int32_t> ids;
      std::transform(at, at + length, std::back_inserter(ids), [](double id) { return static_cast<std::int32_t>(id); });
      written.push_back(decode(ids));
      at += length;
    }
  report.more_scores = {{"bleu", BleuOf(written, images)}};
  std::int64_t right = 0;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const auto image = static_cast<std::int64_t>(i);
    const std::vector<std::string>& texts = images.texts(image);
    if (std::ranges::find(texts, written[i]) != texts.end()) ++right;
    if (i < 3) report.samples.push_back({images.name(image), texts.front(), written[i]});
  }
  report.score = PerCent(right, std::ssize(written));
  return report;
}

TrainingTask CaptionTask(CaptionModel& model, const ImageProcessor& processor, const TokenizedCaptions& train,
                         const TokenizedCaptions& valid,
                         const std::function<std::string(std::span<const std::int32_t> ids)>& decode,
                         const CaptionTrainingOptions& options) {
  CheckLabelSmoothing(options.label_smoothing);
  CheckCaptions(model, train, "train on");
  CheckCaptions(model, valid, "validate on");
  const ImageSize size = FixedSize(processor);
  const auto prepare = [&model, processor, &train, size](const BatchPlan& plan) {
    TrainingBatch batch;
    const std::vector<std::int64_t> examples(plan.examples.begin(), plan.examples.end());
    const std::int64_t of_part = ImagesOfPart(model.image_limits(), size, std::ssize(examples));
    for (std::int64_t begin = 0; begin < std::ssize(examples); begin += of_part) {
      const std::int64_t end = std::min(std::ssize(examples), begin + of_part);
      const std::vector<std::int64_t> own(examples.begin() + begin, examples.begin() + end);
      TokenBatch texts = TextsOf(model, train, own);
      batch.labels += std::ssize(texts.labels);
      batch.parts.emplace_back(TrainingPart::Later([=, &train] { return WithImages(texts, processor, train, own); }));
    }
    return batch;
  };
  return {.model = &model,
          .batches = PreparedBatches(std::ssize(train.examples), options.batches, prepare),
          .loss =
              [&model, options](Context& context, const TrainingPart& part, double scale) {
                if (context.training) context.training->drop_path = options.drop_path;
                return LossOf(model, context, part.As<CaptionBatch>(), options.label_smoothing, scale);
              },
          .validate =
              [&model, processor, &valid, decode, validated = options.validated](const PassWatch& watch) {
                return ValidateCaptions(model, processor, valid, decode, validated, watch);
              },
          .scores = {"exact", "bleu"}};
}

}  // namespace headlight
