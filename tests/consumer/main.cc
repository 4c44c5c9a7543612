// A program of somebody who embeds headlight: it sees the installed headers and the shared library, and nothing else.
#include <headlight/base/error.h>
#include <headlight/base/parallel.h>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

int main() {
  // An exception thrown inside the library is caught by its type outside.
  try {
    headlight::SetThreads(0);
    return 1;
  } catch (const headlight::Error& error) {
    std::printf("refused as it should be: %s\n", error.what());
  }
  // Four threads at once share the library's one pool.
  std::atomic<int> done{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&done] { headlight::ParallelFor(1000, [&done](std::int64_t) { ++done; }); });
  for (std::thread& caller : callers) caller.join();
  std::printf("%d of 4000 pieces of work done\n", done.load());
  return done == 4000 ? 0 : 1;
}
