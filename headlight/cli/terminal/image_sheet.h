// Arranges the images that a command generates on one sheet.
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

// Throws Error unless --out is a writable PNG path that is not one of the inputs.
void CheckSheet(const SheetOptions& options, std::vector<std::string> inputs);

// Writes `groups` times `count` images in rows of --columns images. By default, each group has a row, and a single
// group is arranged in a square.
class ImageSheet {
 public:
  // Checks the options before the images are generated. Throws Error if there are fewer images than columns, or if the
  // sheet would be too large for images of this size.
  ImageSheet(const SheetOptions& options, std::int64_t groups, std::int64_t count, ImageSize size);
  void Write(std::span<const Image> images) const;

 private:
  std::string out_;
  std::int64_t columns_;
};

}  // namespace headlight
