#include "headlight/train/objectives/image_text_pretraining.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/ops/embedding.h"
#include "headlight/train/objectives/encoder_task.h"
#include "headlight/train/objectives/prepared_batches.h"
#include "headlight/train/shared_pass.h"

namespace headlight {
namespace {

// The three training objectives.
enum Goal : std::size_t { words, regions, alignment };
constexpr std::array<const char*, 3> kScores = {"accuracy_words", "accuracy_regions", "accuracy_alignment"};

// The input rows of a head, and their labels.
struct Targets {
  std::vector<std::int32_t> rows, labels;
};

// The payload of one of TrainingBatch::parts.
struct PretrainingPart {
  PackedPairs pairs;
  std::array<Targets, 3> targets;
  // The factor of each objective's summed loss. The total over all micro-batches is the objective's mean times the
  // number of pairs.
  std::array<double, 3> weights = {};
};

// A pair with masked words and regions.
struct MaskedPair {
  MaskedText text;
  std::span<const std::int32_t> types;
  ImageRegions image;
  std::vector<std::int32_t> region_labels;  // -1 for regions that are not masked
  bool aligned = true;
};

// Returns the labels of the regions to mask. At least one region with a known class is masked. All other labels are -1.
std::vector<std::int32_t> MaskedRegions(const ImageRegions& image, double share, Random& random) {
  std::vector<std::int32_t> known, labels(image.classes.size(), -1);
  for (std::size_t i = 0; i < image.classes.size(); ++i)
    if (image.classes[i] >= 0) known.push_back(static_cast<std::int32_t>(i));
  const auto wanted = static_cast<std::size_t>(std::lround(share * static_cast<double>(known.size())));
  for (std::size_t i = 0; i < std::min(std::max<std::size_t>(1, wanted), known.size()); ++i) {
    std::swap(known[i], known[i + random.Below(known.size() - i)]);
    const auto region = static_cast<std::size_t>(known[i]);
    labels[region] = image.classes[region];
  }
  return labels;
}

MaskedPair Mask(const ImageTextPairs& set, std::size_t index, const PretrainingOptions& options,
                std::int64_t vocabulary, Random& random) {
  const ImageText& own = set.pairs[index];
  const ImageText* text = &own;
  if (random.Uniform() < options.other_share) text = &set.pairs[random.Below(set.pairs.size())];
  MaskedPair pair{.text = MaskWords(text->text, options.masking, vocabulary, random),
                  .types = text->text.types,
                  .image = set.images[own.image],
                  .region_labels = MaskedRegions(set.images[own.image], options.region_share, random),
                  .aligned = text->image == own.image};
  pair.image.features = pair.image.features.Clone();
  for (std::size_t i = 0; i < pair.region_labels.size(); ++i)
    if (pair.region_labels[i] >= 0 && random.Below(10) > 0)
      pair.image.features.ViewRows(static_cast<std::int64_t>(i), 1).Fill(0);
  return pair;
}

PretrainingPart PartOf(std::span<const MaskedPair> masked, std::int32_t aligned) {
  PretrainingPart part;
  std::vector<PairRows> pairs;
  std::int32_t first_word = 0, first_region = 0;
  const auto add_targets = [](Targets& targets, std::span<const std::int32_t> labels, std::int32_t first) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] < 0) continue;
      targets.rows.push_back(first + static_cast<std::int32_t>(i));
      targets.labels.push_back(labels[i]);
    }
  };
  for (const MaskedPair& pair : masked) {
    pairs.push_back({pair.text.ids, pair.types, &pair.image});
    if (pair.aligned) {
      add_targets(part.targets[words], pair.text.labels, first_word);
      add_targets(part.targets[regions], pair.region_labels, first_region);
    }
    part.targets[alignment].labels.push_back(pair.aligned ? aligned : 1 - aligned);
    first_word += static_cast<std::int32_t>(pair.text.ids.size());
    first_region += static_cast<std::int32_t>(pair.image.features.rows());
  }
  part.pairs = PackPairs(pairs);
  return part;
}

// Divides the pairs into micro-batches. `aligned` is the label of a text with its own image.
std::vector<PretrainingPart> PartsOf(const std::vector<MaskedPair>& pairs, std::int32_t aligned) {
  std::vector<PretrainingPart> parts;
  ForPairParts(
      pairs.size(),
      [&](std::size_t i) {
        return pairs[i].text.ids.size() + static_cast<std::size_t>(pairs[i].image.features.rows());
      },
      [&](std::size_t first, std::size_t end) {
        parts.push_back(PartOf(std::span(pairs).subspan(first, end - first), aligned));
      });
  std::array<std::size_t, 3> labels = {};
  for (const PretrainingPart& part : parts)
    for (std::size_t goal = 0; goal < 3; ++goal) labels[goal] += part.targets[goal].labels.size();
  for (PretrainingPart& part : parts)
    for (std::size_t goal = 0; goal < 3; ++goal)
      part.weights[goal] =
          static_cast<double>(pairs.size()) / static_cast<double>(std::max<std::size_t>(1, labels[goal]));
  return parts;
}

// Returns the logits of the rows that have labels, or nothing if there are none.
std::array<Tensor, 3> LogitsOf(const RegionTextEncoder& model, Context& context, const PretrainingPart& part) {
  const EncodedPairs encoded = EncodePairs(model, context, part.pairs);
  std::array<Tensor, 3> logits;
  if (const auto& rows = part.targets[words].rows; !rows.empty())
    logits[words] = model.MaskedTokenLogits(context, ops::Embedding(encoded.text, rows));
  if (const auto& rows = part.targets[regions].rows; !rows.empty())
    logits[regions] = model.RegionLogits(context, ops::Embedding(encoded.regions, rows));
  logits[alignment] = model.AlignmentLogits(context, model.Pool(context, encoded));
  return logits;
}

