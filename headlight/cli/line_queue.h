// A queue of lines from a file, a pipe or a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headlight/data/lines.h"

namespace headlight {

// Reads on its own thread, so that the consumer gets all lines that have arrived meanwhile: one from a person who
// types, many from a file.
class LineQueue {
 public:
  // Reads ahead at most `most_bytes` and one line.
  LineQueue(LineReader reader, std::size_t most_bytes);
  // The thread stays while it is blocked in a read, until input comes or the process ends.
  ~LineQueue();
  LineQueue(const LineQueue&) = delete;
  LineQueue& operator=(const LineQueue&) = delete;

  // Waits for at least one line and returns those that have arrived; none at the end. Rethrows what the reader threw,
  // after the lines before it.
  std::vector<std::string> Next();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace headlight
