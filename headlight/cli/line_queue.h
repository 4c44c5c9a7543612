// Lines from a pipe or a person, together as they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headlight/data/lines.h"

namespace headlight {

// Reads on a thread of its own, so that whoever works on lines finds all that have arrived meanwhile: one from a person
// who types, many from a file.
class LineQueue {
 public:
  // Reads ahead at most `most_bytes` and a line.
  LineQueue(LineReader reader, std::size_t most_bytes);
  // A thread that waits for input stays until it gets some, or the process ends: nothing else ends a read.
  ~LineQueue();
  LineQueue(const LineQueue&) = delete;
  LineQueue& operator=(const LineQueue&) = delete;

  // The next lines, at least one, for which it waits; none at the end. What the reader throws arrives here, after the
  // lines before it.
  std::vector<std::string> Next();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace headlight
