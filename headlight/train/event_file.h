// TensorBoard event files with scalars per step.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "headlight/base/export.h"

namespace headlight {

/// Writes the file events.out.tfevents.SECONDS.PROCESS.headlight in a folder. Throws Error if the file cannot be
/// written.
class HEADLIGHT_API EventFile {
 public:
  explicit EventFile(const std::string& folder);
  void AddScalar(std::string_view tag, double value, std::int64_t step);

 private:
  void Write(std::string_view event);

  std::string path_;
  std::ofstream file_;
};

}  // namespace headlight
