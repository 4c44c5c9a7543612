#include "headlight/train/objectives/sentence_vectors.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/nn/recomputed.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/linear.h"
#include "headlight/ops/rms_norm.h"
#include "headlight/ops/view.h"
#include "headlight/ops/weighted_rows.h"
#include "headlight/text/tokenizers/truncate.h"
#include "headlight/train/contrastive_loss.h"
#include "headlight/train/objectives/pair_training.h"
#include "headlight/train/objectives/prepared_batches.h"
#include "headlight/train/shared_pass.h"

namespace headlight {
namespace {

// Returns the unit vectors of texts, computed from the first token's state or from the mean of all states.
Tensor VectorsOf(const TextEncoder& model, Context& context, std::span<const Encoding> texts, bool first_token) {
  std::vector<std::int32_t> ids, types, lengths;
  for (const Encoding& text : texts) {
    ids.insert(ids.end(), text.ids.begin(), text.ids.end());
    types.insert(types.end(), text.type_ids.begin(), text.type_ids.end());
    lengths.push_back(static_cast<std::int32_t>(text.ids.size()));
  }
  if (!model.reads_types()) types.clear();
  const Sequences packed = PackedSequences(lengths);
  const Tensor hidden = model.Encode(context, ids, types, packed);
  std::vector<std::int32_t> rows;
  std::vector<double> weights;
  const std::int32_t terms = first_token ? 1 : std::ranges::max(lengths);
  for (const Sequence& text : packed)
    for (std::int32_t i = 0; i < terms; ++i) {
      rows.push_back(text.row(i < text.length ? i : 0));
      weights.push_back(first_token ? 1 : i < text.length ? 1.0 / text.length : 0);
    }
  return ops::UnitRows(ops::WeightedRows(hidden, rows, weights, terms));
}

// The texts of a batch: the first texts of all pairs, then the second texts in the same order, then the negatives.
struct SentenceBatch {
  std::vector<Encoding> texts;
  std::int64_t pairs = 0;
};

class SentenceReader {
 public:
  SentenceReader(const PipelineTokenizer& tokenizer, const SentenceVectorOptions& options)
      : tokenizer_(tokenizer), longest_(options.longest), prompt_(options.prompt) {}

  Encoding operator()(const std::string& text) const {
    Encoding encoding = tokenizer_.Encode(prompt_ + text, {.read_special = false});
    Truncate(encoding, longest_, tokenizer_.cut_at());
    Check(!encoding.ids.empty(), "{}: it has no tokens", Quoted(text));
    return encoding;
  }

