#include "headlight/image/colors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

constexpr std::size_t kColors = std::size_t{1} << 24, kMostPoints = std::size_t{1} << 16;

std::size_t Key(const std::uint8_t* pixel) {
  return std::size_t{pixel[0]} << 16 | std::size_t{pixel[1]} << 8 | pixel[2];
}

// A color with byte values, and the number of its pixels.
struct Point {
  std::array<double, 3> at = {};
  double weight = 0;
};

double Distance(const Point& point, const std::array<double, 3>& center) {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) sum += (point.at[i] - center[i]) * (point.at[i] - center[i]);
  return sum;
}

// Returns the colors that occur, without their `dropped` lowest bits.
std::vector<Point> PointsOf(const std::vector<std::uint64_t>& counts, int dropped) {
  std::vector<Point> points;
  // The index of each color without its lowest bits.
  std::vector<std::int32_t> index_of(kColors >> (3 * dropped), -1);
  for (std::size_t key = 0; key < counts.size(); ++key) {
    if (counts[key] == 0) continue;
    const std::array<std::size_t, 3> bytes = {key >> 16, key >> 8 & 255, key & 255};
    std::size_t cut = 0;
    for (const std::size_t byte : bytes) cut = cut << (8 - dropped) | byte >> dropped;
    if (index_of[cut] < 0) {
      index_of[cut] = static_cast<std::int32_t>(points.size());
      points.push_back({});
    }
    Point& point = points[static_cast<std::size_t>(index_of[cut])];
    const auto weight = static_cast<double>(counts[key]);
    point.weight += weight;
    for (std::size_t i = 0; i < 3; ++i)
      point.at[i] += (static_cast<double>(bytes[i]) - point.at[i]) * weight / point.weight;
  }
  return points;
}

std::vector<std::array<double, 3>> FirstCenters(const std::vector<Point>& points, std::size_t count) {
  std::vector<std::array<double, 3>> centers = {std::ranges::max_element(points, {}, &Point::weight)->at};
  std::vector<double> nearest(points.size(), std::numeric_limits<double>::infinity());
  while (centers.size() < count) {
    std::size_t farthest = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      nearest[i] = std::min(nearest[i], points[i].weight * Distance(points[i], centers.back()));
      if (nearest[i] > nearest[farthest]) farthest = i;
    }
    centers.push_back(points[farthest].at);
  }
  return centers;
}

}  // namespace

void ColorCounts::Add(const Image& image) {
  if (counts_.empty()) counts_.resize(kColors);
  for (std::size_t i = 0; i < image.pixels.size(); i += 3) ++counts_[Key(image.pixels.data() + i)];
}

std::vector<PaletteColor> ColorCounts::Cluster(std::int64_t count) const {
  Check(count >= 1 && count <= kMostColors, "there can be from 1 to {} colors, not {}", kMostColors, count);
  std::vector<Point> points = PointsOf(counts_, 0);
  for (int dropped = 1; points.size() > kMostPoints; ++dropped) points = PointsOf(counts_, dropped);
  Check(std::ssize(points) >= count, "`clusters` is {}, but the images have only {} colors", count, points.size());

  constexpr int kMostRounds = 100;
  std::vector<std::array<double, 3>> centers = FirstCenters(points, static_cast<std::size_t>(count));
  std::vector<std::size_t> nearest(points.size());
  for (int round = 0; round < kMostRounds; ++round) {
    bool changed = false;
    std::vector<Point> means(centers.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      std::size_t best = nearest[i];
      double least = Distance(points[i], centers[best]);
      for (std::size_t center = 0; center < centers.size(); ++center)
        if (const double distance = Distance(points[i], centers[center]); distance < least) {
          least = distance;
          best = center;
        }
      changed = changed || best != nearest[i];
      nearest[i] = best;
      means[best].weight += points[i].weight;
      for (std::size_t axis = 0; axis < 3; ++axis) means[best].at[axis] += points[i].weight * points[i].at[axis];
    }
    // The center of a cluster without pixels does not change.
    for (std::size_t center = 0; center < centers.size(); ++center)
      for (std::size_t axis = 0; axis < 3 && means[center].weight > 0; ++axis)
        centers[center][axis] = means[center].at[axis] / means[center].weight;
    if (!changed && round > 0) break;
  }

  // Sorts by ITU-R BT.601 luma. Ties are broken by the red, green and blue values, in this order.
  std::ranges::sort(centers, {}, [](const std::array<double, 3>& c) {
    return std::pair(0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2], c);
  });
  std::vector<PaletteColor> colors;
  for (const std::array<double, 3>& center : centers) {
    PaletteColor& color = colors.emplace_back();
    for (std::size_t axis = 0; axis < 3; ++axis) color[axis] = static_cast<float>(center[axis] / 127.5 - 1);
  }
  return colors;
}

std::array<std::uint8_t, 3> BytesOf(const PaletteColor& color) {
  std::array<std::uint8_t, 3> bytes;
  for (std::size_t i = 0; i < 3; ++i)
    bytes[i] = static_cast<std::uint8_t>(std::clamp(std::nearbyint(127.5F * (color[i] + 1)), 0.0F, 255.0F));
  return bytes;
}

Json ColorProcessorConfig(ImageSize size, const std::vector<PaletteColor>& colors) {
  Json::Array clusters;
  for (const PaletteColor& color : colors) clusters.push_back(Json::Array(color.begin(), color.end()));
  return Json::Object{{"image_processor_type", "ImageGPTImageProcessor"},
                      {"do_resize", true},
                      {"size", Json::Object{{"height", size.height}, {"width", size.width}}},
                      {"resample", static_cast<int>(ResizeFilter::bilinear)},
                      {"do_normalize", true},
                      {"do_color_quantize", true},
                      {"clusters", std::move(clusters)}};
}

namespace {

constexpr std::uint16_t kUnknown = 0xffff;

}  // namespace

NearestColors::NearestColors(const ImageProcessor& processor) : processor_(processor), known_(kColors, kUnknown) {
  Check(std::ssize(processor.clusters) <= kMostColors, "there can be at most {} colors, not {}", kMostColors,
        processor.clusters.size());
}

void NearestColors::Append(const Image& fitted, std::vector<std::uint16_t>& colors) {
  Image unknown{.height = 1};
  for (std::size_t i = 0; i < fitted.pixels.size(); i += 3)
    if (std::uint16_t& known = known_[Key(fitted.pixels.data() + i)]; known == kUnknown) {
      known = 0;  // marks the color as added, so it is added only once
      unknown.pixels.insert(unknown.pixels.end(), fitted.pixels.begin() + static_cast<std::ptrdiff_t>(i),
                            fitted.pixels.begin() + static_cast<std::ptrdiff_t>(i + 3));
      ++unknown.width;
    }
  const std::vector<std::int32_t> found = processor_.Colors(unknown);
  for (std::size_t i = 0; i < found.size(); ++i)
    known_[Key(unknown.pixels.data() + 3 * i)] = static_cast<std::uint16_t>(found[i]);
  for (std::size_t i = 0; i < fitted.pixels.size(); i += 3) colors.push_back(known_[Key(fitted.pixels.data() + i)]);
}

}  // namespace headlight
