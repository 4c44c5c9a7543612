// Computes the average precision and recall of object detection, as defined by COCO (Lin et al., "Microsoft COCO:
// Common Objects in Context", 2014) and computed by pycocotools.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/box.h"

namespace headlight {

/// Returns the intersection over union of two boxes, or 0 if they do not overlap.
HEADLIGHT_API double IntersectionOverUnion(const Box& a, const Box& b);

/// The scores, averaged over the classes and over ten IoU thresholds from 0.5 to 0.95. Values are from 0 to 1, or NaN
/// if there are no objects.
struct DetectionScores {
  double ap = 0;                                     // average precision
  double ap50 = 0, ap75 = 0;                         // average precision at the IoU thresholds 0.5 and 0.75
  double ap_small = 0, ap_medium = 0, ap_large = 0;  // for areas up to 32^2, up to 96^2 and greater
  double ar1 = 0, ar10 = 0, ar100 = 0;  // average recall with at most 1, 10 and 100 detections per class and image
  double ar_small = 0, ar_medium = 0, ar_large = 0;
  std::vector<double> class_ap = {}, class_ap50 = {};  // average precision of each class
};

/// Collects true objects and detections, one image at a time.
class HEADLIGHT_API DetectionMatches {
 public:
  /// Creates an empty collection. Add throws Error for a class that is not less than `classes`, and for a score or a
  /// side that is not finite.
  explicit DetectionMatches(std::int32_t classes) : classes_(static_cast<std::size_t>(classes)) {}

  void Add(std::span<const LabeledBox> truth, std::span<const FoundBox> found);
  DetectionScores Scores() const;

 private:
  static constexpr std::size_t kThresholds = 10, kAreas = 4;  // the area ranges are all, small, medium and large

  /// A detection. For each area range and threshold, it is marked as correct or ignored.
  struct Match {
    double score;
    std::int32_t rank;  // by score, among the detections of the same class and image
    std::array<std::bitset<kThresholds>, kAreas> right, ignored;
  };
  struct Class {
    std::vector<Match> found;
    std::array<std::int64_t, kAreas> truth{};  // the number of true objects in each area range
  };
  struct Curve;

  static void MatchClass(std::span<const LabeledBox> truth, std::span<const FoundBox> found, Class& matches);
  static Curve CurveOf(const Class& matches, std::size_t area, std::size_t threshold, std::int32_t most);

  std::vector<Class> classes_;
};

}  // namespace headlight
