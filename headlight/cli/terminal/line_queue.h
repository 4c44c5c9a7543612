// Reads texts from a file, a pipe or a terminal into a queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headlight/data/text_reader.h"

namespace headlight {

struct QueuedLines {
  std::vector<std::string> lines;                   // texts; empty at the end of the input
  std::vector<std::optional<std::string>> seconds;  // the second text of each record with two texts
  std::vector<std::string> errors;  // the error of each line, or "" for a valid text; empty if all lines are valid
  double share = -1;                // fraction of the file that has been read, from TextReader::share
};

// Reads lines on a separate thread. The consumer receives all lines that have arrived since the last call: one line
// typed at a terminal, or many lines of a file.
class LineQueue {
 public:
  // Reads ahead by at most `most_bytes` bytes plus one text. If `keep_errors` is true, returns the errors of invalid
  // lines and continues reading.
  LineQueue(TextReader reader, std::size_t most_bytes, bool keep_errors = false);
  // Does not wait for a thread that is blocked in a read. The thread ends with its next input or with the process.
  ~LineQueue();
  LineQueue(const LineQueue&) = delete;
  LineQueue& operator=(const LineQueue&) = delete;

  // Waits for at least one line, and returns all lines that have arrived. Rethrows an error of the reader after the
  // lines that precede it have been returned.
  QueuedLines Next();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace headlight
