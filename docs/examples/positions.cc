// Shows two layouts of position encodings. The paper interleaves sines and cosines, and MarianMT stores them in two
// halves.
#include <fmt/format.h>

#include <cmath>

#include "docs/examples/image.h"
#include "headlight/nn/layers.h"

using namespace headlight;

namespace {

// Converts every row from [sines, cosines] to [sine, cosine, sine, cosine, ...].
Tensor Interleaved(const Tensor& halves) {
  const Tensor y = Tensor::Empty(halves.shape());
  const std::int64_t half = halves.columns() / 2;
  for (std::int64_t row = 0; row < halves.rows(); ++row)
    for (std::int64_t i = 0; i < half; ++i) {
      y.matrix<float>().row(row)[2 * i] = halves.matrix<float>().row(row)[i];
      y.matrix<float>().row(row)[2 * i + 1] = halves.matrix<float>().row(row)[half + i];
    }
  return y;
}

double Dot(const Tensor& x, std::int64_t a, std::int64_t b) {
  double sum = 0;
  for (std::int64_t i = 0; i < x.columns(); ++i) sum += x.matrix<float>().row(a)[i] * x.matrix<float>().row(b)[i];
  return sum;
}

}  // namespace

int main() {
  Context context;
  const Tensor halves = PositionalEncoding::Sinusoidal(/*positions=*/64, /*model=*/4).Table(context);
  const Tensor interleaved = Interleaved(halves);
  for (const std::int64_t position : {0, 1, 2})
    fmt::print("position {}: halves {}, interleaved {}\n", position,
               Row(halves.ViewRows(position, 1).ToVector<float>()),
               Row(interleaved.ViewRows(position, 1).ToVector<float>()));
  fmt::print("dot products depend on the distance only, and not on the order of the axis:\n");
  for (const std::int64_t position : {0, 10, 40})
    fmt::print("positions {} and {}: {:.3f} in halves, {:.3f} interleaved\n", position, position + 1,
               Dot(halves, position, position + 1), Dot(interleaved, position, position + 1));
}
