#include "headlight/generate/output_words.h"

#include <algorithm>
#include <limits>

#include "headlight/kernels/softmax.h"

namespace headlight {
namespace {

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

}  // namespace

OutputWords::OutputWords(const EncoderDecoder& model, Context& context, const Shortlist* shortlist,
                         std::span<const std::int32_t> source_ids, const Sequences& sources)
    : model_(model) {
  if (shortlist == nullptr) return;
  std::vector<std::vector<std::int32_t>> lists;
  for (const Sequence& source : sources) {
    std::vector<std::int32_t>& list = lists.emplace_back(shortlist->For(
        source_ids.subspan(static_cast<std::size_t>(source.begin), static_cast<std::size_t>(source.length))));
    std::erase(list, model.limits().pad_id);
    const auto end = std::ranges::lower_bound(list, model.limits().end_id);
    if (end == list.end() || *end != model.limits().end_id) list.insert(end, model.limits().end_id);
    words_.insert(words_.end(), list.begin(), list.end());
  }
  std::ranges::sort(words_);
  words_.erase(std::unique(words_.begin(), words_.end()), words_.end());

  for (const std::vector<std::int32_t>& list : lists) {
    std::vector<std::int32_t>& outside = outside_.emplace_back();
    auto next = list.begin();
    for (std::size_t column = 0; column < words_.size(); ++column) {
      if (next != list.end() && *next == words_[column])
        ++next;
      else
        outside.push_back(static_cast<std::int32_t>(column));
    }
  }

  const ops::Weight whole = model.OutputWeight(context);
  packed_ = kernels::PackedMatrix<float>(whole.shape()[1], static_cast<std::int64_t>(words_.size()), whole.compute);
  packed_.Pack(ops::Rows(whole, words_).matrix<float>(), /*transposed=*/true);
  weight_ = {.value = {}, .packed = &packed_, .compute = whole.compute};
  if (const Tensor bias = model.OutputBias(context); !bias.empty()) {
    bias_ = Tensor::Empty({static_cast<std::int64_t>(words_.size())});
    for (std::size_t column = 0; column < words_.size(); ++column)
      bias_.data<float>()[column] = bias.data<float>()[words_[column]];
  }
}

Tensor OutputWords::LogProbabilities(Context& context, const Tensor& hidden, std::span<const std::size_t> sentences,
                                     bool may_end) const {
  const Tensor scores = words_.empty() ? model_.Logits(context, hidden) : ops::Linear(hidden, weight_, bias_);
  const Matrix<float> rows = scores.matrix<float>();
  if (!words_.empty())
    for (std::int64_t row = 0; row < rows.rows; ++row)
      for (const std::int32_t column : outside_[sentences[static_cast<std::size_t>(row)]])
        rows.row(row)[column] = kImpossible;
  kernels::LogSoftmaxRows<float>(rows, rows);
  if (words_.empty()) scores.ViewColumns(model_.limits().pad_id, 1).Fill(kImpossible);
  if (!may_end) scores.ViewColumns(ColumnOf(model_.limits().end_id), 1).Fill(kImpossible);
  return scores;
}

std::int64_t OutputWords::ColumnOf(std::int32_t word) const {
  return words_.empty() ? word : std::ranges::lower_bound(words_, word) - words_.begin();
}

}  // namespace headlight
