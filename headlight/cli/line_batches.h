// A file of lines, as many at once as are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace headlight {

struct LineBatch {
  std::vector<std::string> lines;
  std::int64_t first = 1;                                // line's number
  std::function<std::string(std::size_t)> name_of = {};  // of the line with that number in the batch: "FILE: line 7"
};

// Reads `path`, plain or gzip, or standard input where it is -, and hands its lines on as they come. What `body` writes
// is flushed after each batch. `progress` says what was done to the lines.
void ForEachLineBatch(const std::string& path, const std::string& progress,
                      const std::function<void(const LineBatch&)>& body);

}  // namespace headlight
