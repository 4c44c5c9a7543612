// Panoptic segmentation of pictures.
//   const Segmenter segmenter = Segmenter::Load("detr-resnet-50-panoptic");
//   const Segmentation result = segmenter.Segment({ReadPicture("street.jpg")})[0];
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
#include "headlight/image/picture.h"
#include "headlight/image/segments.h"
#include "headlight/tasks/load_options.h"

namespace headlight {

struct SegmentOptions {
  double threshold = 0.5;  // only segments with a score above it; 0 to 1
  SegmentRules rules = {};
  std::int64_t batch_pixels = 1 << 20;  // of pictures that are computed at once, as resized; at least 1
  std::function<std::string(std::size_t picture)> name_of = {};  // in errors; "picture 1" unless given
};

// Immutable and cheap to copy; every method may be called from many threads at once. A picture's segments do not depend
// on the other pictures of a call.
class HEADLIGHT_API Segmenter {
 public:
  // A folder of DETR with masks and its preprocessor_config.json. Throws Error naming the file and what is wrong with
  // it or not supported.
  static Segmenter Load(const std::string& folder, const LoadOptions& options = {});

  // The segments of each picture, in its own pixels. Throws Error naming the picture where one has no pixels or cannot
  // be resized.
  std::vector<Segmentation> Segment(std::span<const Picture> pictures, const SegmentOptions& options = {}) const;
  std::vector<Segmentation> Segment(std::initializer_list<Picture> pictures, const SegmentOptions& options = {}) const {
    return Segment(std::span(pictures.begin(), pictures.size()), options);
  }

  // Segment in two steps, of which the first can be done ahead while the second computes: the picture as resized for
  // the model, and the segments of such pictures, whose own sizes are `sizes`.
  Picture Fit(const Picture& picture) const;
  std::vector<Segmentation> SegmentFitted(std::span<const Picture> fitted, std::span<const PictureSize> sizes,
                                          const SegmentOptions& options = {}) const;

  const std::vector<std::string>& labels() const;  // by PictureSegment::label

 private:
  struct State;
  explicit Segmenter(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
