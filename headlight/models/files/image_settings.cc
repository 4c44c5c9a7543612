#include "headlight/models/files/image_settings.h"

#include <string_view>
#include <vector>

namespace headlight {
namespace {

// Describes a grid that is stored as one number if it is square, or as [height, width].
void DescribeGrid(ConfigTable& table, std::string_view key, Grid& grid, std::string_view name) {
  if (table.reads() && table.json()[key].value().As<Json::Array>() != nullptr) {
    const std::vector<JsonView> sides = table.json()[key].Items();
    Check(sides.size() == 2, "{}: it must be one number or two, height and width", table.json()[key].location());
    grid = {sides[0].Integer(1, kLargestSize), sides[1].Integer(1, kLargestSize)};
    return;
  }
  if (table.writes() && grid.height != grid.width) return table.Note(key, Json::Array{grid.height, grid.width});
  table.Size(key, grid.height, name);
  if (table.reads()) grid.width = table.json()[key].present() ? grid.height : grid.width;
}

}  // namespace

void DescribeImages(ConfigTable& table, Grid& image, Grid& patch, std::int64_t& channels) {
  DescribeGrid(table, "image_size", image, "the image's size");
  DescribeGrid(table, "patch_size", patch, "the patch's size");
  table.Integer("num_channels", channels, "the number of channels", 1, 1024);
  table.Rule(image.height >= patch.height && image.width >= patch.width,
             "a patch of {} x {} is larger than an image of {} x {}", patch.height, patch.width, image.height,
             image.width);
}

}  // namespace headlight
