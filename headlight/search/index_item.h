// Defines the items of a vector index, and the model that computed their vectors.
#pragma once

#include <cstdint>
#include <string>

namespace headlight {

/// The model that computed an index's vectors.
struct IndexModel {
  std::string folder;
  std::string fingerprint;  ///< fingerprint of the weights (FingerprintOf)
  std::int64_t dimension = 0;
};

/// An item of an index: a text, or the path of an image.
struct IndexItem {
  std::string name;
  bool image = false;
  std::int64_t bytes = 0, modified = 0;  ///< size and modification time of an image file, to detect changes

  bool operator==(const IndexItem&) const = default;
};

}  // namespace headlight
