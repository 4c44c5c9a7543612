#include "headlight/cli/terminal/image_sheet.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/image/decoding/encode.h"
#include "headlight/image/sheet.h"

namespace headlight {

void CheckSheet(const SheetOptions& options, std::vector<std::string> inputs) {
  Check(options.out.ends_with(".png") || options.out.ends_with(".PNG"), "--out {}: the name must end in .png",
        options.out);
  CheckOutputs({{"--out", options.out}}, std::move(inputs));
  CheckWritable(options.out);
}

ImageSheet::ImageSheet(const SheetOptions& options, std::int64_t groups, std::int64_t count, ImageSize size)
    : out_(options.out) {
  const std::int64_t all = groups * count;
  const auto square = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(all))));
  columns_ = options.columns.value_or(groups > 1 ? count : square);
  Check(columns_ <= all, "--columns {}: there {}", columns_,
        all == 1 ? "is 1 image" : fmt::format("are {} images", all));
  SheetSize(size, all, columns_);
}

void ImageSheet::Write(std::span<const Image> images) const { WritePng(out_, SheetOf(images, columns_)); }

}  // namespace headlight
