// Image settings that several families share.
#pragma once

#include <cstdint>

#include "headlight/io/config_table.h"
#include "headlight/nn/patches.h"

namespace headlight {

/// Describes image_size, patch_size and num_channels.
void DescribeImages(ConfigTable& table, Grid& image, Grid& patch, std::int64_t& channels);

}  // namespace headlight
