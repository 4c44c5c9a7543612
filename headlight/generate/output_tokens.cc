#include "headlight/generate/output_tokens.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "headlight/kernels/soft_cap.h"
#include "headlight/ops/soft_cap.h"
#include "headlight/ops/weight.h"

namespace headlight {
namespace {

// The number of logits to compute at once. These logits occupy 2 MB, for any number of rows. With a much smaller
// number, threads would wait for each other. With a much larger number, the logits would not fit in the cache.
constexpr std::int64_t kLogitsAtOnce = 1 << 19;

}  // namespace

OutputTokens::OutputTokens(OutputLayer layer, Context& context, const std::vector<std::vector<std::int32_t>>& lists)
    : layer_(std::move(layer)) {
  if (lists.empty()) return;
  for (const std::vector<std::int32_t>& list : lists) tokens_.insert(tokens_.end(), list.begin(), list.end());
  std::ranges::sort(tokens_);
  tokens_.erase(std::unique(tokens_.begin(), tokens_.end()), tokens_.end());

  for (const std::vector<std::int32_t>& list : lists) {
    std::vector<std::int32_t>& columns = columns_.emplace_back();
    for (const std::int32_t token : list)
      columns.push_back(static_cast<std::int32_t>(std::ranges::lower_bound(tokens_, token) - tokens_.begin()));
  }

  const ops::Weight whole = layer_.weight(context);
  packed_ = kernels::PackedMatrix<float>(whole.shape()[1], static_cast<std::int64_t>(tokens_.size()), whole.compute);
  packed_.Pack(ops::Rows(whole, tokens_).matrix<float>(), /*transposed=*/true);
  if (const Tensor bias = layer_.bias(context); !bias.empty()) {
    bias_ = Tensor::Empty({static_cast<std::int64_t>(tokens_.size())});
    for (std::size_t column = 0; column < tokens_.size(); ++column)
      bias_.data<float>()[column] = bias.data<float>()[tokens_[column]];
  }
}

void OutputTokens::Cap(Matrix<float> scores) const {
  if (layer_.logit_cap > 0) kernels::SoftCapRows<float>(scores, static_cast<float>(layer_.logit_cap), scores);
}

kernels::TopLogits<float> OutputTokens::MostLikely(Context& context, const Tensor& hidden,
                                                   std::span<const std::size_t> lists,
                                                   std::span<const std::int32_t> excluded, std::int64_t count) const {
  if (!tokens_.empty()) return LikeliestOfLists(hidden, lists, excluded, count);
  const ops::Weight weight = layer_.weight(context);
  const Tensor bias = layer_.bias(context);
  kernels::PackedMatrix<float> made;
  const kernels::PackedMatrix<float>& packed = ops::PackedTransposed<float>(weight, made);

  constexpr std::int64_t step = kernels::kTopLogitsStep;
  const std::int64_t columns = packed.columns();
  const std::int64_t at_once =
      std::min(columns, std::max<std::int64_t>(1, kLogitsAtOnce / hidden.rows() / step) * step);
  const Tensor scores = Tensor::Empty({hidden.rows(), at_once});
  kernels::TopLogits<float> top(hidden.rows(), std::min(count, columns));
  for (std::int64_t begin = 0; begin < columns; begin += at_once) {
    const std::int64_t some = std::min(at_once, columns - begin);
    const Matrix<float> rows = scores.matrix<float>().Columns(0, some);
    kernels::Gemm<float>(hidden.matrix<float>(), packed.Columns(begin, some), rows,
                         bias.empty() ? nullptr : bias.data<float>() + begin);
    Cap(rows);
    kernels::AddColumns<float>(rows, begin, excluded, top);
  }
  kernels::ToLogProbabilities(top);
  return top;
}

// The softmax of a row sums only over the row's own list, in the list's order. The result therefore does not depend on
// other lists.
kernels::TopLogits<float> OutputTokens::LikeliestOfLists(const Tensor& hidden, std::span<const std::size_t> lists,
                                                         std::span<const std::int32_t> excluded,
                                                         std::int64_t count) const {
  const std::int64_t columns = packed_.columns(), at_once = std::max<std::int64_t>(1, kLogitsAtOnce / columns);
  kernels::TopLogits<float> result(hidden.rows(), std::min(count, columns));
  const Tensor scores = Tensor::Empty({std::min(at_once, hidden.rows()), columns});
  std::vector<float> own(tokens_.size());
  for (std::int64_t begin = 0; begin < hidden.rows(); begin += at_once) {
    const std::int64_t some = std::min(at_once, hidden.rows() - begin);
    const Matrix<float> rows = scores.matrix<float>().Rows(0, some);
    kernels::Gemm<float>(hidden.ViewRows(begin, some).matrix<float>(), packed_, rows,
                         bias_.empty() ? nullptr : bias_.data<float>());
    Cap(rows);
    for (std::int64_t row = 0; row < some; ++row) {
      const std::vector<std::int32_t>& list = columns_[lists[static_cast<std::size_t>(begin + row)]];
      for (std::size_t i = 0; i < list.size(); ++i) own[i] = rows.row(row)[list[i]];
      std::vector<std::int32_t> never;
      for (const std::int32_t token : excluded) {
        const auto index = std::ranges::lower_bound(
            list, token, {}, [&](std::int32_t column) { return tokens_[static_cast<std::size_t>(column)]; });
        if (index != list.end() && tokens_[static_cast<std::size_t>(*index)] == token)
          never.push_back(static_cast<std::int32_t>(index - list.begin()));
      }
      kernels::TopLogits<float> top(1, result.k);
      kernels::AddColumns<float>({own.data(), 1, std::ssize(list), std::ssize(list)}, 0, never, top);
      kernels::ToLogProbabilities(top);
      result.max[static_cast<std::size_t>(begin + row)] = top.max.front();
      result.sum[static_cast<std::size_t>(begin + row)] = top.sum.front();
      std::ranges::copy(top.values, result.values.begin() + (begin + row) * result.k);
      std::ranges::transform(top.columns, result.columns.begin() + (begin + row) * result.k, [&](std::int32_t index) {
        return tokens_[static_cast<std::size_t>(list[static_cast<std::size_t>(index)])];
      });
    }
  }
  return result;
}

kernels::TopLogits<float> OutputTokens::Choose(Context& context, const Tensor& hidden,
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
        ChooseTokens(*layer_.model, logits.matrix<float>(), texts.subspan(first, some), options, length, result.k);
    std::ranges::copy(top.values, result.values.begin() + begin * result.k);
    std::ranges::copy(top.columns, result.columns.begin() + begin * result.k);
  }
  return result;
}

Tensor OutputTokens::Logits(Context& context, const Tensor& hidden, std::span<const std::size_t> lists) const {
  if (tokens_.empty())
    return ops::SoftCap(ops::Linear(hidden, layer_.weight(context), layer_.bias(context)), layer_.logit_cap);
  const Tensor of_list = Tensor::Empty({hidden.rows(), packed_.columns()});
  kernels::Gemm<float>(hidden.matrix<float>(), packed_, of_list.matrix<float>(),
                       bias_.empty() ? nullptr : bias_.data<float>());
  Cap(of_list.matrix<float>());
  const Tensor logits = Tensor::Empty({hidden.rows(), layer_.vocabulary});
  logits.Fill(-std::numeric_limits<float>::infinity());
  for (std::int64_t row = 0; row < hidden.rows(); ++row) {
    float* const scores = logits.matrix<float>().row(row);
    for (const std::int32_t column : columns_[lists[static_cast<std::size_t>(row)]])
      scores[tokens_[static_cast<std::size_t>(column)]] = of_list.matrix<float>().row(row)[column];
  }
  return logits;
}

}  // namespace headlight
