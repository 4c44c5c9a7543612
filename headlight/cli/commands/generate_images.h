// Generates images, for `headlight generate`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/base/option_table.h"
#include "headlight/cli/terminal/image_sheet.h"
#include "headlight/pipelines/image_generator.h"

namespace headlight {

struct GenerateImagesOptions : SheetOptions {
  std::vector<std::string> image;
  std::optional<std::int64_t> keep_rows;
};

// The help group of options that only image models have.
inline constexpr const char* kOptionsOfImages = "Models of images";

// Adds --out, --image, --keep-rows and --columns, which set `options`. The options must outlive the program.
void AddGenerateImagesOptions(OptionTable& command, GenerateImagesOptions& options);

// Writes a sheet of `generate.count` images. If --image is given, the sheet has `generate.count` images for each input
// image.
void GenerateImages(const std::string& folder, const GenerateImagesOptions& options, std::optional<Compute> compute,
                    TextToImageOptions generate);

}  // namespace headlight
