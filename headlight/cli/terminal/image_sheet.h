// The sheet of images that a command generates, and its options.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/image/image.h"

namespace headlight {

struct SheetOptions {
  std::string out;
  std::optional<std::int64_t> columns;
};

// Throws Error unless --out names a PNG file that can be written and is not one of the inputs.
void CheckSheet(const SheetOptions& options, std::vector<std::string> inputs);

// Writes `groups` times `count` images in rows of --columns. By default each row has a group, and a single group fills
// a square.
class ImageSheet {
 public:
  // Throws Error if there are fewer images than columns, or if a sheet of images of this size would be too large. For
  // use before the images are generated.
  ImageSheet(const SheetOptions& options, std::int64_t groups, std::int64_t count, ImageSize size);
  void Write(std::span<const Image> images) const;

 private:
  std::string out_;
  std::int64_t columns_;
};

}  // namespace headlight
