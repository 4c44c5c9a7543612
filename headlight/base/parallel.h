// ParallelFor, with one thread pool and one thread limit for the whole process.
#pragma once

#include <cstdint>
#include <functional>

#include "headlight/base/export.h"

namespace headlight {

/// Returns the number of threads that a computation may use: 1 inside a ParallelFor body, otherwise the value of
/// SetThreads. The default is the number of processors available to this process.
HEADLIGHT_API int Threads();
HEADLIGHT_API void SetThreads(int threads);  ///< at least 1

/// Calls body(index) for every index in [0, count), on up to Threads() threads. Each thread starts with a contiguous
/// range of the indices and then takes indices from slower threads. Repeated calls over the same rows therefore find
/// them in a core's caches. Results must not depend on which thread runs a body. Nested calls run on the calling
/// thread. If a body throws, indices that have not begun are skipped, and the first exception is rethrown once no body
/// is running. If thread creation fails, the call continues with fewer threads.
HEADLIGHT_API void ParallelFor(std::int64_t count, const std::function<void(std::int64_t)>& body);

/// While an object of this class exists, Threads() is 1 on the thread that created it. Used by threads that run
/// concurrently with a computation.
class HEADLIGHT_API OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
};

}  // namespace headlight
