#include "headlight/train/objectives/masked_language_model.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/ops/embedding.h"
#include "headlight/train/objectives/encoder_task.h"

namespace headlight {
namespace {

using Ids = std::vector<std::int32_t>;

// Returns the positions to predict in a text: at least one, if any token may be masked.
std::vector<std::size_t> MaskedPositions(const TextExample& text, const MaskingOptions& masking, Random& random) {
  std::vector<std::vector<std::size_t>> units;  // groups of positions that are masked together
  std::int32_t last_word = -1;
  std::size_t positions = 0;
  for (std::size_t i = 0; i < text.ids.size(); ++i) {
    const std::int32_t word = text.words[i];
    if (word >= 0) {
      ++positions;
      if (!masking.whole_words || word != last_word) units.emplace_back();
      units.back().push_back(i);
    }
    last_word = word;
  }
  const auto wanted =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(masking.share * static_cast<double>(positions))));
  std::vector<std::size_t> masked;
  for (std::size_t left = units.size(); left > 0 && masked.size() < wanted; --left) {
    std::swap(units[left - 1], units[random.Below(left)]);
    masked.insert(masked.end(), units[left - 1].begin(), units[left - 1].end());
  }
  return masked;
}

EncoderHead HeadOf(const TextEncoder& model) {
  return {.logits =
              [&model](Context& context, const TokenBatch& batch) {
                Ids rows;
                for (std::size_t row = 0; row < batch.labels.size(); ++row)
                  if (batch.labels[row] >= 0) rows.push_back(static_cast<std::int32_t>(row));
                return model.MaskedTokenLogits(context, ops::Embedding(EncodeBatch(model, context, batch), rows));
              },
          .loss = [](const Tensor& logits, const TokenBatch& batch,
                     double scale) { return ops::CrossEntropy(logits, LabelsToPredict(batch), scale); }};
}

void CheckMasking(const TextEncoder& model, const std::vector<TextExample>& texts, const char* purpose,
                  const MaskingOptions& masking) {
  Check(masking.share > 0 && masking.share < 1, "the share of hidden tokens must be between 0 and 1, not {}",
        masking.share);
  Check(model.heads().masked_words, "the model has no head for masked words");
  CheckTexts(model, texts, purpose);
  for (const TextExample& text : texts) {
    Ensure(text.words.size() == text.ids.size(), "a text has {} words and {} ids", text.words.size(), text.ids.size());
    Check(std::ranges::any_of(text.words, [](std::int32_t word) { return word >= 0; }),
          "a text without a word has nothing to mask");
  }
  Check(std::cmp_less(masking.special_ids.size(), model.limits().vocabulary), "all {} tokens are special",
        model.limits().vocabulary);
}

AppendText AppendMasked(const TextEncoder& model, const MaskingOptions& masking) {
  return [masking, vocabulary = model.limits().vocabulary](const TextExample& text, Random& random, TokenBatch& batch) {
    const MaskedText masked = MaskWords(text, masking, vocabulary, random);
    AppendSource(text, masked.ids, batch);
    AppendRows(batch.labels, batch.target, masked.labels);
  };
}

}  // namespace

MaskedText MaskWords(const TextExample& text, const MaskingOptions& masking, std::int64_t vocabulary, Random& random) {
  MaskedText masked{text.ids, Ids(text.ids.size(), -1)};
  for (const std::size_t position : MaskedPositions(text, masking, random)) {
    std::int32_t& id = masked.ids[position];
    masked.labels[position] = id;
    const std::uint64_t tenth = random.Below(10);
    if (tenth < 8) {
      id = masking.mask_id;
    } else if (tenth == 8) {
      do id = static_cast<std::int32_t>(random.Below(static_cast<std::uint64_t>(vocabulary)));
      while (std::ranges::find(masking.special_ids, id) != masking.special_ids.end());
    }
  }
  return masked;
}

ValidationReport ValidateMaskedWords(const TextEncoder& model, const std::vector<TextExample>& texts,
                                     const MaskingOptions& masking, const PassWatch& watch) {
  CheckMasking(model, texts, "validate on", masking);
  double right = 0, masks = 0, loss = 0;  // sums over masked tokens
  const auto count = [&](const TokenBatch& batch, std::size_t, const Tensor& logits) {
    double own_right = 0, own_masks = 0;
    Ids of_masks;  // labels of rows whose tokens were replaced by the mask, -1 for other rows
    for (std::size_t token = 0; token < batch.labels.size(); ++token) {
      const std::int32_t label = batch.labels[token];
      if (label < 0) continue;
      if (LargestOf(logits, std::ssize(of_masks)) == label) ++own_right;
      const bool masked = batch.source_ids[token] == masking.mask_id;
      own_masks += masked ? 1 : 0;
      of_masks.push_back(masked ? label : -1);
    }
    return std::vector{own_right, own_masks,
                       static_cast<double>(ops::CrossEntropy(logits, of_masks, 1).data<float>()[0])};
  };
  ValidationReport report =
      ValidateEncoder(ExamplesOf(texts, AppendMasked(model, masking)), HeadOf(model), watch, count,
                      [&](const TokenBatch&, std::size_t, std::span<const double> numbers) {
                        right += numbers[0];
                        masks += numbers[1];
                        loss += numbers[2];
                      });
  report.score_name = "accuracy";
  report.score = PerCent(static_cast<std::int64_t>(right), report.labels);
  if (masks > 0) report.more_scores = {{"bits_per_mask", loss / masks / std::numbers::ln2}};
  return report;
}

TrainingTask MaskedLanguageModelTask(TextEncoder& model, const TextSets& texts, const MaskingOptions& masking,
                                     const BatchOptions& batches) {
  CheckMasking(model, texts.train, "train on", masking);
  CheckMasking(model, texts.valid, "validate on", masking);
  return EncoderTask(model, ExamplesOf(texts.train, AppendMasked(model, masking)), batches, HeadOf(model),
                     [&model, &texts, masking](const PassWatch& watch) {
                       return ValidateMaskedWords(model, texts.valid, masking, watch);
                     },
                     {"accuracy"});
}

}  // namespace headlight
