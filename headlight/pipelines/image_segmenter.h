// Panoptic segmentation of images.
//   const ImageSegmenter segmenter = ImageSegmenter::Load("detr-resnet-50-panoptic");
//   const Segmentation result = segmenter.Segment({ReadImage("street.jpg")})[0];
//   result.ids[y * result.width + x]                       // the segment of a pixel, 0 for none
//   segmenter.labels()[result.segments[0].label]           // the first segment's label
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/image.h"
#include "headlight/image/segments.h"
#include "headlight/pipelines/load_options.h"

namespace headlight {

struct SegmentOptions {
  double threshold = 0.5;  // only segments with a score above it; 0 to 1
  SegmentRules rules = {};
  std::int64_t batch_pixels = 1 << 20;  // of images that are computed at once, as resized; at least 1
  std::function<std::string(std::size_t image)> name_of = {};  // in errors; "image 1" unless given
};

// Immutable and cheap to copy; every method may be called from many threads at once. An image's segments do not depend
// on the other images of a call.
class HEADLIGHT_API ImageSegmenter {
 public:
  // A folder of DETR with masks and its preprocessor_config.json. Throws Error naming the file and what is wrong with
  // it or not supported.
  static ImageSegmenter Load(const std::string& folder, const LoadOptions& options = {});

  // The segments of each image, in its own pixels. Throws Error naming the image where one has no pixels or cannot
  // be resized.
  std::vector<Segmentation> Segment(std::span<const Image> images, const SegmentOptions& options = {}) const;
  std::vector<Segmentation> Segment(std::initializer_list<Image> images, const SegmentOptions& options = {}) const {
    return Segment(std::span(images.begin(), images.size()), options);
  }

  // Segment in two steps, of which the first can be done ahead while the second computes: the image as resized for
  // the model, and the segments of such images, whose own sizes are `sizes`.
  Image Fit(const Image& image) const;
  std::vector<Segmentation> SegmentFitted(std::span<const Image> fitted, std::span<const ImageSize> sizes,
                                          const SegmentOptions& options = {}) const;

  const std::vector<std::string>& labels() const;  // by ImageSegment::label

 private:
  struct State;
  explicit ImageSegmenter(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
