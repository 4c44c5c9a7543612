// The interface of object detectors.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/kinds/model.h"
#include "headlight/nn/context.h"
#include "headlight/nn/detected_images.h"
#include "headlight/nn/detection_loss.h"
#include "headlight/nn/patches.h"
#include "headlight/ops/feature_maps.h"

namespace headlight {

// A query's most probable class other than "no object".
struct QueryFinding {
  ops::CentredBox box;  // as shares of the image's sides
  std::int32_t label = 0;
  double score = 0;  // its probability
};
// Of the queries [first, first + queries) of the answers, in their order.
HEADLIGHT_API std::vector<QueryFinding> FindingsOf(const QueryAnswers& answers, std::int64_t first,
                                                   std::int64_t queries);

class HEADLIGHT_API DetectionModel : public Model {
 public:
  static constexpr std::string_view kKind = "detector";

  // Which pixels of an image are seen, row by row, 0 for padding; empty: all.
  using PixelMask = std::vector<std::uint8_t>;

  // Images [height, width, channels], which may differ in size; each has the same answers alone and beside others.
  // Where `masks` are given there is one for each image. Throws Error for other channels, for a mask of another size
  // and for one that hides all.
  virtual DetectedImages Detect(Context& context, std::span<const Tensor> images, std::span<const PixelMask> masks = {},
                                bool all_layers = false) const = 0;

  // The answers of states [states, model] in the queries' place: of a memory's cells.
  virtual QueryAnswers Answer(Context& context, const Tensor& states) const = 0;

  // The masks of some queries, which are rows of found.queries in ascending order: a map of each, of a number a cell,
  // whose sigmoid is the probability that the cell belongs to the query's object. Throws Error for a model
  // without masks.
  virtual ops::FeatureMaps Masks(Context& context, const DetectedImages& found,
                                 std::span<const std::int32_t> queries) const = 0;

  // The settings of its training.
  virtual const DetectionLossOptions& loss() const = 0;

  struct Limits {
    std::int64_t queries = 0;  // the most objects found in an image
    std::int64_t channels = 3;
    bool masks = false;  // each query has a mask, too
  };
  const Limits& limits() const { return limits_; }
  const std::vector<std::string>& labels() const { return labels_; }

  NamedTensors Forward(const Safetensors& inputs) const override;

  Json::Object Description() const override;

 protected:
  using Model::Model;

  Limits limits_;
  std::vector<std::string> labels_;
};

}  // namespace headlight
