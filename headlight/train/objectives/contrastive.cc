#include "headlight/train/objectives/contrastive.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/image/augment.h"
#include "headlight/nn/recomputed.h"
#include "headlight/train/contrastive_loss.h"
#include "headlight/train/objectives/image_classification.h"
#include "headlight/train/objectives/pair_training.h"
#include "headlight/train/objectives/prepared_batches.h"
#include "headlight/train/objectives/token_task.h"
#include "headlight/train/shared_pass.h"

namespace headlight {
namespace {

constexpr double kLargestScale = 100;  // limit on e^logit_scale in CLIP (section 2.5)
constexpr std::int64_t kAmong = 10;    // k of the reported recall at k, in addition to recall at 1

using TextIds = std::vector<std::int32_t>;

// Images [height, width, 3] as model inputs, the ids of one text per image, and the ids of the hard negatives.
struct PairBatch {
  std::vector<Tensor> images;
  std::vector<TextIds> texts;
};

// Returns the image vectors of pairs [begin, end).
Tensor ImageVectorsOf(const DualEncoder& model, Context& context, const PairBatch& pairs, std::int64_t begin,
                      std::int64_t end) {
  return model.ImageVectors(context, std::span(pairs.images.begin() + begin, pairs.images.begin() + end));
}

Tensor TextVectorsOf(const DualEncoder& model, Context& context, const PairBatch& pairs, std::int64_t begin,
                     std::int64_t end) {
  TextIds ids;
  std::vector<std::int32_t> lengths;
  for (std::int64_t i = begin; i < end; ++i) {
    const TextIds& text = pairs.texts[static_cast<std::size_t>(i)];
    ids.insert(ids.end(), text.begin(), text.end());
    lengths.push_back(static_cast<std::int32_t>(text.size()));
  }
  return model.TextVectors(context, ids, PackedSequences(lengths));
}

// Returns the loss of a whole batch. The vectors are computed for `part` pairs at a time. `pairs` must outlive the
// backward pass.
Tensor PairLoss(const DualEncoder& model, Context& context, const PairBatch& pairs, std::int64_t part, double scale) {
  const std::int64_t all = std::ssize(pairs.images);
  const auto vectors = [&](std::int64_t count, auto compute) {
    // Hard negatives are computed in the same slice as their pairs.
    return Recomputed(context, count, std::min(part, all) * count / all,
                      [&model, &pairs, compute](Context& own, std::int64_t begin, std::int64_t end) {
                        return compute(model, own, pairs, begin, end);
                      });
  };
  const Tensor images = vectors(std::ssize(pairs.images), ImageVectorsOf),
               texts = vectors(std::ssize(pairs.texts),
                               TextVectorsOf);  // the order determines the random numbers of dropout
  return ContrastiveLoss(context, model, images, texts, FirstOfEqual(pairs.texts), scale);
}

// The ids of an image's texts and of the hard negative of each text. A missing hard negative is empty.
struct TextsOfImage {
  std::vector<TextIds> texts, hard_negatives;
};

std::vector<TextsOfImage> IdsOf(const WholeTexts& read, const ImageTextSet& pairs, const char* purpose) {
  Check(pairs.size() > 0, "there are no images with texts to {}", purpose);
  std::vector<TextsOfImage> ids(static_cast<std::size_t>(pairs.size()));
  const auto ids_of = [&](const std::string& text, std::int64_t image) {
    TextIds found = read(text).ids;
    Check(!found.empty(), "{}: its text has no tokens", pairs.name(image));
    return found;
  };
  ParallelFor(pairs.size(), [&](std::int64_t image) {
    TextsOfImage& own = ids[static_cast<std::size_t>(image)];
    for (const std::string& text : pairs.texts(image)) own.texts.push_back(ids_of(text, image));
    for (const std::string& text : pairs.hard_negatives(image))
      own.hard_negatives.push_back(text.empty() ? TextIds() : ids_of(text, image));
  });
  return ids;
}

// Prepares the batch for a plan.
class Preparation {
 public:
  Preparation(const ImageProcessor& processor, const WholeTexts& texts, const ImageTextSet& pairs,
              const ContrastiveOptions& options)
      : processor_(processor),
        pairs_(pairs),
        options_(options),
        ids_(std::make_shared<std::vector<TextsOfImage>>(IdsOf(texts, pairs, "train on"))) {
    augmentation_.filter = processor.filter;
    if (options.least_share >= 1) return;
    augmentation_.size = FixedSize(processor);
    augmentation_.share = Range{options.least_share, 1};
  }

