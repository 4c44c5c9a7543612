#include "headlight/kinds/region_text_encoder.h"

#include <algorithm>
#include <map>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/nn/attention.h"
#include "headlight/ops/concatenate.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/view.h"

namespace headlight {

Regions PatchRegions(std::span<const Tensor> images, Grid patch, std::int64_t channels, DType dtype) {
  Regions regions{Patches(images, patch, channels, dtype), {}, {}};
  std::vector<std::int32_t> lengths;
  std::vector<double> boxes;
  for (const Tensor& image : images) {
    const Grid grid = GridOf(image, patch);
    lengths.push_back(static_cast<std::int32_t>(grid.cells()));
    for (std::int64_t row = 0; row < grid.height; ++row)
      for (std::int64_t column = 0; column < grid.width; ++column)
        for (const std::int64_t number : {row, column, grid.height, grid.width})
          boxes.push_back(static_cast<double>(number));
  }
  regions.images = PackedSequences(lengths);
  regions.boxes = Tensor::Empty({regions.features.rows(), 4}, dtype);
  Dispatch(dtype, [&]<typename T>(T) {
    std::ranges::transform(boxes, regions.boxes.data<T>(), [](double number) { return static_cast<T>(number); });
  });
  return regions;
}

std::vector<Grid> GridsOf(const Regions& patches) {
  std::vector<Grid> grids;
  Dispatch(patches.boxes.dtype(), [&]<typename T>(T) {
    for (const Sequence& image : patches.images) {
      const T* const first = patches.boxes.matrix<T>().row(image.begin);
      const auto is_side = [&](T side) { return side >= 1 && side <= static_cast<T>(image.length); };
      const Grid grid = is_side(first[2]) && is_side(first[3])
                            ? Grid{static_cast<std::int64_t>(first[2]), static_cast<std::int64_t>(first[3])}
                            : Grid{0, 0};
      Check(grid.cells() == image.length, "an image of {} patches cannot be a grid of {} x {}", image.length, first[2],
            first[3]);
      for (std::int32_t i = 0; i < image.length; ++i) {
        const T* const box = patches.boxes.matrix<T>().row(image.row(i));
        const std::int64_t row = i / grid.width, column = i % grid.width;
        const T expected[] = {static_cast<T>(row), static_cast<T>(column), static_cast<T>(grid.height),
                              static_cast<T>(grid.width)};
        Check(std::equal(expected, expected + 4, box),
              "patches must be in row-major order, but patch {} of an image is at ({}, {}) of {} x {}", i, box[0],
              box[1], box[2], box[3]);
      }
      grids.push_back(grid);
    }
  });
  return grids;
}

JoinedPairs JoinPairs(const EncodedPairs& states) {
  std::vector<std::int32_t> order;
  JoinedPairs joined;
  for (std::size_t i = 0; i < states.texts.size(); ++i) {
    const Sequence &text = states.texts[i], &image = states.images[i];
    joined.pairs.push_back({static_cast<std::int32_t>(order.size()), text.length + image.length});
    for (std::int32_t token = 0; token < text.length; ++token) order.push_back(text.row(token));
    for (std::int32_t region = 0; region < image.length; ++region)
      order.push_back(static_cast<std::int32_t>(states.text.rows()) + image.row(region));
  }
  joined.rows = ops::Embedding(ops::Concatenate(states.text, states.regions), order);
  return joined;
}

EncodedPairs SplitPairs(const Tensor& rows, const EncodedPairs& states) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(states.text.rows())),
      regions(static_cast<std::size_t>(states.regions.rows()));
  std::int32_t row = 0;
  for (std::size_t i = 0; i < states.texts.size(); ++i) {
    for (std::int32_t token = 0; token < states.texts[i].length; ++token)
      tokens[static_cast<std::size_t>(states.texts[i].row(token))] = row++;
    for (std::int32_t region = 0; region < states.images[i].length; ++region)
      regions[static_cast<std::size_t>(states.images[i].row(region))] = row++;
  }
  return {ops::Embedding(rows, tokens), ops::Embedding(rows, regions), states.texts, states.images};
}

