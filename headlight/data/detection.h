// Images with boxes for training detectors: COCO's JSON files and Pascal VOC's XML files.
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
  std::string image;                   // the path of its file
  std::int64_t id = 0;                 // COCO's id, or the number of the image in its file, from 1
  std::int64_t height = 0, width = 0;  // pixels; 0: unknown
  std::vector<LabelledBox> boxes = {};
  std::vector<LabelledBox> without_area = {};  // counted in evaluation, as in pycocotools, but not trained on
};

/// Throws Error naming the image if its annotation gives another size than that of the decoded image, so that the boxes
/// would not match. This happens if an image is rotated by its EXIF orientation, but its boxes are not.
HEADLIGHT_API void CheckSize(const DetectionExample& example, ImageSize decoded);

struct DetectionSet {
  std::vector<DetectionExample> examples;
  std::int64_t boxes = 0;
  std::int64_t without_area = 0;  // boxes that are not among those
};

/// Reads an annotation of Pascal VOC: ReadVoc of image/decoding/voc.h.
using VocReader = std::function<ImageAnnotation(const std::string& path)>;

/// Reads detection data. Each path is a JSON file in COCO's format (instances: images, annotations, categories), a
/// folder of Pascal VOC's XML files, or a list of their names, such as ImageSets/Main/train.txt next to Annotations and
/// JPEGImages. An image is searched in `folders`, then next to the file that names it, and for Pascal VOC in
/// ../JPEGImages.
///
/// The classes are those that the files name: for COCO all categories, by id; for Pascal VOC those of the objects,
/// sorted. `rule` can refuse those that are not among `labels`. Throws Error that names the file, the location and the
/// rule for missing, unknown or invalid data, and if there is no image.
HEADLIGHT_API DetectionSet ReadDetectionSet(const std::vector<std::string>& paths,
                                            const std::vector<std::string>& folders, std::vector<std::string>& labels,
                                            NewLabels rule, const VocReader& read_voc);

/// A hash of the training data without the pixels: the images' names and the boxes.
HEADLIGHT_API std::uint64_t HashOfDetectionSet(const DetectionSet& set);

/// Names in a single COCO file, for results in COCO's format: the id of each image file name and of each class.
struct CocoNames {
  std::vector<std::pair<std::string, std::int64_t>> images;      // file name and image_id, sorted by file name
  std::vector<std::pair<std::string, std::int64_t>> categories;  // class and category_id
};
HEADLIGHT_API CocoNames ReadCocoNames(const std::string& path);

}  // namespace headlight
