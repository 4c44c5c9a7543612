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
  std::vector<std::string> lines;                   // texts; none at the end
  std::vector<std::optional<std::string>> seconds;  // of each line: the second text of a record that has two
  std::vector<std::string> errors;  // of each line: why it is no text, or nothing; empty where all are texts
  double share = -1;                // of the file that has been read up to these, as TextReader has it
};

// Reads on its own thread, so that the consumer gets all lines that have arrived meanwhile: one from a person who
// types, many from a file.
class LineQueue {
 public:
  // Reads ahead at most `most_bytes` and one text. With `keep_errors` what is no text is handed out as its error.
  LineQueue(TextReader reader, std::size_t most_bytes, bool keep_errors = false);
  // The thread stays while it is blocked in a read, until input comes or the process ends.
  ~LineQueue();
  LineQueue(const LineQueue&) = delete;
  LineQueue& operator=(const LineQueue&) = delete;

  // Waits for at least one line and returns those that have arrived. Rethrows what the reader threw, after the lines
  // before it.
  QueuedLines Next();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace headlight
