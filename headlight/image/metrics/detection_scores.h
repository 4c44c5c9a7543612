// Average precision and recall of detection, as COCO defines them (Lin et al., "Microsoft COCO: Common Objects in
// Context", 2014) and pycocotools computes them.
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

// Intersection over union of two boxes; 0 where they do not touch.
HEADLIGHT_API double IntersectionOverUnion(const Box& a, const Box& b);

// Means over classes and over ten thresholds of intersection over union, 0.5 to 0.95; 0 to 1, and NaN where there is
// nothing to be found.
struct DetectionScores {
  double ap = 0;                                     // average precision
  double ap50 = 0, ap75 = 0;                         // at the threshold 0.5 and 0.75
  double ap_small = 0, ap_medium = 0, ap_large = 0;  // of areas to 32^2, 96^2 and above
  double ar1 = 0, ar10 = 0, ar100 = 0;               // average recall, of so many boxes per class and image at most
  double ar_small = 0, ar_medium = 0, ar_large = 0;
  std::vector<double> class_ap = {}, class_ap50 = {};  // of each class
};

// Collects what was to be found and what was found, an image at a time.
class HEADLIGHT_API DetectionMatches {
 public:
  // Throws Error for a class that is not below `classes`, and for a score or a side that is not a finite number.
  explicit DetectionMatches(std::int32_t classes) : classes_(static_cast<std::size_t>(classes)) {}

  void Add(std::span<const LabelledBox> truth, std::span<const FoundBox> found);
  DetectionScores Scores() const;

 private:
  static constexpr std::size_t kThresholds = 10, kAreas = 4;  // all, small, medium, large

  // A found box, for each area and threshold: whether it is one of those to be found, and whether it counts.
  struct Match {
    double score;
    std::int32_t rank;  // among those of its class in its image, by score
    std::array<std::bitset<kThresholds>, kAreas> right, ignored;
  };
  struct Class {
    std::vector<Match> found;
    std::array<std::int64_t, kAreas> truth{};  // how many there are to be found
  };
  struct Curve;

  static void MatchClass(std::span<const LabelledBox> truth, std::span<const FoundBox> found, Class& matches);
  static Curve CurveOf(const Class& matches, std::size_t area, std::size_t threshold, std::int32_t most);

  std::vector<Class> classes_;
};

}  // namespace headlight
