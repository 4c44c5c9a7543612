#include "headlight/ops/relative_scores.h"

#include <array>

#include "headlight/autograd/tape.h"
#include "headlight/kernels/gemm.h"

namespace headlight::ops {
namespace {

struct RelativePart {
  Tensor x, relative;  // both are empty if the part is absent
  std::int64_t columns(std::int32_t heads) const { return x.empty() ? 0 : heads * relative.rows(); }
};

Tensor OfHead(const Tensor& x, std::int32_t head, std::int32_t heads) {
  const std::int64_t head_dim = x.columns() / heads;
  return x.ViewColumns(head * head_dim, head_dim);
}

// Computes the scores [tokens, heads * vectors] of one part.
template <typename T>
void Multiply(const RelativePart& part, std::int32_t heads, const Tensor& scores) {
  const std::int64_t head_dim = part.x.columns() / heads, vectors = part.relative.rows();
  for (std::int32_t head = 0; head < heads; ++head) {
    kernels::PackedMatrix<T> packed(head_dim, vectors);
    packed.Pack(OfHead(part.relative, head, heads).template matrix<T>(), /*transposed=*/true);
    kernels::Gemm<T>(OfHead(part.x, head, heads).template matrix<T>(), packed,
                     scores.ViewColumns(head * vectors, vectors).template matrix<T>());
  }
}

template <typename T>
void MultiplyGradient(const RelativePart& part, std::int32_t heads, const Tensor& d_scores) {
  const std::int64_t head_dim = part.x.columns() / heads, vectors = part.relative.rows();
  const Tensor dx = part.x.node() == nullptr ? Tensor() : SumSlotFor(part.x.node());
  const Tensor d_relative = part.relative.node() == nullptr ? Tensor() : SumSlotFor(part.relative.node());
  for (std::int32_t head = 0; head < heads; ++head) {
    const Matrix<const T> dy = d_scores.ViewColumns(head * vectors, vectors).template matrix<T>();
    if (!dx.empty()) {
      kernels::PackedMatrix<T> packed(vectors, head_dim);
      packed.Pack(OfHead(part.relative, head, heads).template matrix<T>(), /*transposed=*/false);
      kernels::Gemm<T>(dy, packed, OfHead(dx, head, heads).template matrix<T>(), /*bias=*/nullptr, Activation::none,
                       /*accumulate=*/true);
    }
    if (!d_relative.empty())
      kernels::GemmTransposed<T>(dy, OfHead(part.x, head, heads).template matrix<T>(),
                                 OfHead(d_relative, head, heads).template matrix<T>());
  }
}

}  // namespace

Tensor RelativeScores(const Tensor& query, const Tensor& relative_key, const Tensor& key, const Tensor& relative_query,
                      std::int32_t heads) {
  const std::array<RelativePart, 2> parts = {RelativePart{query, relative_key}, RelativePart{key, relative_query}};
  for (const RelativePart& part : parts)
    Check(part.x.empty() == part.relative.empty() &&
              (part.x.empty() || (part.x.columns() == part.relative.columns() && part.x.columns() % heads == 0)),
          "RelativeScores: {} heads of shapes {} and {} do not fit", heads, ToString(part.x.shape()),
          ToString(part.relative.shape()));
  Check(!query.empty() || !key.empty(), "RelativeScores: there is nothing to multiply");
  Check(query.empty() || key.empty() || query.rows() == key.rows(),
        "RelativeScores: queries of shape {} and keys of shape {} have different numbers of tokens",
        ToString(query.shape()), ToString(key.shape()));
  const Tensor& x = query.empty() ? key : query;
  const std::int64_t first = parts[0].columns(heads), second = parts[1].columns(heads);
  const Tensor y = Tensor::Empty({x.rows(), first + second}, x.dtype());
  Dispatch(y.dtype(), [&]<typename T>(T) {
    if (first > 0) Multiply<T>(parts[0], heads, y.ViewColumns(0, first));
    if (second > 0) Multiply<T>(parts[1], heads, y.ViewColumns(first, second));
  });
  return Record(y, {&query, &relative_key, &key, &relative_query}, [parts, heads, first, second](const Tensor& dy) {
    Dispatch(dy.dtype(), [&]<typename T>(T) {
      if (first > 0) MultiplyGradient<T>(parts[0], heads, dy.ViewColumns(0, first));
      if (second > 0) MultiplyGradient<T>(parts[1], heads, dy.ViewColumns(first, second));
    });
  });
}

}  // namespace headlight::ops
