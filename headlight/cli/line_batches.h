// Reads a file of lines in batches of those that are available.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace headlight {

struct LineBatch {
  std::vector<std::string> lines;
  std::int64_t first = 1;                           // number of the first line
  std::string file;                                 // for messages
  std::function<std::string(std::size_t)> name_of;  // "FILE: line 7" for a line by its index in the batch
};

// Bytes to read ahead for batches of `batch_tokens`: eight batches at four bytes per token.
inline std::size_t BytesAhead(std::int64_t batch_tokens) { return static_cast<std::size_t>(batch_tokens) * 32; }

// Reads `path`, plain or gzip, or standard input where it is -, and passes its lines on as they come. Results are
// flushed after each batch. `progress` labels the progress line, such as "lines tagged".
void ForEachLineBatch(const std::string& path, const std::string& progress, std::size_t bytes_ahead,
                      const std::function<void(const LineBatch&)>& body);

}  // namespace headlight
