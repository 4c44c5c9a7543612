// Shows the progress of a long operation in the last line of the terminal.
#pragma once

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace headlight {

// Formats a duration, such as 3:07 or 1:02:07.
std::string Clock(double seconds);

// The state of the work: `done` items of `total` (-1: not counted, 0: unknown). If the items are not counted, `share`
// is the completed fraction in [0, 1] (-1: unknown). `seconds` is the time from the start of the work to this report.
struct ProgressState {
  std::int64_t done = -1, total = 0;
  double share = -1, seconds = 0;
};

// Returns the progress line `seconds` after the start, such as "lines embedded: 1200 of 5000, 310 per second, 0:12
// left".
std::string ProgressLine(const std::string& what, const ProgressState& state, double seconds);

struct ProgressTerminal {
  int descriptor = STDERR_FILENO;
  std::chrono::milliseconds first{2000}, interval{100};  // delay before the line appears, and time between two updates
};

// Updates the line on a separate thread, and erases it when destroyed. Does nothing if the descriptor is not a terminal
// or the program is quiet. Only one object may exist at a time.
class Progress {
 public:
  explicit Progress(std::string what, ProgressTerminal terminal = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Show(std::int64_t done, std::int64_t total = 0);  // total 0: unknown
  void ShowShare(std::int64_t done, double share);       // share below 0: unknown

 private:
  void Set(const ProgressState& state);
  void Draw();

  std::string what_;
  ProgressTerminal terminal_;
  std::chrono::steady_clock::time_point begin_;
  std::mutex mutex_;
  std::condition_variable stop_;
  ProgressState state_;
  bool stopping_ = false;
  std::thread thread_;
};

// Returns the result of load(), and shows "loading the model" while it runs.
template <typename Load>
auto Loaded(const Load& load) {
  const Progress progress("loading the model");
  return load();
}

// Erases the line, and keeps it hidden while the returned object exists. Used by code that writes to the terminal.
std::unique_lock<std::mutex> HideProgress();

}  // namespace headlight
