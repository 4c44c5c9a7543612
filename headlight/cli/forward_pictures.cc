#include "headlight/cli/forward_pictures.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/nn/picture_encoder.h"

namespace headlight {
namespace {

// The pictures [height, width, channels] of pixel_values.
std::vector<Tensor> ReadPictures(const Safetensors& in, const PictureEncoder::Limits& limits) {
  const StoredTensor& stored = in.At("pixel_values");
  const Shape shape = stored.shape;
  Check(shape.rank() == 4 && shape.elements() > 0,
        "{}: pixel_values has the shape {}, and must be [batch, channels, height, width] with none of them 0",
        in.path(), ToString(shape));
  Check(shape[1] == limits.channels, "{}: pixel_values has {} channels, and the model reads {}", in.path(), shape[1],
        limits.channels);
  Check(shape[2] >= limits.patch.height && shape[3] >= limits.patch.width,
        "{}: pixel_values are of {} x {} pixels, and a patch is of {} x {}", in.path(), shape[2], shape[3],
        limits.patch.height, limits.patch.width);
  const Tensor values = in.Read("pixel_values");
  std::vector<Tensor> pictures;
  for (std::int64_t b = 0; b < shape[0]; ++b) {
    const Tensor& picture = pictures.emplace_back(Tensor::Empty({shape[2], shape[3], shape[1]}));
    const std::int64_t pixels = shape[2] * shape[3];
    for (std::int64_t channel = 0; channel < shape[1]; ++channel)
      for (std::int64_t pixel = 0; pixel < pixels; ++pixel)
        picture.data<float>()[pixel * shape[1] + channel] =
            values.data<float>()[(b * shape[1] + channel) * pixels + pixel];
  }
  return pictures;
}

std::vector<std::uint8_t> ReadMask(const Safetensors& in, std::int64_t batch, std::int64_t patches) {
  const Tensor mask = ReadIntegers(in, "bool_masked_pos");
  Check(mask.shape() == Shape{batch, patches},
        "{}: bool_masked_pos has the shape {}, and must be [batch, patches], here [{}, {}]", in.path(),
        ToString(mask.shape()), batch, patches);
  std::vector<std::uint8_t> masked;
  for (const std::int32_t value : mask.span<std::int32_t>()) {
    Check(value == 0 || value == 1, "{}: bool_masked_pos must be of 0 and 1", in.path());
    masked.push_back(static_cast<std::uint8_t>(value));
  }
  return masked;
}

// Patches [batch * patches, channels * patch height * patch width] as pictures [batch, channels, height, width].
Tensor AsPictures(const Tensor& patches, std::int64_t batch, Grid grid, const PictureEncoder::Limits& limits) {
  const Grid patch = limits.patch, size = {grid.height * patch.height, grid.width * patch.width};
  const Tensor pictures = Tensor::Empty({batch, limits.channels, size.height, size.width});
  for (std::int64_t row = 0; row < patches.rows(); ++row) {
    const std::int64_t b = row / grid.cells(), top = row % grid.cells() / grid.width * patch.height,
                       left = row % grid.width * patch.width;
    const float* from = patches.matrix<float>().row(row);
    for (std::int64_t channel = 0; channel < limits.channels; ++channel)
      for (std::int64_t y = 0; y < patch.height; ++y, from += patch.width)
        std::copy_n(from, patch.width,
                    pictures.matrix<float>().row((b * limits.channels + channel) * size.height + top + y) + left);
  }
  return pictures;
}

// Maps as Transformers gives them, [batch, channels, height, width].
Tensor AsMaps(const Tensor& rows, std::int64_t batch, Grid grid) {
  const Tensor maps = Tensor::Empty({batch, rows.columns(), grid.height, grid.width});
  for (std::int64_t row = 0; row < rows.rows(); ++row)
    for (std::int64_t channel = 0; channel < rows.columns(); ++channel)
      maps.data<float>()[(row / grid.cells() * rows.columns() + channel) * grid.cells() + row % grid.cells()] =
          rows.matrix<float>().row(row)[channel];
  return maps;
}

}  // namespace

NamedTensors ForwardPictureEncoder(const Safetensors& in, const std::string& folder) {
  CheckInputs(in, {"pixel_values", "bool_masked_pos"});
  const auto model = LoadModel<PictureEncoder>(folder);
  const std::vector<Tensor> pictures = ReadPictures(in, model->limits());
  const Grid grid = GridOf(pictures.front(), model->limits().patch);
  const std::int64_t batch = std::ssize(pictures);
  std::vector<std::uint8_t> masked;
  if (in.contains("bool_masked_pos")) masked = ReadMask(in, batch, grid.cells());

  Padded tokens{.batch = batch,
                .length = model->limits().special + grid.cells(),
                .ids = {},
                .sentences = {},
                .begin = std::vector<std::int64_t>(pictures.size())};
  NamedTensors out;
  Context context;
  context.sink = [&](const LayerAttention& seen) { out.AddAttention("attentions", seen, tokens, tokens); };
  const EncodedPictures encoded = model->Encode(context, pictures, masked);
  const bool maps = model->limits().special == 0;  // of a convolutional model
  out.tensors["last_hidden_state"] = maps ? AsMaps(encoded.hidden, batch, encoded.grids.front())
                                          : encoded.hidden.ViewAs({batch, tokens.length, encoded.hidden.columns()});
  if (model->heads().pooler) {
    const Tensor pooled = model->Pool(context, encoded);
    out.tensors["pooler_output"] = maps ? AsMaps(pooled, batch, {1, 1}) : pooled;
  }
  if (model->heads().classes) out.tensors["logits"] = model->ClassLogits(context, encoded);
  if (model->heads().pixels)
    out.tensors["reconstruction"] = AsPictures(model->Pixels(context, encoded), batch, grid, model->limits());
  return out;
}

}  // namespace headlight
