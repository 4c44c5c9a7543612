#include "headlight/image/metrics/detection_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "headlight/base/error.h"

namespace headlight {
namespace {

// The maximum number of detections per class and image. Only the best detections are kept.
constexpr std::int32_t kMostFound = 100;
constexpr std::int64_t kRecalls = 101;  // the number of recall values 0, 0.01, ..., 1 at which precision is averaged
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct AreaRange {
  double least, most;
};
constexpr std::array<AreaRange, 4> kAreaRanges = {
    {{0, 1e10}, {0, 32.0 * 32.0}, {32.0 * 32.0, 96.0 * 96.0}, {96.0 * 96.0, 1e10}}};

// Returns numpy.linspace(0.5, 0.95, 10)[index], so that ties at a threshold are resolved as in pycocotools.
double Threshold(std::size_t index) {
  return index == 9 ? 0.95 : 0.5 + static_cast<double>(index) * ((0.95 - 0.5) / 9);
}

double Intersection(const Box& a, const Box& b) {
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  return width <= 0 || height <= 0 ? 0 : width * height;
}

bool Outside(double area, const AreaRange& range) { return area < range.least || area > range.most; }

// Returns the mean of the values that are not NaN, or NaN if there are none.
double Mean(std::span<const double> values) {
  double sum = 0;
  std::int64_t count = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return count == 0 ? kNone : sum / static_cast<double>(count);
}

}  // namespace

double IntersectionOverUnion(const Box& a, const Box& b) {
  const double both = Intersection(a, b);
  return both == 0 ? 0 : both / (a.area() + b.area() - both);
}

// The interpolated precision, averaged over the recall values, and the final recall. Both are NaN if there are no
// objects.
struct DetectionMatches::Curve {
  double precision = kNone, recall = kNone;
};

void DetectionMatches::Add(std::span<const LabeledBox> truth, std::span<const FoundBox> found) {
  const auto check = [&](std::int32_t label, const Box& box) {
    Check(label >= 0 && label < std::ssize(classes_), "DetectionMatches: class {} is out of range for {}", label,
          classes_.size());
    Check(std::isfinite(box.left) && std::isfinite(box.top) && std::isfinite(box.right) && std::isfinite(box.bottom),
          "DetectionMatches: a side of a box is not finite");
  };
  std::map<std::int32_t, std::pair<std::vector<LabeledBox>, std::vector<FoundBox>>> of_class;
  for (const LabeledBox& box : truth) {
    check(box.label, box.box);
    of_class[box.label].first.push_back(box);
  }
  for (const FoundBox& box : found) {
    check(box.label, box.box);
    Check(std::isfinite(box.score), "DetectionMatches: a score is not finite");
    of_class[box.label].second.push_back(box);
  }
  for (auto& [label, boxes] : of_class) {
    std::ranges::stable_sort(boxes.second, std::greater<>(), &FoundBox::score);
    if (boxes.second.size() > kMostFound) boxes.second.resize(kMostFound);
    MatchClass(boxes.first, boxes.second, classes_[static_cast<std::size_t>(label)]);
  }
}

// Assigns each detection, in order of decreasing score, to the unassigned true box with the greatest overlap. The
// overlap must be at least the threshold. Ignored true boxes (crowds and boxes outside of the area range) are only
// assigned if no other box matches.
void DetectionMatches::MatchClass(std::span<const LabeledBox> truth, std::span<const FoundBox> found, Class& matches) {
  std::vector<Match> results;
  for (std::size_t i = 0; i < found.size(); ++i)
    results.push_back({found[i].score, static_cast<std::int32_t>(i), {}, {}});
  std::vector<double> overlap(truth.size() * found.size());
  for (std::size_t f = 0; f < found.size(); ++f)
    for (std::size_t t = 0; t < truth.size(); ++t) {
      const double both = Intersection(found[f].box, truth[t].box), own = found[f].box.area();
      const double all = truth[t].crowd ? own : own + truth[t].box.area() - both;
      overlap[f * truth.size() + t] = both == 0 ? 0 : both / all;
    }

  for (std::size_t area = 0; area < kAreas; ++area) {
    const auto ignored = [&](std::size_t t) { return truth[t].crowd || Outside(truth[t].area, kAreaRanges[area]); };
    std::vector<std::size_t> order(truth.size());
    std::iota(order.begin(), order.end(), 0);
    const auto first_ignored =
        std::stable_partition(order.begin(), order.end(), [&](std::size_t t) { return !ignored(t); });
    matches.truth[area] += std::distance(order.begin(), first_ignored);
    for (std::size_t threshold = 0; threshold < kThresholds; ++threshold) {
      std::vector<bool> taken(truth.size());
      for (std::size_t f = 0; f < found.size(); ++f) {
        double best = std::min(Threshold(threshold), 1 - 1e-10);
        std::size_t match = truth.size();
        for (const std::size_t t : order) {
          if (taken[t] && !truth[t].crowd) continue;
          if (match < truth.size() && !ignored(match) && ignored(t)) break;
          const double here = overlap[f * truth.size() + t];
          if (here < best) continue;
          best = here;
          match = t;
        }
        Match& result = results[f];
        if (match == truth.size()) {
          result.ignored[area][threshold] = Outside(found[f].box.area(), kAreaRanges[area]);
          continue;
        }
        taken[match] = true;
        result.right[area][threshold] = true;
        result.ignored[area][threshold] = ignored(match);
      }
    }
  }
  matches.found.insert(matches.found.end(), results.begin(), results.end());
}

DetectionMatches::Curve DetectionMatches::CurveOf(const Class& matches, std::size_t area, std::size_t threshold,
                                                  std::int32_t most) {
  const auto all = static_cast<double>(matches.truth[area]);
  if (all == 0) return {};
  std::vector<double> recall, precision;  // the values after each detection that is not ignored
  double right = 0, wrong = 0;
  for (const Match& match : matches.found) {
    if (match.rank >= most || match.ignored[area][threshold]) continue;
    (match.right[area][threshold] ? right : wrong) += 1;
    recall.push_back(right / all);
    precision.push_back(right / (right + wrong));
  }
  for (std::size_t i = precision.size(); i-- > 1;) precision[i - 1] = std::max(precision[i - 1], precision[i]);
  double sum = 0;
  for (std::int64_t i = 0; i < kRecalls; ++i) {
    const double wanted = i == kRecalls - 1 ? 1 : static_cast<double>(i) * 0.01;
    const auto at = std::ranges::lower_bound(recall, wanted);
    if (at != recall.end()) sum += precision[static_cast<std::size_t>(at - recall.begin())];
  }
  return {sum / static_cast<double>(kRecalls), right / all};
}

DetectionScores DetectionMatches::Scores() const {
  std::vector<Class> sorted = classes_;
  for (Class& one : sorted) std::ranges::stable_sort(one.found, std::greater<>(), &Match::score);
  // Returns the values of all classes and thresholds.
  const auto curves = [&](double Curve::*value, std::size_t area, std::int32_t most) {
    std::vector<double> values;
    for (const Class& one : sorted)
      for (std::size_t threshold = 0; threshold < kThresholds; ++threshold)
        values.push_back(CurveOf(one, area, threshold, most).*value);
    return values;
  };
  const std::vector<double> all = curves(&Curve::precision, 0, kMostFound);
  const auto at_threshold = [&](std::size_t threshold) {
    std::vector<double> values;
    for (std::size_t i = threshold; i < all.size(); i += kThresholds) values.push_back(all[i]);
    return values;
  };
  DetectionScores scores{.ap = Mean(all),
                         .ap50 = Mean(at_threshold(0)),
                         .ap75 = Mean(at_threshold(5)),
                         .ap_small = Mean(curves(&Curve::precision, 1, kMostFound)),
                         .ap_medium = Mean(curves(&Curve::precision, 2, kMostFound)),
                         .ap_large = Mean(curves(&Curve::precision, 3, kMostFound)),
                         .ar1 = Mean(curves(&Curve::recall, 0, 1)),
                         .ar10 = Mean(curves(&Curve::recall, 0, 10)),
                         .ar100 = Mean(curves(&Curve::recall, 0, kMostFound)),
                         .ar_small = Mean(curves(&Curve::recall, 1, kMostFound)),
                         .ar_medium = Mean(curves(&Curve::recall, 2, kMostFound)),
                         .ar_large = Mean(curves(&Curve::recall, 3, kMostFound)),
                         .class_ap50 = at_threshold(0)};
  for (std::size_t i = 0; i < all.size(); i += kThresholds)
    scores.class_ap.push_back(Mean({all.data() + i, kThresholds}));
  return scores;
}

}  // namespace headlight
