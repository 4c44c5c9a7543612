// DETR's loss: each object in an image is matched with one query, and the other queries are trained to predict "no
// object" (Carion et al., "End-to-End Object Detection with Transformers", 2020, section 3.1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/ops/generalized_iou.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// The outputs of a model for its queries, image by image.
struct QueryAnswers {
  Tensor logits;  ///< [images * queries, classes + 1]; the last class is "no object"
  Tensor boxes;   ///< [images * queries, 4]: center x, center y, width and height relative to the image's sides
};

/// The objects in an image, with boxes in the format of QueryAnswers.
struct TrueObjects {
  std::vector<std::int32_t> labels;
  std::vector<ops::CenteredBox> boxes;
};

/// Weights of the matching and of the loss.
struct DetectionLossOptions {
  double class_cost = 1, box_cost = 5,
         giou_cost = 2;                    ///< weights of the probability, L1 distance and GIoU in the matching cost
  double box_weight = 5, giou_weight = 2;  ///< loss weights of L1 and GIoU; the cross-entropy has weight 1
  double nothing_weight = 0.1;             ///< class weight of "no object" in the cross-entropy
};

/// The normalizers of a batch's loss. They are computed first, so that the batch can be divided into micro-batches.
struct DetectionLossSums {
  double boxes = 1;    ///< number of objects in all images, at least 1
  double weights = 1;  ///< total class weight of all queries in the cross-entropy

  static DetectionLossSums Of(std::span<const TrueObjects> batch, std::int64_t queries,
                              const DetectionLossOptions& options);
};

/// Returns the query of each object in an image, or -1 if there are more objects than queries. The match is exact and
/// has the lowest total cost, with cost(query, object) = class_cost * -p(label) + box_cost * L1 + giou_cost * -GIoU
/// (eq. 1 and 2, section A.2). The queries of the image are rows [first, first + queries) of `answers`.
HEADLIGHT_API std::vector<std::int32_t> MatchQueries(const QueryAnswers& answers, std::int64_t first,
                                                     std::int64_t queries, const TrueObjects& objects,
                                                     const DetectionLossOptions& options);

/// Returns the loss of one layer's outputs, [1]. It is `scale` times the contribution of these images to the batch's
/// loss,
///   cross-entropy / sums.weights + (box_weight * L1 + giou_weight * (1 - GIoU)) / sums.boxes.
/// Queries are matched again for every layer. Throws Error if `answers` has a different number of images, or if a label
/// is not a class of the model.
HEADLIGHT_API Tensor DetectionLoss(const QueryAnswers& answers, std::span<const TrueObjects> images,
                                   const DetectionLossSums& sums, const DetectionLossOptions& options, double scale);

/// Training targets for any number of rows: a label per row, and the boxes of rows that are matched to an object.
struct MatchedObjects {
  std::vector<std::int32_t> labels;     ///< label of each row; the last class is "no object"
  std::vector<std::int32_t> rows;       ///< the rows whose target is an object
  std::vector<ops::CenteredBox> boxes;  ///< box of each entry of `rows`

  void Add(std::int64_t row, const TrueObjects& objects, std::size_t object);
};
HEADLIGHT_API Tensor MatchedLoss(const QueryAnswers& answers, const MatchedObjects& matches,
                                 const DetectionLossSums& sums, const DetectionLossOptions& options, double scale);

}  // namespace headlight
