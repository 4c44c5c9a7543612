// Images with bounding boxes for training detectors, from COCO's JSON files and Pascal VOC's XML files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/labels.h"
#include "headlight/image/annotation.h"
#include "headlight/image/box.h"
#include "headlight/image/image.h"

namespace headlight {

struct DetectionExample {
  std::string image;                   ///< path of the image file
  std::int64_t id = 0;                 ///< COCO's id, or the index of the image in its file, from 1
  std::int64_t height = 0, width = 0;  ///< in pixels; 0: unknown
  std::vector<LabeledBox> boxes = {};
  std::vector<LabeledBox> without_area = {};  ///< used in evaluation, as in pycocotools, but not in training
};

/// Throws Error naming the image if its annotated size differs from the decoded size, because its boxes would be
/// misplaced. This happens if an image is rotated by its EXIF orientation, but its boxes are not.
HEADLIGHT_API void CheckSize(const DetectionExample& example, ImageSize decoded);

struct DetectionSet {
  std::vector<DetectionExample> examples;
  std::int64_t boxes = 0;
  std::int64_t without_area = 0;  ///< number of boxes without area, which `boxes` does not include
};

/// A function that reads an annotation of Pascal VOC, such as ReadVoc of image/decoding/voc.h.
using VocReader = std::function<ImageAnnotation(const std::string& path)>;

/// Reads detection data. Each path is a JSON file in COCO's format (instances: images, annotations, categories), a
/// folder of Pascal VOC's XML files, or a list of their names. An example of such a list is ImageSets/Main/train.txt
/// next to Annotations and JPEGImages. An image is searched for in `folders`, then next to the file that names it, and
/// for Pascal VOC in ../JPEGImages.
///
/// The classes are taken from the files: all categories by id for COCO, and the sorted classes of the objects for
/// Pascal VOC. `rule` can refuse classes that are not in `labels`. Throws Error naming the file, the location and the
/// rule for missing, unknown or invalid data, and if there is no image.
HEADLIGHT_API DetectionSet ReadDetectionSet(const std::vector<std::string>& paths,
                                            const std::vector<std::string>& folders, std::vector<std::string>& labels,
                                            NewLabels rule, const VocReader& read_voc);

/// Returns a hash of the training data without the pixels: the images' names and the boxes.
HEADLIGHT_API std::uint64_t HashOfDetectionSet(const DetectionSet& set);

/// The names in a COCO file, for results in COCO's format: the id of each image file name and of each class.
struct CocoNames {
  std::vector<std::pair<std::string, std::int64_t>> images;      ///< file name and image_id, sorted by file name
  std::vector<std::pair<std::string, std::int64_t>> categories;  ///< class and category_id
};
HEADLIGHT_API CocoNames ReadCocoNames(const std::string& path);

}  // namespace headlight
