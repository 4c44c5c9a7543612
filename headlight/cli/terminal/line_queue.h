// A queue of texts from a file, a pipe or a terminal.
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
  std::vector<std::string> lines;                   // texts; empty at the end
  std::vector<std::optional<std::string>> seconds;  // the second text of each record that has two
  std::vector<std::string> errors;                  // why each line is not a text, or ""; empty if all are
  double share = -1;                                // of the file that has been read, as TextReader::share
};

// Reads on its own thread, so that the consumer gets all lines that have arrived meanwhile: one line from a person who
// types, or many lines from a file.
class LineQueue {
 public:
  // Reads ahead at most `most_bytes` and one text. With `keep_errors` a line that is no text is returned as its error.
  LineQueue(TextReader reader, std::size_t most_bytes, bool keep_errors = false);
  // A thread that is blocked in a read remains until input comes or the process ends.
  ~LineQueue();
  LineQueue(const LineQueue&) = delete;
  LineQueue& operator=(const LineQueue&) = delete;

  // Waits for at least one line, and returns all that have arrived. Rethrows an error of the reader after the lines
  // that precede it.
  QueuedLines Next();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace headlight
