// Images with boxes, to learn detection from: COCO's JSON files and Pascal VOC's XML files.
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
  std::int64_t id = 0;                 // COCO's, or the number of the image in its file, from 1
  std::int64_t height = 0, width = 0;  // pixels; 0: not said
  std::vector<LabelledBox> boxes = {};
  std::vector<LabelledBox> without_area = {};  // counted in evaluation, as in pycocotools; not trained on
};

// Throws Error naming the image where its annotation says another size than the decoded image has: its boxes would
// be elsewhere. So it is where an image is turned by its EXIF orientation and its boxes are not.
HEADLIGHT_API void CheckSize(const DetectionExample& example, ImageSize decoded);

struct DetectionSet {
  std::vector<DetectionExample> examples;
  std::int64_t boxes = 0;
  std::int64_t without_area = 0;  // boxes that are not among those
};

// Reads an annotation of Pascal VOC: ReadVoc of image/decoding/voc.h.
using VocReader = std::function<ImageAnnotation(const std::string& path)>;

// Each path is a JSON file in COCO's format (instances: images, annotations, categories), a folder of Pascal VOC's XML
// files, or a list of their names, as ImageSets/Main/train.txt beside Annotations and JPEGImages. An image is looked
// for in `folders`, then beside the file that names it, and for Pascal VOC in ../JPEGImages.
//
// The classes are those that the files name: of COCO all categories, by id; of Pascal VOC those of the objects, in
// order; unless `rule` refuses what is not among `labels`. Throws Error that names
// the file, the place and the rule for what is missing, foreign or impossible, and where there is no image.
HEADLIGHT_API DetectionSet ReadDetectionSet(const std::vector<std::string>& paths,
                                            const std::vector<std::string>& folders, std::vector<std::string>& labels,
                                            NewLabels rule, const VocReader& read_voc);

// A hash of a training's data without the pixels: the images' names and the boxes.
HEADLIGHT_API std::uint64_t HashOfDetectionSet(const DetectionSet& set);

// A JSON file of COCO's alone, for results in COCO's format: what an image's file name and a class are called there.
struct CocoNames {
  std::vector<std::pair<std::string, std::int64_t>> images;      // file name and image_id, by file name
  std::vector<std::pair<std::string, std::int64_t>> categories;  // class and category_id
};
HEADLIGHT_API CocoNames ReadCocoNames(const std::string& path);

}  // namespace headlight
