// Reads IDX files, the format of MNIST and similar data sets. A file contains an array of bytes, and can be compressed
// by gzip.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/image.h"

namespace headlight {

constexpr std::int64_t kMostIdxBytes = std::int64_t{1} << 32;

struct IdxArray {
  std::vector<std::int64_t> shape = {};
  std::vector<std::uint8_t> values = {};  ///< in row-major order
};

/// Reads an IDX file. Throws Error naming the file if it is not an array of unsigned bytes, is truncated or has
/// data after its last value. Also throws Error for more than `most_bytes`, before they are allocated.
HEADLIGHT_API IdxArray ReadIdx(const std::string& path, std::int64_t most_bytes = kMostIdxBytes);

/// Returns true if the file name is typical of IDX files, such as train-images-idx3-ubyte or t10k-labels.idx1-ubyte.gz.
HEADLIGHT_API bool IsIdxPath(std::string_view path);

/// The images of a grayscale array [images, height, width] or an RGB array [images, height, width, 3].
class HEADLIGHT_API IdxImages {
 public:
  /// Reads the file. Throws the same errors as ReadIdx, and Error if the array has another shape.
  explicit IdxImages(const std::string& path, std::int64_t most_bytes = kMostIdxBytes);

  std::int64_t count() const { return array_.shape[0]; }
  std::int64_t height() const { return array_.shape[1]; }
  std::int64_t width() const { return array_.shape[2]; }
  Image operator[](std::int64_t index) const;

 private:
  IdxArray array_;
};

/// Reads the class indices of an array [labels].
HEADLIGHT_API std::vector<std::uint8_t> ReadIdxLabels(const std::string& path);

}  // namespace headlight
