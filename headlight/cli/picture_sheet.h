// Commands that draw pictures: where they write the sheet of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/image/picture.h"

namespace headlight {

struct SheetOptions {
  std::string out;
  std::optional<std::int64_t> columns;
};

// Throws Error unless --out names a PNG file that can be written and is none of the inputs.
void CheckSheet(const SheetOptions& options, std::vector<std::string> inputs);

// Writes `groups` times `count` pictures in rows of --columns; unless given, a group in each row, or one group in as
// many rows as columns.
class PictureSheet {
 public:
  // For use before the pictures are drawn: throws Error where there are fewer than columns, and where the sheet of
  // pictures of this size would be too large.
  PictureSheet(const SheetOptions& options, std::int64_t groups, std::int64_t count, PictureSize size);
  void Write(std::span<const Picture> pictures) const;

 private:
  std::string out_;
  std::int64_t columns_;
};

}  // namespace headlight