  TrainingBatch operator()(const BatchPlan& plan) const {
    TrainingBatch batch;
    batch.labels = std::ssize(plan.examples);
    // The batch is one part, because all pairs are compared. The images are decoded when the part is made, so a rank
    // decodes only its own batches.
    batch.parts.emplace_back(TrainingPart::Later([self = *this, plan] { return self.Part(plan); }));
    return batch;
  }

 private:
  PairBatch Part(const BatchPlan& plan) const {
    PairBatch pairs;
    std::vector<TextIds> hard_negatives;
    for (const std::uint32_t example : plan.examples) {
      Random random = RandomOfExample(options_.batches.seed, plan.position.epoch, example);
      const auto& [texts, misses] = (*ids_)[example];
      const std::size_t drawn = random.Below(texts.size());
      pairs.texts.push_back(texts[drawn]);
      if (!misses[drawn].empty()) hard_negatives.push_back(misses[drawn]);
      const Image image = pairs_[example];
      pairs.images.push_back(
          processor_.Values(augmentation_.share ? Augment(image, augmentation_, random) : processor_.Fit(image)));
    }
    std::ranges::move(hard_negatives, std::back_inserter(pairs.texts));
    return pairs;
  }

  ImageProcessor processor_;
  const ImageTextSet& pairs_;
  ContrastiveOptions options_;
  Augmentation augmentation_;
  std::shared_ptr<const std::vector<TextsOfImage>> ids_;
};

}  // namespace

std::int64_t CountCutTexts(const WholeTexts& texts, const ImageTextSet& pairs) {
  std::vector<std::int64_t> cut(static_cast<std::size_t>(pairs.size()));
  ParallelFor(pairs.size(), [&](std::int64_t image) {
    for (const std::string& text : pairs.texts(image)) cut[static_cast<std::size_t>(image)] += texts(text).cut > 0;
  });
  return std::accumulate(cut.begin(), cut.end(), std::int64_t{0});
}

ValidationReport ValidatePairs(const DualEncoder& model, const ImageProcessor& processor, const WholeTexts& texts,
                               const ImageTextSet& valid, const PassWatch& watch) {
  const std::vector<TextsOfImage> ids = IdsOf(texts, valid, "validate on");
  // Returns the first texts of images [begin, end), followed by the hard negatives of these texts.
  const auto texts_of = [&](std::int64_t begin, std::int64_t end) {
    std::vector<TextIds> some, misses;
    for (std::int64_t i = begin; i < end; ++i) {
      const TextsOfImage& own = ids[static_cast<std::size_t>(i)];
      some.push_back(own.texts.front());
      if (!own.hard_negatives.front().empty()) misses.push_back(own.hard_negatives.front());
    }
    std::ranges::move(misses, std::back_inserter(some));
    return some;
  };
  // Each block has the image vectors, followed by the text vectors.
  const auto blocks = SharedBlocks(watch, valid.size(), kPairsAtOnce, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t count = end - begin;
    PairBatch pairs{std::vector<Tensor>(static_cast<std::size_t>(count)), texts_of(begin, end)};
    ParallelFor(count, [&](std::int64_t i) {
      pairs.images[static_cast<std::size_t>(i)] = processor.Values(processor.Fit(valid[begin + i]));
    });
    Context context;
    std::vector<double> numbers;
    for (const Tensor& vectors : {ImageVectorsOf(model, context, pairs, 0, count),
                                  TextVectorsOf(model, context, pairs, 0, std::ssize(pairs.texts))})
      std::ranges::copy(vectors.ToVector<float>(), std::back_inserter(numbers));
    return numbers;
  });
  const std::int64_t dimension = model.limits().vector;
  std::vector<float> all_images, all_texts, all_misses;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto pairs = std::min(kPairsAtOnce, valid.size() - static_cast<std::int64_t>(i) * kPairsAtOnce);
    const auto texts_begin = blocks[i].begin() + pairs * dimension, misses_begin = texts_begin + pairs * dimension;
    all_images.insert(all_images.end(), blocks[i].begin(), texts_begin);
    all_texts.insert(all_texts.end(), texts_begin, misses_begin);
    all_misses.insert(all_misses.end(), misses_begin, blocks[i].end());
  }
  double loss = 0;
  std::int64_t texts_first = 0, texts_found = 0, images_first = 0, images_found = 0;
  auto miss = all_misses.begin();
  for (std::int64_t first = 0; first < valid.size(); first += kPairsCompared) {
    const std::int64_t block = std::min(kPairsCompared, valid.size() - first);
    const std::vector<TextIds> candidates = texts_of(first, first + block);
    std::vector<float> numbers(all_texts.begin() + first * dimension, all_texts.begin() + (first + block) * dimension);
    const auto miss_end = miss + (std::ssize(candidates) - block) * dimension;
    numbers.insert(numbers.end(), miss, miss_end);
    miss = miss_end;
    const Tensor images = Tensor::From<float>(std::span(all_images)
                                                  .subspan(static_cast<std::size_t>(first * dimension),
                                                           static_cast<std::size_t>(block * dimension)),
                                              {block, dimension}),
                 texts_and_misses = Tensor::From<float>(numbers, {std::ssize(candidates), dimension});
    Context context;
    const std::vector<std::int32_t> equal = FirstOfEqual(candidates);
    loss += static_cast<double>(ContrastiveLoss(context, model, images, texts_and_misses, equal, 1).data<float>()[0]);
    const auto same = [&](std::int64_t a, std::int64_t b) {
      return equal[static_cast<std::size_t>(a)] == equal[static_cast<std::size_t>(b)];
    };
    for (const std::int64_t rank : RanksOf(model.Logits(context, images, texts_and_misses), same)) {
      texts_first += rank == 0;
      texts_found += rank < kAmong;
    }
    for (const std::int64_t rank : RanksOf(model.Logits(context, texts_and_misses.ViewRows(0, block), images), same)) {
      images_first += rank == 0;
      images_found += rank < kAmong;
    }
  }
  const auto share = [&](std::int64_t found) {
    return 100 * static_cast<double>(found) / static_cast<double>(valid.size());
  };
  ValidationReport report;
  report.labels = valid.size();
  report.loss = loss / static_cast<double>(valid.size());
  report.score_name = "recall";
  report.score = (share(texts_first) + share(images_first)) / 2;
  report.more_scores = {{"text_recall", share(texts_first)},
                        {"image_recall", share(images_first)},
                        {"text_recall_at_10", share(texts_found)},
                        {"image_recall_at_10", share(images_found)}};
  return report;
}

