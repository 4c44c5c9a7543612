#include "headlight/kinds/image_encoder.h"

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/kinds/forward_images.h"
#include "headlight/kinds/forward_tensors.h"
#include "headlight/ops/pooling.h"

namespace headlight {

Tensor ImageEncoder::Features(const EncodedImages& encoded) const {
  return limits_.special > 0 ? encoded.RowOfEach(0) : ops::MeanOfMaps({encoded.hidden, encoded.grids});
}

Json::Object ImageEncoder::Description() const {
  Json::Object description = {{"image_height", limits_.image.height}, {"image_width", limits_.image.width},
                              {"patch_height", limits_.patch.height}, {"patch_width", limits_.patch.width},
                              {"channels", limits_.channels},         {"model", limits_.model}};
  if (!labels_.empty()) description.push_back({"labels", labels_});
  return WithLayerSizes(std::move(description));
}

std::unique_ptr<ImageEncoder> ImageEncoder::WithClasses(const std::vector<std::string>&) const {
  Fail("{}: this family has no head for classes", parameters_.source());
}

std::unique_ptr<ImageEncoder> GiveClasses(const ImageEncoder& model, const std::vector<std::string>& labels,
                                          std::uint64_t seed) {
  std::unique_ptr<ImageEncoder> made = model.WithClasses(labels);
  made->parameters().Initialize(seed);
  std::map<std::string_view, const Parameter*> had;
  for (const Parameter& parameter : model.parameters().all()) had[parameter.names.front()] = &parameter;
  const std::unique_ptr<ImageEncoder> encoder = model.WithClasses({});
  std::set<std::string_view> kept;
  for (const Parameter& parameter : encoder->parameters().all()) kept.insert(parameter.names.front());
  made->parameters().Unpack();
  for (const Parameter& parameter : made->parameters().all()) {
    const std::string_view name = parameter.names.front();
    if (!kept.contains(name)) continue;
    // If a folder has only the encoder, names do not have the prefix `vit.`.
    const auto same = had.contains(name) ? had.find(name) : had.find(name.substr(name.find('.') + 1));
    Ensure(same != had.end() && same->second->shape == parameter.shape, "{} is not kept", name);
    parameter.value.CopyFrom(same->second->value);
  }
  made->parameters().Pack();
  return made;
}

namespace {

std::vector<std::uint8_t> ReadMask(const Safetensors& in, std::int64_t batch, std::int64_t patches) {
  const Tensor mask = ReadIntegers(in, "bool_masked_pos");
  Check(mask.shape() == Shape{batch, patches},
        "{}: bool_masked_pos has the shape {}, and must be [batch, patches], here [{}, {}]", in.path(),
        ToString(mask.shape()), batch, patches);
  std::vector<std::uint8_t> masked;
  for (const std::int32_t value : mask.span<std::int32_t>()) {
    Check(value == 0 || value == 1, "{}: bool_masked_pos must be 0 or 1", in.path());
    masked.push_back(static_cast<std::uint8_t>(value));
  }
  return masked;
}

// Converts patches [batch * patches, channels * patch height * patch width] to images [batch, channels, height, width].
Tensor AsImages(const Tensor& patches, std::int64_t batch, Grid grid, const ImageEncoder::Limits& limits) {
  const Grid patch = limits.patch, size = {grid.height * patch.height, grid.width * patch.width};
  const Tensor images = Tensor::Empty({batch, limits.channels, size.height, size.width});
  for (std::int64_t row = 0; row < patches.rows(); ++row) {
    const std::int64_t b = row / grid.cells(), top = row % grid.cells() / grid.width * patch.height,
                       left = row % grid.width * patch.width;
    const float* from = patches.matrix<float>().row(row);
    for (std::int64_t channel = 0; channel < limits.channels; ++channel)
      for (std::int64_t y = 0; y < patch.height; ++y, from += patch.width)
        std::copy_n(from, patch.width,
                    images.matrix<float>().row((b * limits.channels + channel) * size.height + top + y) + left);
  }
  return images;
}

}  // namespace

NamedTensors ImageEncoder::Forward(const Safetensors& in) const {
  CheckInputs(in, {"pixel_values", "bool_masked_pos"});
  const std::vector<Tensor> images = ReadPixelValues(in, limits_.channels, limits_.patch);
  const Grid grid = GridOf(images.front(), limits_.patch);
  const std::int64_t batch = std::ssize(images);
  std::vector<std::uint8_t> masked;
  if (in.contains("bool_masked_pos")) masked = ReadMask(in, batch, grid.cells());

  Padded tokens{.batch = batch,
                .length = limits_.special + grid.cells(),
                .ids = {},
                .sequences = {},
                .begin = std::vector<std::int64_t>(images.size())};
  NamedTensors out;
  Context context;
  context.hooks.attention = [&](const LayerAttention& seen) { out.AddAttention("attentions", seen, tokens, tokens); };
  const EncodedImages encoded = Encode(context, images, masked);
  const bool maps = limits_.special == 0;  // true for a convolutional model
  out.tensors["last_hidden_state"] = maps ? AsMaps(encoded.hidden, batch, encoded.grids.front())
                                          : encoded.hidden.ViewAs({batch, tokens.length, encoded.hidden.columns()});
  if (heads_.pooler) {
    const Tensor pooled = Pool(context, encoded);
    out.tensors["pooler_output"] = maps ? AsMaps(pooled, batch, {1, 1}) : pooled;
  }
  if (heads_.classes) out.tensors["logits"] = ClassLogits(context, encoded);
  if (heads_.pixels) out.tensors["reconstruction"] = AsImages(Pixels(context, encoded), batch, grid, limits_);
  AddOutputs(context, encoded, out);
  return out;
}

}  // namespace headlight
