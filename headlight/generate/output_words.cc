#include "headlight/generate/output_words.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "headlight/ops/weight_product.h"

namespace headlight {
namespace {

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

}  // namespace

OutputWords::OutputWords(OutputLayer layer, Context& context, const std::vector<std::vector<std::int32_t>>& lists)
    : layer_(std::move(layer)) {
  if (lists.empty()) return;
  for (const std::vector<std::int32_t>& list : lists) words_.insert(words_.end(), list.begin(), list.end());
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

  const ops::Weight whole = layer_.weight(context);
  packed_ = kernels::PackedMatrix<float>(whole.shape()[1], static_cast<std::int64_t>(words_.size()), whole.compute);
  packed_.Pack(ops::Rows(whole, words_).matrix<float>(), /*transposed=*/true);
  weight_ = {.value = {}, .packed = &packed_, .compute = whole.compute};
  if (const Tensor bias = layer_.bias(context); !bias.empty()) {
    bias_ = Tensor::Empty({static_cast<std::int64_t>(words_.size())});
    for (std::size_t column = 0; column < words_.size(); ++column)
      bias_.data<float>()[column] = bias.data<float>()[words_[column]];
  }
}

kernels::TopLogits<float> OutputWords::Likeliest(Context& context, const Tensor& hidden,
                                                 std::span<const std::size_t> lists, std::span<const std::int32_t> ends,
                                                 std::int64_t count) const {
  const ops::Weight weight = words_.empty() ? layer_.weight(context) : weight_;
  const Tensor bias = words_.empty() ? layer_.bias(context) : bias_;
  kernels::PackedMatrix<float> made;
  const kernels::PackedMatrix<float>& packed = ops::PackedTransposed<float>(weight, made);
  std::vector<std::int32_t> never;
  if (words_.empty() && layer_.pad_id >= 0) never.push_back(layer_.pad_id);
  for (const std::int32_t end : ends) {
    const auto column = std::ranges::lower_bound(words_, end);
    if (words_.empty())
      never.push_back(end);
    else if (column != words_.end() && *column == end)
      never.push_back(static_cast<std::int32_t>(column - words_.begin()));
  }

  // 2 MB of logits, so that a step takes no more memory for more rows. (With half a megabyte two threads wait too often
  // for one another; all 8,000 words of 160 rows at once took 2 to 8% more time.)
  constexpr std::int64_t logits = 1 << 19;
  constexpr std::int64_t step = kernels::kTopLogitsStep;
  const std::int64_t columns = packed.columns();
  const std::int64_t at_once = std::min(columns, std::max<std::int64_t>(1, logits / hidden.rows() / step) * step);
  const Tensor scores = Tensor::Empty({hidden.rows(), at_once});
  kernels::TopLogits<float> top(hidden.rows(), std::min(count, columns));
  for (std::int64_t begin = 0; begin < columns; begin += at_once) {
    const std::int64_t some = std::min(at_once, columns - begin);
    const Matrix<float> rows = scores.matrix<float>().Columns(0, some);
    kernels::Gemm<float>(hidden.matrix<float>(), packed.Columns(begin, some), rows,
                         bias.empty() ? nullptr : bias.data<float>() + begin);
    if (!words_.empty())
      for (std::int64_t row = 0; row < rows.rows; ++row) {
        const std::vector<std::int32_t>& outside = outside_[lists[static_cast<std::size_t>(row)]];
        for (auto column = std::ranges::lower_bound(outside, begin); column != outside.end() && *column < begin + some;
             ++column)
          rows.row(row)[*column - begin] = kImpossible;
      }
    kernels::AddColumns<float>(rows, begin, never, top);
  }
  kernels::ToLogProbabilities(top);
  if (!words_.empty())
    for (std::int32_t& column : top.columns) column = words_[static_cast<std::size_t>(column)];
  return top;
}

kernels::TopLogits<float> OutputWords::Choose(Context& context, const Tensor& hidden,
                                              std::span<const std::size_t> lists, std::span<const Unfinished> texts,
                                              const SearchOptions& options, std::int32_t length,
                                              std::int64_t count) const {
  const std::int64_t vocabulary = layer_.vocabulary, at_once = LogitRowsAtOnce(vocabulary);
  kernels::TopLogits<float> result(hidden.rows(), std::min(count, vocabulary));
  for (std::int64_t begin = 0; begin < hidden.rows(); begin += at_once) {
    const std::int64_t rows = std::min(at_once, hidden.rows() - begin);
    const auto first = static_cast<std::size_t>(begin), some = static_cast<std::size_t>(rows);
    const Tensor logits = Logits(context, hidden.ViewRows(begin, rows), lists.subspan(first, some));
    const kernels::TopLogits<float> top =
        ChooseWords(*layer_.model, logits.matrix<float>(), texts.subspan(first, some), options, length, result.k);
    std::ranges::copy(top.values, result.values.begin() + begin * result.k);
    std::ranges::copy(top.columns, result.columns.begin() + begin * result.k);
  }
  return result;
}

Tensor OutputWords::Logits(Context& context, const Tensor& hidden, std::span<const std::size_t> lists) const {
  if (words_.empty()) return ops::Linear(hidden, layer_.weight(context), layer_.bias(context));
  const Tensor of_list = Tensor::Empty({hidden.rows(), packed_.columns()});
  kernels::Gemm<float>(hidden.matrix<float>(), packed_, of_list.matrix<float>(),
                       bias_.empty() ? nullptr : bias_.data<float>());
  const Tensor logits = Tensor::Empty({hidden.rows(), layer_.vocabulary});
  logits.Fill(kImpossible);
  for (std::int64_t row = 0; row < hidden.rows(); ++row) {
    float* const scores = logits.matrix<float>().row(row);
    for (std::size_t column = 0; column < words_.size(); ++column)
      scores[words_[column]] = of_list.matrix<float>().row(row)[column];
    for (const std::int32_t column : outside_[lists[static_cast<std::size_t>(row)]])
      scores[words_[static_cast<std::size_t>(column)]] = kImpossible;
  }
  return logits;
}

}  // namespace headlight