Tensor AttentionAcross::operator()(Context& context, const Tensor& own, const Tensor& other, const Sequences& queries,
                                   const Sequences& keys) const {
  const std::int64_t width = own.columns() / 3;
  const ScaledDotProductAttention attention = {.heads = heads, .dropout = dropout};
  return attention.Attend(context, {kind, layer}, ops::Columns(own, 0, width), ops::Columns(other, width, width),
                          ops::Columns(other, 2 * width, width), queries, keys);
}

AnswerHead::AnswerHead(const Scope& scope, std::int64_t inputs, std::int64_t hidden, std::int64_t outputs)
    : inner(scope / "logit_fc", {"0"}, inputs, hidden),
      norm(scope / "logit_fc" / 2, hidden, 1e-12),
      outer(scope / "logit_fc", {"3"}, hidden, outputs) {}

Tensor AnswerHead::operator()(Context& context, const Tensor& x) const {
  return outer(context, norm(context, inner(context, x, Activation::gelu)));
}

void RegionTextEncoder::CheckPairs(const Sequences& texts, const Regions& regions) const {
  Check(texts.size() == regions.images.size(), "there are {} texts and {} images", texts.size(), regions.images.size());
  const auto check = [&](const char* name, const Tensor& rows, std::int64_t numbers) {
    const std::int64_t count = regions.features.rows();  // `boxes` has no elements if boxes have size 0
    Check(rows.shape() == Shape({count, numbers}), "{} of {} regions must be [regions, {}], not {}", name, count,
          numbers, ToString(rows.shape()));
  };
  check("features", regions.features, limits_.features);
  check("boxes", regions.boxes, limits_.box_numbers);
  for (std::size_t i = 0; i < texts.size(); ++i)
    Check(texts[i].length > 0 && regions.images[i].length > 0, "{} is empty",
          texts[i].length > 0 ? "an image" : "a text");
}

Json::Object RegionTextEncoder::Description() const {
  std::vector<std::string> names = head_names();
  if (pair_heads_.regions) names.emplace_back("regions");
  if (pair_heads_.alignment) names.emplace_back("alignment");
  if (pair_heads_.answers) names.emplace_back("answers");
  Json::Object description = {{"positions", limits_.positions},
                              {"features", limits_.features},
                              {"box_numbers", limits_.box_numbers},
                              {"heads", names}};
  if (limits_.tasks > 0) description.push_back({"tasks", limits_.tasks});
  if (limits_.patch.cells() > 0) {
    description.push_back({"patch_height", limits_.patch.height});
    description.push_back({"patch_width", limits_.patch.width});
  }
  if (!labels_.empty()) description.push_back({"labels", labels_});
  return WithLayerSizes(std::move(description));
}

std::unique_ptr<RegionTextEncoder> AddAnswers(const RegionTextEncoder& model, const std::vector<std::string>& labels,
                                              std::uint64_t seed) {
  std::unique_ptr<RegionTextEncoder> made = model.WithAnswers(labels);
  made->parameters().Initialize(seed);
  std::map<std::string_view, const Parameter*> had;
  for (const Parameter& parameter : model.parameters().all()) had[parameter.names.front()] = &parameter;
  const std::unique_ptr<RegionTextEncoder> encoder =
      model.WithAnswers(labels == model.labels() ? labels : std::vector<std::string>{});
  made->parameters().Unpack();
  for (const Parameter& kept : encoder->parameters().all()) {
    const std::string_view name = kept.names.front();
    // If a folder has only the encoder, names do not have the prefix `bert.`.
    const auto same = had.contains(name) ? had.find(name) : had.find(name.substr(name.find('.') + 1));
    Ensure(same != had.end() && same->second->shape == kept.shape, "{} is not kept", name);
    for (const Parameter& parameter : made->parameters().all())
      if (parameter.names.front() == name) parameter.value.CopyFrom(same->second->value);
  }
  made->parameters().Pack();
  return made;
}

std::vector<RegionTextEncoder::OtherOutput> RegionTextEncoder::OtherOutputs(Context& /*context*/,
                                                                            const EncodedPairs& /*encoded*/,
                                                                            const Tensor& /*pooled*/) const {
  return {};
}

}  // namespace headlight
