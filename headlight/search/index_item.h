// What an index of vectors holds besides them: the model that made them, and what each is of.
#pragma once

#include <cstdint>
#include <string>

namespace headlight {

// The model that made an index's vectors.
struct IndexModel {
  std::string folder;
  std::string fingerprint;  // of its weights (FingerprintOf)
  std::int64_t dimension = 0;
};

// An entry of an index: a text, or an image's path.
struct IndexItem {
  std::string name;
  bool image = false;
  std::int64_t bytes = 0, modified = 0;  // of an image's file, its size and time, by which a change is seen

  bool operator==(const IndexItem&) const = default;
};

}  // namespace headlight
