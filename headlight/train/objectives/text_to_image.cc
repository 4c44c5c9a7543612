#include "headlight/train/objectives/text_to_image.h"

#include <algorithm>
#include <span>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/generate/hypothesis.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/linear.h"
#include "headlight/train/objectives/prepared_batches.h"
#include "headlight/train/shared_pass.h"

namespace headlight {
namespace {

// Limit on the tokens of a micro-batch. A higher limit would need more memory and would not be faster.
constexpr std::int64_t kPairTokensOfPart = 2560;

// The weight of the text loss: "We weight the cross-entropy losses for the text and image tokens by 1/8 and 7/8"
// (section 2.2).
constexpr double kTextShare = 1.0 / 8;

std::int64_t PairsOfPart(const TextToImageModel& model, std::int64_t pairs) {
  const std::int64_t parts =
      std::max<std::int64_t>(1, (pairs * model.limits().positions + kPairTokensOfPart / 2) / kPairTokensOfPart);
  return (pairs + parts - 1) / parts;
}

void CheckPairs(const TextToImageModel& model, const ImageCodesWithTexts& pairs, const char* purpose) {
  Check(pairs.count() > 0, "there is no image with a text to {}", purpose);
  const std::int64_t cells = model.drawing().grid.cells();
  Check(pairs.cells == cells && std::ssize(pairs.codes) == cells * pairs.count(),
        "the images to {} have {} codes, but the model generates {}", purpose, pairs.cells, cells);
}

std::span<const std::int32_t> CodesOf(const ImageCodesWithTexts& pairs, std::int64_t image) {
  return std::span(pairs.codes)
      .subspan(static_cast<std::size_t>(image * pairs.cells), static_cast<std::size_t>(pairs.cells));
}

struct Losses {
  Tensor text, image;  // losses, [1] each
};

// Returns the mean cross-entropies of a text's tokens and of an image's codes. Both are summed over the batch and
// scaled.
Losses LossesOf(const TextToImageModel& model, Context& context, const TextToImageBatch& batch, double text_scale,
                double image_scale) {
  const auto positions = static_cast<std::int32_t>(model.limits().positions);
  const std::int32_t of_text = model.drawing().text_positions;
  Sequences texts;
  std::vector<std::int32_t> text_rows, code_rows;  // rows that predict a text token, and rows that predict a code
  for (std::int32_t begin = 0; begin < std::ssize(batch.ids); begin += positions) {
    texts.push_back({begin, positions});
    for (std::int32_t i = 0; i < positions; ++i) (i < of_text ? text_rows : code_rows).push_back(begin + i);
  }
  const Tensor hidden = model.Decode(context, batch.ids, texts);
  const auto loss = [&](const Tensor& logits, const std::vector<std::int32_t>& labels, double scale) {
    const double of_each = static_cast<double>(texts.size()) / static_cast<double>(labels.size());
    return ops::CrossEntropy(logits, labels, scale * of_each);
  };
  const Tensor of_texts =
      ops::Linear(ops::Embedding(hidden, text_rows), model.TextWeight(context), model.TextBias(context));
  return {loss(of_texts, batch.text_labels, text_scale),
          loss(model.Logits(context, ops::Embedding(hidden, code_rows)), batch.code_labels, image_scale)};
}

double ValueOf(const Tensor& loss) { return static_cast<double>(loss.data<float>()[0]); }

}  // namespace

void AppendTextAndCodes(const TextToImageModel& model, std::span<const std::int32_t> text,
                        std::span<const std::int32_t> codes, TextToImageBatch& batch) {
  const std::vector<std::int32_t> prompt = model.Prompt(text);
  for (const std::int32_t code : codes)
    Check(code >= 0 && code < model.drawing().codes, "code {}: the model has {}", code, model.drawing().codes);
  batch.ids.insert(batch.ids.end(), prompt.begin(), prompt.end());
  batch.ids.insert(batch.ids.end(), codes.begin(), codes.end() - 1);
  for (auto id = prompt.begin() + 1; id != prompt.end(); ++id) batch.text_labels.push_back(*id - model.TextId(0));
  batch.code_labels.insert(batch.code_labels.end(), codes.begin(), codes.end());
}

Tensor TextToImageLoss(const TextToImageModel& model, Context& context, const TextToImageBatch& batch, double scale) {
  const Losses losses = LossesOf(model, context, batch, kTextShare * scale, (1 - kTextShare) * scale);
  return ops::Add(losses.text, losses.image);
}

ValidationReport ValidateTextToImage(const TextToImageModel& model, const ImageCodesWithTexts& valid,
                                     const PassWatch& watch) {
  CheckPairs(model, valid, "validate on");
  const std::int64_t at_once = PairsOfPart(model, std::int64_t{1} << 20);
  double text = 0, image = 0;
  const auto all_losses = SharedBlocks(watch, valid.count(), at_once, [&](std::int64_t begin, std::int64_t end) {
    TextToImageBatch batch;
    for (std::int64_t i = begin; i < end; ++i)
      AppendTextAndCodes(model, valid.texts[static_cast<std::size_t>(i)].front(), CodesOf(valid, i), batch);
    Context context;
    const Losses own = LossesOf(model, context, batch, 1, 1);
    return std::vector{ValueOf(own.text), ValueOf(own.image)};
  });
  for (const std::vector<double>& losses : all_losses) {
    text += losses[0];
    image += losses[1];
  }
  const auto count = static_cast<double>(valid.count());
  ValidationReport report;
  report.loss = (kTextShare * text + (1 - kTextShare) * image) / count;
  report.labels = valid.count();
  report.more_scores = {{"text_loss", text / count}, {"image_loss", image / count}};
  return report;
}

TrainingTask TextToImageTask(TextToImageModel& model, const ImageCodeSets& pairs, const BatchOptions& batches,
                             double drop_text) {
  CheckPairs(model, pairs.train, "train on");
  CheckPairs(model, pairs.valid, "validate on");
  Check(drop_text >= 0 && drop_text <= 1, "`drop_text` must be from 0 to 1, not {}", drop_text);
  const auto prepare = [&model, &train = pairs.train, seed = batches.seed, drop_text](const BatchPlan& plan) {
    TrainingBatch result{.parts = {}, .labels = std::ssize(plan.examples), .next = {}, .batches_in_epoch = 0};
    const auto of_part = static_cast<std::size_t>(PairsOfPart(model, result.labels));
    for (std::size_t begin = 0; begin < plan.examples.size(); begin += of_part) {
      TextToImageBatch part;
      for (std::size_t i = begin; i < std::min(plan.examples.size(), begin + of_part); ++i) {
        const std::uint32_t example = plan.examples[i];
        Random random = RandomOfExample(seed, plan.position.epoch, example);
        const auto& texts = train.texts[example];
        std::span<const std::int32_t> text = texts[random.Below(texts.size())];
        if (random.Uniform() < drop_text) text = {};
        AppendTextAndCodes(model, text, CodesOf(train, example), part);
      }
      result.parts.emplace_back(std::move(part));
    }
    return result;
  };
  return {
      .model = &model,
      .batches = PreparedBatches(pairs.train.count(), batches, prepare),
      .loss = [&model](Context& context, const TrainingPart& part,
                       double scale) { return TextToImageLoss(model, context, part.As<TextToImageBatch>(), scale); },
      .validate = [&model,
                   &valid = pairs.valid](const PassWatch& watch) { return ValidateTextToImage(model, valid, watch); },
      .scores = {"text_loss", "image_loss"}};
}

}  // namespace headlight
