// Commands that draw images: where they write the sheet of them.
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

// Throws Error unless --out names a PNG file that can be written and is none of the inputs.
void CheckSheet(const SheetOptions& options, std::vector<std::string> inputs);

// Writes `groups` times `count` images in rows of --columns; unless given, a group in each row, or one group in as
// many rows as columns.
class ImageSheet {
 public:
  // For use before the images are drawn: throws Error where there are fewer than columns, and where the sheet of
  // images of this size would be too large.
  ImageSheet(const SheetOptions& options, std::int64_t groups, std::int64_t count, ImageSize size);
  void Write(std::span<const Image> images) const;

 private:
  std::string out_;
  std::int64_t columns_;
};

}  // namespace headlight
