#include "headlight/train/objectives/sequences.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/text/metrics/bleu.h"
#include "headlight/train/objectives/token_task.h"

namespace headlight {
namespace {

using Ids = std::vector<std::int32_t>;

TokenExamples ExamplesOf(const EncoderDecoder& model, const std::vector<SequenceExample>& pairs, const char* purpose) {
  Check(!pairs.empty(), "there is no pair to {}", purpose);
  const EncoderDecoder::Limits limits = model.limits();
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (const std::size_t length : {pairs[i].source.size(), pairs[i].target.size() + 1})
      Check(length >= 1 && std::cmp_less_equal(length, limits.positions),
            "pair {} to {}: one of its texts has {} tokens, but must have from 1 to {}", i + 1, purpose, length,
            limits.positions);
  const auto pair = [&pairs](std::int64_t example) -> const SequenceExample& {
    return pairs[static_cast<std::size_t>(example)];
  };
  return {.size = std::ssize(pairs),
          .length =
              [pair](std::int64_t example) {
                return LengthOfPair(pair(example).source.size(), pair(example).target.size() + 1);
              },
          .append =
              [pair, limits](std::int64_t example, Random&, TokenBatch& batch) {
                AppendPair(pair(example).source, pair(example).target, limits.start_id, limits.end_id, batch);
              }};
}

}  // namespace

ExampleLength LengthOfPair(std::size_t source, std::size_t labels) {
  const auto [shorter, longer] = std::minmax({static_cast<std::int64_t>(source), static_cast<std::int64_t>(labels)});
  return {longer, shorter};
}

TrainingTask SequenceTask(EncoderDecoder& model, const SequenceSets& sets, const TeacherForcingOptions& options) {
  Ensure(sets.valid_sources.size() == sets.valid.size() && sets.decode, "{} texts of {} pairs",
         sets.valid_sources.size(), sets.valid.size());
  const auto validate = [&model, &sets, valid = ExamplesOf(model, sets.valid, "validate on")](const PassWatch& watch) {
    const ReferenceLoss loss = LossOfPairs(model, valid, watch);
    ValidationReport report = LossReport(loss.sum, loss.tokens);
    report.score_name = "exact";
    report.more_scores = {{"bleu", 0}};
    if (!std::isfinite(report.loss)) return report;  // decoding needs finite logits
    std::vector<Ids> sources;
    std::size_t longest = 0;
    for (const SequenceExample& pair : sets.valid) {
      sources.push_back(pair.source);
      longest = std::max(longest, pair.target.size() + 1);
    }
    const std::vector<Ids> found = GreedyTargets(model, sources, longest, watch);
    std::int64_t right = 0;
    std::vector<std::string> texts;
    std::vector<std::vector<std::string>> references(1);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::string& text = texts.emplace_back(sets.decode(found[i]));
      const std::string& target = references[0].emplace_back(sets.decode(sets.valid[i].target));
      if (text == target) ++right;
      if (i < 3) report.samples.push_back({sets.valid_sources[i], target, text});
    }
    report.score = PerCent(right, std::ssize(found));
    report.more_scores = {{"bleu", CorpusBleu(texts, references).score}};
    return report;
  };
  TrainingTask task = TeacherForcingTask(model, ExamplesOf(model, sets.train, "train on"), options, validate);
  task.scores = {"exact", "bleu"};
  return task;
}

std::uint64_t HashOfSequences(const std::vector<SequenceExample>& examples) {
  std::uint64_t hash = 0;
  for (const SequenceExample& pair : examples)
    for (const Ids* ids : {&pair.source, &pair.target}) {
      const std::uint64_t parts[] = {
          hash, HashOf({reinterpret_cast<const char*>(ids->data()), ids->size() * sizeof(std::int32_t)})};
      hash = HashOf({reinterpret_cast<const char*>(parts), sizeof(parts)});
    }
  return hash;
}

}  // namespace headlight
