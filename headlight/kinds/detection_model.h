// The interface of object detection models.
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

/// The most probable class of a query except "no object".
struct QueryFinding {
  ops::CentredBox box;  ///< relative to the image's sides
  std::int32_t label = 0;
  double score = 0;  ///< the probability of the class
};
/// Returns the detections of queries [first, first + queries) of `answers`, in this order.
HEADLIGHT_API std::vector<QueryFinding> FindingsOf(const QueryAnswers& answers, std::int64_t first,
                                                   std::int64_t queries);

class HEADLIGHT_API DetectionModel : public Model {
 public:
  static constexpr std::string_view kKind = "detector";

  /// Whether each pixel of an image is visible (1) or padding (0), in row-major order. Empty: all pixels are visible.
  using PixelMask = std::vector<std::uint8_t>;

  /// Detects objects in images [height, width, channels], which may differ in size. An image's results do not depend on
  /// other images in the batch. `masks` is empty or has one mask per image. Throws Error for a different number of
  /// channels, a mask of another size, or a mask that hides all pixels.
  virtual DetectedImages Detect(Context& context, std::span<const Tensor> images, std::span<const PixelMask> masks = {},
                                bool all_layers = false) const = 0;

  /// Returns the outputs of the heads for `states` [states, model] instead of queries, for example for the cells of a
  /// memory.
  virtual QueryAnswers Answer(Context& context, const Tensor& states) const = 0;

  /// Returns the masks of queries as one map per query. `queries` are sorted row indices of found.queries. The sigmoid
  /// of a cell is the probability that it belongs to the query's object. Throws Error for a model without masks.
  virtual ops::FeatureMaps Masks(Context& context, const DetectedImages& found,
                                 std::span<const std::int32_t> queries) const = 0;

  /// Returns the loss settings used in training.
  virtual const DetectionLossOptions& loss() const = 0;

  struct Limits {
    std::int64_t queries = 0;  ///< the maximum number of objects per image
    std::int64_t channels = 3;
    bool masks = false;  ///< whether queries have masks
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
