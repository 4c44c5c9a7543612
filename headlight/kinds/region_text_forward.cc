#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/kinds/forward_images.h"
#include "headlight/kinds/forward_tensors.h"
#include "headlight/kinds/region_text_encoder.h"

namespace headlight {
namespace {

using TensorNames = RegionTextEncoder::TensorNames;

// Reads an input [pairs, regions, columns]. Returns the packed rows of visible regions.
Tensor ReadRegions(const Safetensors& in, const char* name, const Padded& seen, std::int64_t columns) {
  const StoredTensor& stored = in.At(name);
  Check(stored.shape == Shape({seen.batch, seen.length, columns}), "{}: {} has the shape {}, and must be [{}, {}, {}]",
        in.path(), name, ToString(stored.shape), seen.batch, seen.length, columns);
  const Tensor all = in.Read(name);
  const Tensor rows = Tensor::Empty({std::ssize(seen.ids), columns});
  for (std::size_t pair = 0; pair < seen.sequences.size(); ++pair)
    for (std::int32_t i = 0; i < seen.sequences[pair].length; ++i)
      std::copy_n(all.matrix<float>().row(static_cast<std::int64_t>(pair) * seen.length + seen.begin[pair] + i),
                  columns, rows.matrix<float>().row(seen.sequences[pair].row(i)));
  return rows;
}

// Returns the visible regions of each image: the regions with mask 1, or all regions if there is no mask.
Padded ReadSeen(const Safetensors& in, const TensorNames& names, const Padded& texts) {
  const Shape shape = in.At(names.features).shape;
  // With 0 features per region, a small file could declare any number of regions.
  Check(shape.rank() == 3 && shape[0] == texts.batch && shape[1] > 0 && shape[2] > 0,
        "{}: {} has the shape {}, and must be [{}, regions, features] with input_ids, none of them 0", in.path(),
        names.features, ToString(shape), texts.batch);
  Padded seen{texts.batch, shape[1], {}, {}, {}};
  if (in.contains(names.mask)) {
    Check(in.At(names.mask).shape == Shape({seen.batch, seen.length}), "{}: {} has the shape {}, and must be [{}, {}]",
          in.path(), names.mask, ToString(in.At(names.mask).shape), seen.batch, seen.length);
    return ReadPadded(in, names.mask, names.mask, 2, seen.length);  // ReadPadded reads the mask as ids
  }
  for (std::int64_t pair = 0; pair < seen.batch; ++pair) {
    seen.begin.push_back(0);
    seen.sequences.push_back({static_cast<std::int32_t>(pair * seen.length), static_cast<std::int32_t>(seen.length)});
  }
  seen.ids.resize(static_cast<std::size_t>(seen.batch * seen.length));
  return seen;
}

std::vector<std::int32_t> ReadTasks(const Safetensors& in, const char* name, const Padded& texts, std::int64_t tasks) {
  if (!in.contains(name)) return {};
  const Tensor ids = ReadIntegers(in, name);
  Check(ids.shape() == Shape({texts.batch, 1}), "{}: {} has the shape {}, and must be [{}, 1]", in.path(), name,
        ToString(ids.shape()), texts.batch);
  std::vector<std::int32_t> numbers = ids.ToVector<std::int32_t>();
  for (const std::int32_t number : numbers)
    Check(number >= 0 && number < tasks, "{}: {}: {} is outside the {} tasks", in.path(), name, number, tasks);
  return numbers;
}

// Returns the texts, including the tokens that the model adds to each text.
Padded WithAdded(const Padded& texts, const Sequences& sequences) {
  Padded longer = texts;
  longer.length += sequences.front().length - texts.sequences.front().length;
  longer.sequences = sequences;
  return longer;
}

// Returns the visible part of an image, which must consist of whole patches and include the top left corner.
Tensor Shown(const Tensor& image, const std::vector<std::uint8_t>& mask, Grid patch, const std::string& location) {
  const std::int64_t height = image.shape()[0], width = image.shape()[1], channels = image.shape()[2];
  const auto seen = [&](std::int64_t y, std::int64_t x) { return mask[static_cast<std::size_t>(y * width + x)] != 0; };
  Grid shown = {0, 0};
  while (shown.height < height && seen(shown.height, 0)) ++shown.height;
  while (shown.width < width && seen(0, shown.width)) ++shown.width;
  bool whole = shown.cells() > 0 && shown.height % patch.height == 0 && shown.width % patch.width == 0;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) whole = whole && seen(y, x) == (y < shown.height && x < shown.width);
  Check(whole, "{}: must be 1 in a rectangle of whole patches of {} x {} from the top left, and 0 elsewhere", location,
        patch.height, patch.width);
  Tensor part = Tensor::Empty({shown.height, shown.width, channels});
  for (std::int64_t y = 0; y < shown.height; ++y)
    std::copy_n(image.data<float>() + y * width * channels, shown.width * channels,
                part.data<float>() + y * shown.width * channels);
  return part;
}

// Reads the patches of pixel_values that pixel_mask marks as visible.
Regions ReadPatches(const Safetensors& in, const RegionTextEncoder::Limits& limits, const Padded& texts) {
  std::vector<Tensor> images = ReadPixelValues(in, limits.channels, limits.patch);
  Check(std::ssize(images) == texts.batch, "{}: there are {} images in pixel_values, and {} texts in input_ids",
        in.path(), images.size(), texts.batch);
  if (in.contains("pixel_mask")) {
    const std::vector<std::vector<std::uint8_t>> masks = ReadPixelMask(in, images);
    for (std::size_t i = 0; i < images.size(); ++i)
      images[i] = Shown(images[i], masks[i], limits.patch, fmt::format("{}: pixel_mask, image {}", in.path(), i));
  }
  return PatchRegions(images, limits.patch, limits.channels);
}

// Returns the padded sequences of images. The length of the batch is the number of regions of the largest image.
Padded PaddedImages(const Sequences& images) {
  Padded padded{std::ssize(images), 0, {}, images, std::vector<std::int64_t>(images.size())};
  for (const Sequence& image : images) padded.length = std::max<std::int64_t>(padded.length, image.length);
  return padded;
}

// Pads the packed rows of the text and region streams to [pairs, length, columns] with zeros.
struct Streams {
  const Padded &texts, &seen;

