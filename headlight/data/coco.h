// The images of COCO's JSON files with box annotations (data/detection.h) or captions (data/image_texts.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headlight/base/json.h"

namespace headlight {

/// The largest absolute value of an id that every JSON reader represents exactly.
inline constexpr std::int64_t kMostId = std::int64_t{1} << 53;

struct CocoImage {
  std::string path;  ///< path of the image file
  std::int64_t id = 0;
  std::int64_t height = 0, width = 0;  ///< in pixels; 0: unknown
};

struct CocoImages {
  std::vector<CocoImage> images;
  std::map<std::int64_t, std::size_t> index_of;  ///< index by id

  /// Returns the index of the image that an annotation refers to by its "image_id". Throws Error if there is no such
  /// image.
  std::size_t IndexOf(const JsonView& annotation) const;
};

/// The limits for JSON files. COCO's instance files take up 450 MB, most of it "segmentation".
inline const JsonLimits kCocoLimits = {
    .bytes = std::uint64_t{1} << 30, .values = std::int64_t{1} << 25, .without = {"segmentation"}};

/// Reads "images" of the JSON file at `path`. Each image is searched for in `folders`, then next to the file. Throws
/// Error naming the entry if an image is missing or if two images have the same id.
CocoImages ReadCocoImages(const JsonView& file, const std::string& path, const std::vector<std::string>& folders);

/// Returns the path of an image in the first of `folders` that contains it. If no folder contains the image, throws
/// Error, with a message that begins with `location`.
std::string FindImage(const std::string& name, const std::vector<std::string>& folders, const std::string& location);

}  // namespace headlight
