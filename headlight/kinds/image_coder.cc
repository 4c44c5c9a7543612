#include "headlight/kinds/image_coder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/kinds/forward_images.h"
#include "headlight/kinds/forward_tensors.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/logit_laplace.h"

namespace headlight {
namespace {

// Returns factor * x + shift, elementwise.
Tensor Moved(const Tensor& x, double factor, double shift) {
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) {
    std::ranges::transform(x.span<T>(), y.span<T>().begin(),
                           [&](T value) { return static_cast<T>(factor) * value + static_cast<T>(shift); });
  });
  return y;
}

}  // namespace

Json::Object ImageCoder::Description() const {
  return WithLayerSizes(
      {{"image_size", limits_.image}, {"codes", limits_.codes}, {"codes_per_side", limits_.grid().width}});
}

FeatureMaps ImageCoder::Encode(Context& /*context*/, const FeatureMaps& /*pixels*/) const {
  Fail("{}: this model has no encoder, only a decoder", parameters_.source());
}

FeatureMaps ImageCoder::Input(const FeatureMaps& pixels, double factor, double shift) const {
  for (const Grid& grid : pixels.grids)
    Check(grid.cells() > 0 && grid.height % limits_.cell == 0 && grid.width % limits_.cell == 0,
          "an image of {} x {} pixels: its sides must be multiples of {}", grid.width, grid.height, limits_.cell);
  return {Moved(pixels.rows, factor, shift), pixels.grids};
}

std::int64_t ImagesAtOnce(const ImageCoder& model) {
  constexpr std::int64_t pixels = 1 << 16;
  return std::max<std::int64_t>(1, pixels / (model.limits().image * model.limits().image));
}

std::vector<std::int32_t> LikeliestCodes(const ImageCoder& model, const Tensor& scores) {
  std::vector<std::int32_t> codes;
  Dispatch(scores.dtype(), [&]<typename T>(T) {
    const Matrix<T> rows = scores.matrix<T>();
    for (std::int64_t cell = 0; cell < rows.rows; ++cell) {
      const T* const row = rows.row(cell);
      if (!std::all_of(row, row + rows.columns, [](T score) { return std::isfinite(score); }))
        model.parameters().FailNotFinite("encoding an image");
      codes.push_back(static_cast<std::int32_t>(std::max_element(row, row + rows.columns) - row));
    }
  });
  return codes;
}

std::vector<std::int32_t> CodesOf(const ImageCoder& model, std::span<const Tensor> images) {
  Context context;
  return LikeliestCodes(model, model.Encode(context, MapsOf(images, 3, model.parameters().dtype())).rows);
}

FeatureMaps WeightsOf(const ImageCoder& model, std::span<const std::int32_t> codes, std::vector<Grid> grids) {
  const std::int64_t count = model.limits().codes;
  FeatureMaps weights = {Tensor::Zeros({std::ssize(codes), count}, model.parameters().dtype()), std::move(grids)};
  for (std::size_t cell = 0; cell < codes.size(); ++cell) {
    Check(codes[cell] >= 0 && codes[cell] < count, "code {} of cell {}: the model has {} codes", codes[cell], cell,
          count);
    Dispatch(weights.rows.dtype(),
             [&]<typename T>(T) { weights.rows.matrix<T>().row(static_cast<std::int64_t>(cell))[codes[cell]] = 1; });
  }
  return weights;
}

Tensor PixelsOf(const ImageCoder& model, const Tensor& decoded) {
  const bool normal = model.limits().distribution == PixelDistribution::normal;
  const Tensor pixels = Tensor::Empty({decoded.rows(), 3}, decoded.dtype());
  Dispatch(decoded.dtype(), [&]<typename T>(T) {
    for (std::int64_t row = 0; row < decoded.rows(); ++row)
      for (std::int64_t channel = 0; channel < 3; ++channel) {
        const double value = decoded.matrix<T>().row(row)[channel];
        if (!std::isfinite(value)) model.parameters().FailNotFinite("decoding an image");
        const double pixel =
            normal ? 0.5 * value + 0.5 : (1 / (1 + std::exp(-value)) - kLaplaceMargin) / (1 - 2 * kLaplaceMargin);
        pixels.matrix<T>().row(row)[channel] = static_cast<T>(std::clamp(pixel, 0.0, 1.0));
      }
  });
  return pixels;
}

Tensor ReconstructionLoss(const ImageCoder& model, const Tensor& decoded, const Tensor& pixels, double scale) {
  if (model.limits().distribution == PixelDistribution::logit_laplace)
    return ops::LogitLaplace(decoded, Moved(pixels, 1 - 2 * kLaplaceMargin, kLaplaceMargin), scale);
  const Tensor error = ops::Add(decoded, Moved(pixels, -2, 1));  // 1 - 2 x is the negated target
  return ops::Scale(ops::Sum(ops::Multiply(error, error)), scale);
}

namespace {

// Reads the codes of a file and returns them as inputs of Decode.
FeatureMaps ReadCodes(const Safetensors& in, const ImageCoder& model) {
  const StoredTensor& stored = in.At("codes");
  Check((stored.type == StoredType::i64 || stored.type == StoredType::i32) && stored.shape.rank() == 3 &&
            stored.shape.elements() > 0,
        "{}: codes is {} of shape {}, and must be I64 or I32 [batch, rows, columns] with none of them 0", in.path(),
        Name(stored.type), ToString(stored.shape));
  const Tensor codes = in.Read("codes", DType::int32);
  const Grid grid = {stored.shape[1], stored.shape[2]};
  return WeightsOf(model, codes.span<std::int32_t>(),
                   std::vector<Grid>(static_cast<std::size_t>(stored.shape[0]), grid));
}

}  // namespace

NamedTensors ImageCoder::Forward(const Safetensors& in) const {
  CheckInputs(in, {"pixel_values", "codes"});
  Check(!in.contains("pixel_values") || !in.contains("codes"), "{}: has both pixel_values and codes, and must have one",
        in.path());
  NamedTensors out;
  Context context;
  if (in.contains("codes")) {
    const FeatureMaps decoded = Decode(context, ReadCodes(in, *this));
    out.tensors["pixel_values"] =
        AsMaps(PixelsOf(*this, decoded.rows), std::ssize(decoded.grids), decoded.grids.front());
    return out;
  }
  const std::int64_t cell = limits_.cell;
  const std::vector<Tensor> images = ReadPixelValues(in, 3, {cell, cell});
  const FeatureMaps scores = Encode(context, MapsOf(images, 3, DType::float32));
  const Grid grid = scores.grids.front();
  out.tensors["logits"] = AsMaps(scores.rows, std::ssize(images), grid);
  const std::vector<std::int32_t> codes = LikeliestCodes(*this, scores.rows);
  out.tensors["codes"] = Tensor::From<std::int32_t>(codes, {std::ssize(images), grid.height, grid.width});
  return out;
}

}  // namespace headlight
