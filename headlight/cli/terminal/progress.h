// The progress line of long work, at the bottom of the terminal.
#pragma once

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace headlight {

// 3:07 or 1:02:07
std::string Clock(double seconds);

// How far work has come: `done` items of `total` (-1: not counted, 0: unknown), or if only that is known, a share in
// [0, 1] (-1: unknown). `seconds`: from the beginning until these numbers came.
struct ProgressState {
  std::int64_t done = -1, total = 0;
  double share = -1, seconds = 0;
};

// The line `seconds` after the beginning: "lines embedded: 1200 of 5000, 310 per second, 0:12 left".
std::string ProgressLine(const std::string& what, const ProgressState& state, double seconds);

struct ProgressTerminal {
  int descriptor = STDERR_FILENO;
  std::chrono::milliseconds first{2000}, interval{100};  // until the line appears, and between two drawings
};

// Draws the line from its own thread, and erases it when destroyed. Does nothing if the descriptor is not a terminal or
// the program is quiet. Only one may exist at a time.
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

// The result of load(), which reads a model.
template <typename Load>
auto Loaded(const Load& load) {
  const Progress progress("loading the model");
  return load();
}

// Erases the line, and keeps it erased while the returned object exists. For other writers to the terminal.
std::unique_lock<std::mutex> HideProgress();

}  // namespace headlight
