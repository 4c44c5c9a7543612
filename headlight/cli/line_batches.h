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
  std::int64_t first = 1;                           // line's number
  std::string file;                                 // for messages
  std::function<std::string(std::size_t)> name_of;  // of the line with that number in the batch: "FILE: line 7"
};

// Bytes to read ahead, where `batch_tokens` are computed at once: some batches, at four bytes a token.
inline std::size_t BytesAhead(std::int64_t batch_tokens) { return static_cast<std::size_t>(batch_tokens) * 32; }

// Reads `path`, plain or gzip, or standard input where it is -, and hands its lines on as they come. What `body` writes
// is flushed after each batch. `progress` says what was done, as "lines tagged".
void ForEachLineBatch(const std::string& path, const std::string& progress, std::size_t bytes_ahead,
                      const std::function<void(const LineBatch&)>& body);

}  // namespace headlight