void CheckPairs(const RegionTextEncoder& model, const ImageTextPairs& set, const char* purpose) {
  Check(model.heads().masked_words && model.pair_heads().regions && model.pair_heads().alignment,
        "the model does not have the heads for words, regions and alignment");
  Check(model.limits().tasks == 0, "a model with task tokens cannot be pre-trained");
  Check(!set.pairs.empty(), "there is no text with an image to {}", purpose);
  CheckRegions(model, set.images);
  for (const ImageRegions& image : set.images) {
    Check(std::ssize(image.classes) == image.features.rows(), "{} regions have {} classes", image.features.rows(),
          image.classes.size());
    for (const std::int32_t one : image.classes)
      Check(one < model.limits().region_classes, "a region is of class {}, but the model has {} classes", one,
            model.limits().region_classes);
  }
  for (const ImageText& pair : set.pairs) {
    Ensure(pair.image < set.images.size() && pair.text.words.size() == pair.text.ids.size(), "a pair is broken");
    Check(!pair.text.ids.empty() && std::ssize(pair.text.ids) <= model.limits().positions,
          "a text has {} tokens, but must have 1 to {}", pair.text.ids.size(), model.limits().positions);
  }
}

ValidationReport Validate(const RegionTextEncoder& model, const ImageTextPairs& valid,
                          const PretrainingOptions& options, const PassWatch& watch) {
  std::array<double, 3> losses = {}, right = {}, targets = {};
  constexpr std::int64_t at_once = 512;
  const auto blocks = SharedBlocks(watch, std::ssize(valid.pairs), at_once, [&](std::int64_t begin, std::int64_t end) {
    std::vector<MaskedPair> pairs;
    for (std::int64_t i = begin; i < end; ++i) {
      Random random(1, static_cast<std::uint64_t>(i));
      pairs.push_back(Mask(valid, static_cast<std::size_t>(i), options, model.limits().vocabulary, random));
    }
    std::vector<double> numbers(9);  // for each objective: its loss, correct predictions and labels
    for (const PretrainingPart& part : PartsOf(pairs, model.limits().aligned)) {
      Context context;
      const std::array<Tensor, 3> logits = LogitsOf(model, context, part);
      for (std::size_t goal = 0; goal < 3; ++goal) {
        const std::vector<std::int32_t>& labels = part.targets[goal].labels;
        if (labels.empty()) continue;
        const std::span<double> own = std::span(numbers).subspan(3 * goal, 3);
        own[0] += static_cast<double>(ops::CrossEntropy(logits[goal], labels, 1).data<float>()[0]);
        for (std::size_t i = 0; i < labels.size(); ++i)
          own[1] += LargestOf(logits[goal], static_cast<std::int64_t>(i)) == labels[i] ? 1 : 0;
        own[2] += static_cast<double>(labels.size());
      }
    }
    return numbers;
  });
  for (const std::vector<double>& block : blocks)
    for (std::size_t goal = 0; goal < 3; ++goal) {
      losses[goal] += block[3 * goal];
      right[goal] += block[3 * goal + 1];
      targets[goal] += block[3 * goal + 2];
    }
  ValidationReport report;
  report.labels = std::ssize(valid.pairs);
  report.score_name = "accuracy";
  for (std::size_t goal = 0; goal < 3; ++goal) {
    report.loss += losses[goal] / std::max(1.0, targets[goal]);
    report.more_scores.push_back(
        {kScores[goal], PerCent(static_cast<std::int64_t>(right[goal]), static_cast<std::int64_t>(targets[goal]))});
    report.score += report.more_scores.back().value / 3;
  }
  return report;
}

}  // namespace

TrainingTask ImageTextPretraining(RegionTextEncoder& model, const ImageTextPairs& train, const ImageTextPairs& valid,
                                  const PretrainingOptions& options) {
  CheckPairs(model, train, "train on");
  CheckPairs(model, valid, "validate on");
  return {
      .model = &model,
      .batches = PreparedBatches(std::ssize(train.pairs), options.batches,
                                 [&train, options, limits = model.limits()](const BatchPlan& plan) {
                                   std::vector<MaskedPair> pairs;
                                   for (const std::uint32_t example : plan.examples) {
                                     Random random =
                                         RandomOfExample(options.batches.seed, plan.position.epoch, example);
                                     pairs.push_back(Mask(train, example, options, limits.vocabulary, random));
                                   }
                                   TrainingBatch batch;
                                   batch.labels = std::ssize(pairs);
                                   for (PretrainingPart& part : PartsOf(pairs, limits.aligned))
                                     batch.parts.emplace_back(std::move(part));
                                   return batch;
                                 }),
      .loss =
          [&model](Context& context, const TrainingPart& any_part, double scale) {
            const auto& part = any_part.As<PretrainingPart>();
            const std::array<Tensor, 3> logits = LogitsOf(model, context, part);
            Tensor loss =
                ops::CrossEntropy(logits[alignment], part.targets[alignment].labels, scale * part.weights[alignment]);
            for (const Goal goal : {words, regions})
              if (!logits[goal].empty())
                loss = ops::Add(loss,
                                ops::CrossEntropy(logits[goal], part.targets[goal].labels, scale * part.weights[goal]));
            return loss;
          },
      .validate = [&model, &valid, options](const PassWatch& watch) { return Validate(model, valid, options, watch); },
      .scores = {"accuracy", kScores[words], kScores[regions], kScores[alignment]}};
}

}  // namespace headlight
