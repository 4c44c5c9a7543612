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

/// A query's most probable class other than "no object".
struct QueryFinding {
  ops::CenteredBox box;  ///< relative to the image's sides
  std::int32_t label = 0;
  double score = 0;  ///< the probability of the class
};
/// Returns the detections of queries [first, first + queries) of `answers`, in query order.
HEADLIGHT_API std::vector<QueryFinding> FindingsOf(const QueryAnswers& answers, std::int64_t first,
                                                   std::int64_t queries);

class HEADLIGHT_API DetectionModel : public Model {
 public:
  static constexpr std::string_view kKind = "detector";

  /// One value per pixel of an image, in row-major order: 1 if the pixel is visible, and 0 if it is padding. If empty,
  /// all pixels are visible.
  using PixelMask = std::vector<std::uint8_t>;

  /// Detects objects in images [height, width, channels], which may differ in size. An image's results do not depend on
  /// other images in the batch. `masks` is empty or has one mask per image. Throws Error for a different number of
  /// channels, a mask of another size, or a mask that hides all pixels.
  virtual DetectedImages Detect(Context& context, std::span<const Tensor> images, std::span<const PixelMask> masks = {},
                                bool all_layers = false) const = 0;

  /// Returns the outputs of the heads for `states` [states, model], which need not be queries. For example, they may be
  /// memory cells.
  virtual QueryAnswers Answer(Context& context, const Tensor& states) const = 0;

  /// Returns the masks of queries as one map per query. `queries` are sorted row indices of found.queries. A value of a
  /// map is a logit: its sigmoid is the probability that the cell belongs to the query's object. Throws Error for a
  /// model without masks.
  virtual ops::FeatureMaps Masks(Context& context, const DetectedImages& found,
                                 std::span<const std::int32_t> queries) const = 0;

  /// Returns the loss settings used in training.
  virtual const DetectionLossOptions& loss() const = 0;

  struct Limits {
    std::int64_t queries = 0;  ///< the maximum number of objects per image
    std::int64_t channels = 3;
    bool masks = false;  ///< if true, queries have masks
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