TrainingTask ContrastiveTask(DualEncoder& model, const ImageProcessor& processor, const WholeTexts& texts,
                             const ImageTextSet& train, const ImageTextSet& valid, const ContrastiveOptions& options) {
  Check(model.logit_scale() != nullptr, "a model with one tower cannot compare pairs");
  CheckPairOptions(options.batches, options.part);
  TrainingTask task;
  task.model = &model;
  task.batches = PreparedBatches(train.size(), options.batches, Preparation(processor, texts, train, options));
  task.loss = [&model, part = options.part](Context& context, const TrainingPart& batch, double scale) {
    return PairLoss(model, context, batch.As<PairBatch>(), part, scale);
  };
  task.validate = [&model, processor, texts, &valid](const PassWatch& watch) {
    return ValidatePairs(model, processor, texts, valid, watch);
  };
  task.scores = {"recall", "text_recall", "image_recall", "text_recall_at_10", "image_recall_at_10"};
  if (model.limits().scores == DualEncoder::Scores::softmax)
    task.after_step = [&model](std::int64_t, std::int64_t) {
      const Tensor& scale = model.logit_scale()->value;
      Dispatch(scale.dtype(), [&]<typename T>(T) {
        scale.data<T>()[0] = std::min(scale.data<T>()[0], static_cast<T>(std::log(kLargestScale)));
      });
    };
  return task;
}

}  // namespace headlight
