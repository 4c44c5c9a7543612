// Threads: one pool and one bound for the whole process.
#pragma once

#include <cstdint>
#include <functional>

#include "headlight/base/export.h"

namespace headlight {

// How many threads a computation may use: 1 inside a ParallelFor's body; else what was set, or the number of processors
// that this process may run on.
HEADLIGHT_API int Threads();
HEADLIGHT_API void SetThreads(int threads);  // at least 1

// Calls body(index) for every index in [0, count), on up to Threads() threads. Each begins with a share of neighbouring
// indices, and then takes those of others that are slower: calls over the same rows find them in a core's own caches.
// The result of a body must not depend on the thread that runs it. Nested calls run in line. Where a body throws,
// indices not yet begun are left out, and the first exception reaches the caller once no body runs any more. A thread
// that the system does not grant is done without.
HEADLIGHT_API void ParallelFor(std::int64_t count, const std::function<void(std::int64_t)>& body);

// While it exists, Threads() is 1 on its thread: for a thread that works beside those that compute.
class HEADLIGHT_API OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
};

}  // namespace headlight
