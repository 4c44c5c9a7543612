#include "headlight/ops/sequence_cross_entropy.h"

#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/base/error.h"
#include "headlight/kernels/cross_entropy.h"
#include "headlight/ops/loss_gradient.h"

namespace headlight::ops {

Tensor SequenceCrossEntropy(const Tensor& scores, const Sequences& sequences, std::span<const std::int32_t> labels,
                            double scale) {
  Check(scores.shape().rank() == 2 && std::ssize(labels) == std::ssize(sequences) * scores.columns(),
        "SequenceCrossEntropy: scores of shape {} in {} sequences do not fit {} labels", ToString(scores.shape()),
        sequences.size(), labels.size());
  const Tensor loss = Tensor::Empty({1}, scores.dtype());
  // The gradient is computed in the forward pass, for an incoming gradient of 1.
  const Tensor d_scores = scores.node() != nullptr ? Tensor::Zeros(scores.shape(), scores.dtype()) : Tensor();
  Dispatch(scores.dtype(), [&]<typename T>(T) {
    double sum = 0;
    const Matrix<const T> from = scores.matrix<T>();
    std::vector<T> column;  // the scores of a sequence in one column
    auto label = labels.begin();
    for (const Sequence& sequence : sequences) {
      Check(sequence.begin >= 0 && sequence.length > 0 && sequence.end() <= scores.rows(),
            "SequenceCrossEntropy: rows {} to {} of {}", sequence.begin, sequence.end(), scores.rows());
      for (std::int64_t c = 0; c < scores.columns(); ++c, ++label) {
        if (*label < 0) continue;
        column.clear();
        for (std::int32_t row = sequence.begin; row < sequence.end(); ++row) column.push_back(from.row(row)[c]);
        double of_column = 0;
        if (d_scores.empty()) {
          kernels::CrossEntropyRows<T>({column.data(), 1, sequence.length, sequence.length}, {&*label, 1}, 0,
                                       {&of_column, 1});
        } else {
          kernels::CrossEntropyRowsGradient<T>({column.data(), 1, sequence.length, sequence.length}, {&*label, 1}, 0,
                                               scale, {&of_column, 1});
          for (std::int32_t row = sequence.begin; row < sequence.end(); ++row)
            d_scores.matrix<T>().row(row)[c] = column[static_cast<std::size_t>(row - sequence.begin)];
        }
        sum += of_column;
      }
    }
    loss.data<T>()[0] = static_cast<T>(scale * sum);
  });
  return Record(loss, {&scores}, [x = scores.node(), d_scores](const Tensor& gradient) {
    ScaleByIncoming(d_scores, gradient);
    Accumulate(x, d_scores);
  });
}

}  // namespace headlight::ops