 private:
  const PipelineTokenizer& tokenizer_;
  std::int64_t longest_;
  std::string prompt_;
};

Tensor SentenceLoss(const TextEncoder& model, Context& context, const SentenceBatch& batch,
                    const SentenceVectorOptions& options, double scale) {
  const std::int64_t all = std::ssize(batch.texts), pairs = batch.pairs;
  // A pair has two texts and its share of the negatives.
  const std::int64_t at_once = std::min(options.part, pairs) * all / pairs;
  const Tensor vectors = Recomputed(
      context, all, at_once,
      [&model, &batch, first = options.first_token](Context& own, std::int64_t begin, std::int64_t end) {
        return VectorsOf(model, own, std::span(batch.texts.begin() + begin, batch.texts.begin() + end), first);
      });
  const auto rows = [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int32_t> which;
    for (std::int64_t row = begin; row < end; ++row) which.push_back(static_cast<std::int32_t>(row));
    return ops::Embedding(vectors, which);
  };
  const Tensor texts = rows(0, pairs);
  const auto logits = [&](const Tensor& a, const Tensor& b) {
    return ops::Scale(ops::Linear(a, {.value = b}), options.scale);
  };
  std::vector<std::vector<std::int32_t>> others;
  for (std::int64_t i = pairs; i < all; ++i) others.push_back(batch.texts[static_cast<std::size_t>(i)].ids);
  return SoftmaxPairLoss(logits(texts, rows(pairs, all)), logits(rows(pairs, 2 * pairs), texts), FirstOfEqual(others),
                         scale);
}

ValidationReport Validate(const TextEncoder& model, const SentenceReader& read, const std::vector<SimilarTexts>& valid,
                          const SentenceVectorOptions& options, const PassWatch& watch) {
  const auto all = std::ssize(valid);
  const auto blocks = SharedBlocks(watch, all, kPairsAtOnce, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> numbers;
    for (const bool match : {false, true}) {
      std::vector<Encoding> texts;
      for (std::int64_t i = begin; i < end; ++i) {
        const SimilarTexts& pair = valid[static_cast<std::size_t>(i)];
        texts.push_back(read(match ? pair.match : pair.text));
      }
      Context context;
      std::ranges::copy(VectorsOf(model, context, texts, options.first_token).ToVector<float>(),
                        std::back_inserter(numbers));
    }
    return numbers;
  });
  const auto [all_texts, all_matches] = PairVectorsOf(blocks, all);
  double loss = 0;
  std::int64_t found = 0;
  for (std::int64_t first = 0; first < all; first += kPairsCompared) {
    const std::int64_t block = std::min(kPairsCompared, all - first);
    const Tensor texts = all_texts.ViewRows(first, block), matches = all_matches.ViewRows(first, block);
    const Tensor of_texts = ops::Scale(ops::Linear(texts, {.value = matches}), options.scale),
                 of_matches = ops::Scale(ops::Linear(matches, {.value = texts}), options.scale);
    std::vector<std::vector<std::int32_t>> matched;
    for (std::int64_t i = first; i < first + block; ++i)
      matched.push_back(read(valid[static_cast<std::size_t>(i)].match).ids);
    loss += static_cast<double>(SoftmaxPairLoss(of_texts, of_matches, FirstOfEqual(matched), 1).data<float>()[0]);
    const auto right = [&](std::int64_t a, std::int64_t b) {
      return valid[static_cast<std::size_t>(first + a)].match == valid[static_cast<std::size_t>(first + b)].match;
    };
    found += std::ranges::count(RanksOf(of_texts, right), 0);
  }
  ValidationReport report;
  report.labels = all;
  report.loss = loss / static_cast<double>(all);
  report.score_name = "recall";
  report.score = 100 * static_cast<double>(found) / static_cast<double>(all);
  return report;
}

}  // namespace

TrainingTask SentenceVectorTask(TextEncoder& model, const PipelineTokenizer& tokenizer,
                                const std::vector<SimilarTexts>& train, const std::vector<SimilarTexts>& valid,
                                const SentenceVectorOptions& options) {
  Check(!train.empty() && !valid.empty(), "there are no texts to {}", train.empty() ? "train on" : "validate on");
  CheckPairOptions(options.batches, options.part);
  const SentenceReader read(tokenizer, options);
  TrainingTask task;
  task.model = &model;
  task.batches = PreparedBatches(std::ssize(train), options.batches, [&train, read](const BatchPlan& plan) {
    SentenceBatch batch;
    for (const std::uint32_t example : plan.examples) batch.texts.push_back(read(train[example].text));
    for (const std::uint32_t example : plan.examples) batch.texts.push_back(read(train[example].match));
    for (const std::uint32_t example : plan.examples)
      for (const std::string& negative : train[example].negatives) batch.texts.push_back(read(negative));
    batch.pairs = std::ssize(plan.examples);
    TrainingBatch made;
    made.labels = batch.pairs;
    made.parts.emplace_back(std::move(batch));
    return made;
  });
  task.loss = [&model, options](Context& context, const TrainingPart& batch, double scale) {
    return SentenceLoss(model, context, batch.As<SentenceBatch>(), options, scale);
  };
  task.validate = [&model, read, &valid, options](const PassWatch& watch) {
    return Validate(model, read, valid, options, watch);
  };
  task.scores = {"recall"};
  return task;
}

}  // namespace headlight
