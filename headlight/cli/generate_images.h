// `generate` with a model of pictures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/base/option_table.h"
#include "headlight/cli/picture_sheet.h"
#include "headlight/tasks/image_generator.h"

namespace headlight {

struct GenerateImagesOptions : SheetOptions {
  std::vector<std::string> from;
  std::optional<std::int64_t> rows, count;
};

// The group of the options that only models of pictures have.
inline constexpr const char* kOptionsOfPictures = "Models of pictures";

// Binds --out, --from, --rows, --count and --columns to `options`, which must outlive the program.
void AddGenerateImagesOptions(OptionTable& command, GenerateImagesOptions& options);

// Writes a sheet of pictures.
void GenerateImages(const std::string& folder, const GenerateImagesOptions& options, std::optional<Compute> compute,
                    DrawOptions generate);

}  // namespace headlight
