#include "headlight/cli/forward_pictures.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/nn/object_detector.h"
#include "headlight/nn/picture_coder.h"
#include "headlight/nn/picture_encoder.h"

namespace headlight {

std::vector<Tensor> ReadPixelValues(const Safetensors& in, std::int64_t channels, Grid patch) {
  const StoredTensor& stored = in.At("pixel_values");
  const Shape shape = stored.shape;
  Check(shape.rank() == 4 && shape.elements() > 0,
        "{}: pixel_values has the shape {}, and must be [batch, channels, height, width] with none of them 0",
        in.path(), ToString(shape));
  Check(shape[1] == channels, "{}: pixel_values has {} channels, and the model reads {}", in.path(), shape[1],
        channels);
  Check(shape[2] >= patch.height && shape[3] >= patch.width,
        "{}: pixel_values are of {} x {} pixels, and a patch is of {} x {}", in.path(), shape[2], shape[3],
        patch.height, patch.width);
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

namespace {

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
  const std::vector<Tensor> pictures = ReadPixelValues(in, model->limits().channels, model->limits().patch);
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

std::vector<ObjectDetector::PixelMask> ReadPixelMask(const Safetensors& in, std::span<const Tensor> pictures) {
  const Shape expected = {std::ssize(pictures), pictures[0].shape()[0], pictures[0].shape()[1]};
  Check(in.At("pixel_mask").shape == expected, "{}: pixel_mask has the shape {}, and must be {} as pixel_values",
        in.path(), ToString(in.At("pixel_mask").shape), ToString(expected));
  const std::vector<std::int32_t> seen = in.Read("pixel_mask", DType::int32).ToVector<std::int32_t>();
  Check(std::ranges::all_of(seen, [](std::int32_t value) { return value == 0 || value == 1; }),
        "{}: pixel_mask must be of 0 and 1", in.path());
  std::vector<ObjectDetector::PixelMask> masks;
  for (auto from = seen.begin(); from != seen.end(); from += expected[1] * expected[2])
    masks.emplace_back(from, from + expected[1] * expected[2]);
  return masks;
}

namespace {

// Rows of the cells that are seen, as [batch, cells, columns], 0 for the others.
Tensor AllCells(const Tensor& rows, const DetectedPictures& found) {
  const std::int64_t cells = found.grids[0].cells();
  const Tensor all = Tensor::Zeros({std::ssize(found.grids), cells, rows.columns()});
  for (std::size_t picture = 0; picture < found.grids.size(); ++picture) {
    const Sequence& own = found.pictures[picture];
    for (std::int32_t i = 0; i < own.length; ++i)
      std::copy_n(rows.matrix<float>().row(own.row(i)), rows.columns(),
                  all.matrix<float>().row(static_cast<std::int64_t>(picture) * cells +
                                          found.cells[static_cast<std::size_t>(own.row(i))]));
  }
  return all;
}

// The weights [1, heads, query, key] of one picture, whose cells that are seen are queries or keys or neither, into
// those of the batch.
void AddCellAttention(NamedTensors& out, const LayerAttention& seen, const DetectedPictures& found) {
  static constexpr const char* kNames[] = {"encoder_attentions", "decoder_attentions", "cross_attentions"};
  const std::int64_t cells = found.grids[0].cells(), heads = seen.weights.shape()[1];
  const Sequence& own = found.pictures[static_cast<std::size_t>(seen.sentence)];
  std::vector<std::int64_t> places;
  for (std::int32_t i = 0; i < own.length; ++i) places.push_back(found.cells[static_cast<std::size_t>(own.row(i))]);
  const bool cell_queries = seen.kind == AttentionKind::encoder_self,
             cell_keys = seen.kind != AttentionKind::decoder_self;
  const std::int64_t queries = cell_queries ? cells : seen.weights.shape()[2], keys = cell_keys ? cells : queries;
  Tensor& all = out.tensors[fmt::format("{}.{}", kNames[static_cast<int>(seen.kind)], seen.layer)];
  if (all.empty()) all = Tensor::Zeros({std::ssize(found.grids), heads, queries, keys});
  const float* from = seen.weights.data<float>();
  for (std::int64_t head = 0; head < heads; ++head)
    for (std::int64_t query = 0; query < seen.weights.shape()[2]; ++query) {
      const std::int64_t row = cell_queries ? places[static_cast<std::size_t>(query)] : query;
      float* const to = all.data<float>() + ((seen.sentence * heads + head) * queries + row) * keys;
      for (std::int64_t key = 0; key < seen.weights.shape()[3]; ++key)
        to[cell_keys ? places[static_cast<std::size_t>(key)] : key] = *from++;
    }
}

}  // namespace

NamedTensors ForwardDetector(const Safetensors& in, const std::string& folder) {
  CheckInputs(in, {"pixel_values", "pixel_mask"});
  const auto model = LoadModel<ObjectDetector>(folder);
  const std::vector<Tensor> pictures = ReadPixelValues(in, model->limits().channels, {1, 1});
  std::vector<ObjectDetector::PixelMask> masks;
  if (in.contains("pixel_mask")) masks = ReadPixelMask(in, pictures);
  const std::int64_t batch = std::ssize(pictures), queries = model->limits().queries;

  NamedTensors out;
  Context context;
  std::vector<LayerAttention> attentions;
  context.sink = [&](const LayerAttention& seen) { attentions.push_back(seen); };
  const DetectedPictures found = model->Detect(context, pictures, masks);
  for (const LayerAttention& seen : attentions) AddCellAttention(out, seen, found);
  const auto of_queries = [&](const Tensor& rows) { return rows.ViewAs({batch, queries, rows.columns()}); };
  out.tensors["logits"] = of_queries(found.layers.back().logits);
  out.tensors["pred_boxes"] = of_queries(found.layers.back().boxes);
  out.tensors["last_hidden_state"] = of_queries(found.queries);
  out.tensors["encoder_last_hidden_state"] = AllCells(found.memory, found);
  if (model->limits().masks) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(batch * queries));
    std::iota(all.begin(), all.end(), 0);
    const ops::FeatureMaps made = model->Masks(context, found, all);
    out.tensors["pred_masks"] = made.rows.ViewAs({batch, queries, made.grids[0].height, made.grids[0].width});
  }
  return out;
}

namespace {

// The codes of a file as Decode's input.
FeatureMaps ReadCodes(const Safetensors& in, const PictureCoder& model) {
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

NamedTensors ForwardPictureCoder(const Safetensors& in, const std::string& folder) {
  CheckInputs(in, {"pixel_values", "codes"});
  Check(!in.contains("pixel_values") || !in.contains("codes"), "{}: has both pixel_values and codes, and must have one",
        in.path());
  const auto model = LoadModel<PictureCoder>(folder);
  NamedTensors out;
  Context context;
  if (in.contains("codes")) {
    const FeatureMaps decoded = model->Decode(context, ReadCodes(in, *model));
    out.tensors["pixel_values"] =
        AsMaps(PixelsOf(*model, decoded.rows), std::ssize(decoded.grids), decoded.grids.front());
    return out;
  }
  const std::int64_t cell = model->limits().cell;
  const std::vector<Tensor> pictures = ReadPixelValues(in, 3, {cell, cell});
  const FeatureMaps scores = model->Encode(context, MapsOf(pictures, 3, DType::float32));
  const Grid grid = scores.grids.front();
  out.tensors["logits"] = AsMaps(scores.rows, std::ssize(pictures), grid);
  const std::vector<std::int32_t> codes = LikeliestCodes(*model, scores.rows);
  out.tensors["codes"] = Tensor::From<std::int32_t>(codes, {std::ssize(pictures), grid.height, grid.width});
  return out;
}

}  // namespace headlight