  // Pads both streams and appends the regions to the padded text.
  Tensor PadBoth(const Tensor& text, const Tensor& regions) const {
    const Tensor padded[] = {Pad(text, texts), Pad(regions, seen)};
    const Tensor both = Tensor::Empty({texts.batch, texts.length + seen.length, text.columns()});
    std::int64_t to = 0;
    for (std::int64_t pair = 0; pair < texts.batch; ++pair)
      for (const Tensor& one : padded) {
        const std::int64_t rows = one.shape()[1];
        for (std::int64_t row = 0; row < rows; ++row)
          std::copy_n(one.matrix<float>().row(pair * rows + row), both.columns(), both.matrix<float>().row(to++));
      }
    return both;
  }

  // Adds the weights [1, heads, query, key] of one pair. Queries and keys are the tokens of the text, followed by the
  // regions.
  void AddBoth(NamedTensors& out, const char* name, const LayerAttention& one) const {
    const std::int64_t heads = one.weights.shape()[1], length = texts.length + seen.length;
    const auto pair = static_cast<std::size_t>(one.sequence);
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < texts.sequences[pair].length; ++i) places.push_back(texts.begin[pair] + i);
    for (std::int64_t i = 0; i < seen.sequences[pair].length; ++i)
      places.push_back(texts.length + seen.begin[pair] + i);
    Tensor& all = out.tensors[fmt::format("{}.{}", name, one.layer)];
    if (all.empty()) all = Tensor::Zeros({texts.batch, heads, length, length});
    const float* from = one.weights.data<float>();
    for (std::int64_t head = 0; head < heads; ++head)
      for (const std::int64_t query : places) {
        float* const to = all.matrix<float>().row((one.sequence * heads + head) * length + query);
        for (const std::int64_t key : places) to[key] = *from++;
      }
  }

