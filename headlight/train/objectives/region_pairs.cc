#include "headlight/train/objectives/region_pairs.h"

#include "headlight/base/error.h"

namespace headlight {
namespace {

// Limit on the rows of a micro-batch. A higher limit would need more memory and would not be faster.
constexpr std::size_t kRowsOfPart = 2560;

}  // namespace

PackedPairs PackPairs(std::span<const PairRows> pairs) {
  PackedPairs packed;
  std::vector<std::int32_t> lengths, counts;
  std::int64_t rows = 0;
  for (const PairRows& pair : pairs) {
    packed.ids.insert(packed.ids.end(), pair.ids.begin(), pair.ids.end());
    packed.types.insert(packed.types.end(), pair.types.begin(), pair.types.end());
    lengths.push_back(static_cast<std::int32_t>(pair.ids.size()));
    counts.push_back(static_cast<std::int32_t>(pair.image->features.rows()));
    rows += counts.back();
  }
  packed.texts = PackedSequences(lengths);
  packed.regions.images = PackedSequences(counts);
  if (pairs.empty()) return packed;
  const auto pack = [&](Tensor ImageRegions::*member) {
    Tensor all = Tensor::Empty({rows, (pairs.front().image->*member).columns()});
    for (std::size_t i = 0; i < pairs.size(); ++i)
      all.ViewRows(packed.regions.images[i].begin, counts[i]).CopyFrom(pairs[i].image->*member);
    return all;
  };
  packed.regions.features = pack(&ImageRegions::features);
  packed.regions.boxes = pack(&ImageRegions::boxes);
  return packed;
}

void ForPairParts(std::size_t count, const std::function<std::size_t(std::size_t pair)>& rows,
                  const std::function<void(std::size_t first, std::size_t end)>& body) {
  for (std::size_t first = 0, end = 0; first < count; first = end) {
    for (std::size_t sum = 0; end < count; ++end) {
      sum += rows(end);
      if (sum > kRowsOfPart && end > first) break;
    }
    body(first, end);
  }
}

void CheckRegions(const RegionTextEncoder& model, const std::vector<ImageRegions>& images) {
  const RegionTextEncoder::Limits& limits = model.limits();
  for (const ImageRegions& regions : images)
    Check(regions.features.shape().rank() == 2 && regions.features.rows() > 0 &&
              regions.features.columns() == limits.features &&
              regions.boxes.shape() == Shape({regions.features.rows(), limits.box_numbers}),
          "regions must have the shapes [regions, {2}] and [regions, {3}], not {0} and {1}",
          ToString(regions.features.shape()), ToString(regions.boxes.shape()), limits.features, limits.box_numbers);
}

EncodedPairs EncodePairs(const RegionTextEncoder& model, Context& context, const PackedPairs& pairs) {
  const std::span<const std::int32_t> types = pairs.types;
  return model.Encode(context, pairs.ids, model.limits().types <= 1 ? types.first(0) : types, pairs.texts,
                      pairs.regions);
}

}  // namespace headlight
