// DETR's loss: each object in an image is matched with one query, and the others learn to predict no object (Carion et
// al., "End-to-End Object Detection with Transformers", 2020, section 3.1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/ops/generalized_iou.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

// The answers of a model's queries, those of each image after another.
struct QueryAnswers {
  Tensor logits;  // [images * queries, classes + 1]; the last class is "no object"
  Tensor boxes;   // [images * queries, 4]: centre x, y, width and height as shares of the image's sides
};

// The objects in an image, with boxes as those of QueryAnswers.
struct TrueObjects {
  std::vector<std::int32_t> labels;
  std::vector<ops::CentredBox> boxes;
};

struct DetectionLossOptions {
  double class_cost = 1, box_cost = 5, giou_cost = 2;  // of a match: of the probability, the L1 distance and the GIoU
  double box_weight = 5, giou_weight = 2;              // of the loss, where the classes' cross-entropy has 1
  double nothing_weight = 0.1;                         // of a query whose target is "no object", in the cross-entropy
};

// The sums that a batch's loss is divided by, so that it can be computed a few images at a time.
struct DetectionLossSums {
  double boxes = 1;    // objects of all images, at least 1
  double weights = 1;  // of all queries in the cross-entropy

  static DetectionLossSums Of(std::span<const TrueObjects> batch, std::int64_t queries,
                              const DetectionLossOptions& options);
};

// The query of each object in an image, -1 where there are more objects than queries: the exact matching of least
// cost, where a query's is class_cost * -p(label) + box_cost * L1 + giou_cost * -GIoU (eq. 1 and 2, section A.2). The
// image's queries are rows [first, first + queries) of the answers.
HEADLIGHT_API std::vector<std::int32_t> MatchQueries(const QueryAnswers& answers, std::int64_t first,
                                                     std::int64_t queries, const TrueObjects& objects,
                                                     const DetectionLossOptions& options);

// [1]: scale times the images' share of their batch's loss,
//   cross-entropy / sums.weights + (box_weight * L1 + giou_weight * (1 - GIoU)) / sums.boxes,
// for one layer's answers, matched anew. Throws Error where the answers are not those of as many images, and for a
// class that the model does not have.
HEADLIGHT_API Tensor DetectionLoss(const QueryAnswers& answers, std::span<const TrueObjects> images,
                                   const DetectionLossSums& sums, const DetectionLossOptions& options, double scale);

// The same for answers of any number of rows whose objects are known.
struct MatchedObjects {
  std::vector<std::int32_t> labels;    // of each row, the last class for "no object"
  std::vector<std::int32_t> rows;      // those whose target is an object
  std::vector<ops::CentredBox> boxes;  // of each of these

  void Add(std::int64_t row, const TrueObjects& objects, std::size_t object);
};
HEADLIGHT_API Tensor MatchedLoss(const QueryAnswers& answers, const MatchedObjects& matches,
                                 const DetectionLossSums& sums, const DetectionLossOptions& options, double scale);

}  // namespace headlight