  void Add(NamedTensors& out, const TensorNames& names, const LayerAttention& one) const {
    if (names.regions == nullptr) return AddBoth(out, names.attentions[0], one);
    const bool of_text = one.kind == AttentionKind::encoder_self || one.kind == AttentionKind::text_to_image;
    const bool to_text = one.kind == AttentionKind::encoder_self || one.kind == AttentionKind::image_to_text;
    const char* const name = names.attentions[of_text ? (to_text ? 0 : 2) : (to_text ? 3 : 1)];
    out.AddAttention(name, one, of_text ? texts : seen, to_text ? texts : seen);
  }
};

}  // namespace

NamedTensors RegionTextEncoder::Forward(const Safetensors& in) const {
  const TensorNames& names = tensor_names();
  std::vector<std::string_view> inputs = {"input_ids", "attention_mask", "token_type_ids", names.features, names.mask};
  if (names.boxes != nullptr) inputs.emplace_back(names.boxes);
  if (names.types != nullptr) inputs.emplace_back(names.types);
  if (names.tasks != nullptr) inputs.emplace_back(names.tasks);
  CheckInputs(in, inputs);
  const Padded ids = ReadPadded(in, "input_ids", "attention_mask", limits_.vocabulary, limits_.positions);
  std::vector<std::int32_t> types;
  if (in.contains("token_type_ids")) types = ReadLikeIds(in, "token_type_ids", ids);
  for (std::size_t pair = 0; pair < ids.begin.size(); ++pair)
    Check(ids.begin[pair] == 0, "{}: attention_mask, row {}: this model needs padding after the text", in.path(), pair);
  Padded seen;
  Regions regions;
  if (limits_.patch.cells() > 0) {
    regions = ReadPatches(in, limits_, ids);
  } else {
    seen = ReadSeen(in, names, ids);
    regions = {ReadRegions(in, names.features, seen, limits_.features),
               names.boxes != nullptr ? ReadRegions(in, names.boxes, seen, limits_.box_numbers)
                                      : Tensor::Empty({std::ssize(seen.ids), 0}),
               seen.sequences};
    if (names.types != nullptr && in.contains(names.types)) {
      regions.types = ReadLikeIds(in, names.types, seen);
      for (const std::int32_t type : regions.types)
        Check(type >= 0 && type < limits_.types, "{}: {}: {} is outside the {} types", in.path(), names.types, type,
              limits_.types);
    }
  }
  std::vector<std::int32_t> tasks;
  if (names.tasks != nullptr) tasks = ReadTasks(in, names.tasks, ids, limits_.tasks);

  NamedTensors out;
  Context context;
  std::vector<LayerAttention> attentions;
  context.hooks.attention = [&](const LayerAttention& one) { attentions.push_back(one); };
  const EncodedPairs encoded = Encode(context, ids.ids, types, ids.sequences, regions, tasks);
  const Padded texts = WithAdded(ids, encoded.texts);
  if (limits_.patch.cells() > 0) seen = PaddedImages(encoded.images);
  const Streams streams = {texts, seen};
  for (const LayerAttention& one : attentions) streams.Add(out, names, one);
  if (names.regions != nullptr) {
    out.tensors[names.text] = Pad(encoded.text, texts);
    out.tensors[names.regions] = Pad(encoded.regions, seen);
  } else {
    out.tensors[names.text] = streams.PadBoth(encoded.text, encoded.regions);
  }
  const Tensor pooled = Pool(context, encoded);
  if (names.pooled != nullptr && !pair_heads_.answers) out.tensors[names.pooled] = pooled;
  if (heads().masked_words) {
    const Tensor words = MaskedTokenLogits(context, encoded.text);
    out.tensors[names.words] = names.predicts_region_tokens
                                   ? streams.PadBoth(words, MaskedTokenLogits(context, encoded.regions))
                                   : Pad(words, texts);
  }
  if (pair_heads_.regions) out.tensors[names.region_classes] = Pad(RegionLogits(context, encoded.regions), seen);
  if (pair_heads_.alignment) out.tensors[names.alignment] = AlignmentLogits(context, pooled);
  if (pair_heads_.answers) out.tensors[names.answers] = AnswerLogits(context, pooled);
  for (const OtherOutput& other : OtherOutputs(context, encoded, pooled))
    out.tensors[other.name] = other.of == OtherOutput::tokens    ? Pad(other.rows, texts)
                              : other.of == OtherOutput::regions ? Pad(other.rows, seen)
                                                                 : other.rows;
  return out;
}

}  // namespace headlight
