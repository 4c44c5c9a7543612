// Panoptic segmentation of images.
//   const ImageSegmenter segmenter = ImageSegmenter::Load("detr-resnet-50-panoptic");
//   const Segmentation result = segmenter.Segment(ReadImage("street.jpg"));
//   result.ids[y * result.width + x]  // the segment of a pixel, 0 for none
//   result.segments[0].label          // the label of segment 1
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
  double threshold = 0.5;               ///< only segments with a score above this are returned; 0 to 1
  SegmentRules rules = {};              ///< how pixels are assigned to segments
  std::int64_t batch_pixels = 1 << 20;  ///< pixels of resized images that are computed at once, at least 1
  std::function<std::string(std::size_t image)> name_of = {};  ///< image name in error messages; "image 1" by default
};

/// Finds the segments of images. Immutable and cheap to copy. All methods are thread-safe. An image's segments do not
/// depend on the other images of a call.
class HEADLIGHT_API ImageSegmenter {
 public:
  /// Loads the folder of a DETR with masks and its preprocessor_config.json. Throws Error that names the file and the
  /// problem if a file is invalid or not supported.
  static ImageSegmenter Load(const std::string& folder, const LoadOptions& options = {});

  /// Returns the segments of each image by id, and the segment of each pixel at the original size. Throws Error that
  /// names the image if it has no pixels or cannot be resized.
  std::vector<Segmentation> Segment(std::span<const Image> images, const SegmentOptions& options = {}) const;
  std::vector<Segmentation> Segment(std::initializer_list<Image> images, const SegmentOptions& options = {}) const {
    return Segment(std::span(images.begin(), images.size()), options);
  }
  /// Returns the segments of one image.
  Segmentation Segment(const Image& image, const SegmentOptions& options = {}) const {
    return Segment(std::span(&image, 1), options).front();
  }

  /// Perform Segment in two steps, so that other threads can prepare the next images during the computation. Fit
  /// resizes an image for the model, and SegmentFitted finds the segments of such images. `sizes` has the original
  /// sizes of the images.
  Image Fit(const Image& image) const;
  std::vector<Segmentation> SegmentFitted(std::span<const Image> fitted, std::span<const ImageSize> sizes,
                                          const SegmentOptions& options = {}) const;

  const std::vector<std::string>& labels() const;  ///< indexed by ImageSegment::label_id

 private:
  struct State;
  explicit ImageSegmenter(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
