// Opens arbitrary bytes as Faiss index files, and searches the valid files.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/search/faiss_index.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using headlight::Ensure;
  static const int file = memfd_create("fuzz", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  Ensure(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == static_cast<ssize_t>(size), "no file");
  try {
    const headlight::FaissIndex index = headlight::FaissIndex::Open(path);
    const std::vector<float> query(static_cast<std::size_t>(index.dimension()), 1.0F);
    for (const std::int64_t probes : {std::int64_t{0}, index.lists() > 0 ? std::int64_t{1} : std::int64_t{0}})
      Ensure(static_cast<std::int64_t>(index.Search(query, 3, {.probes = probes, .ef_search = probes}).size()) <=
                 index.size(),
             "more hits than vectors");
  } catch (const headlight::Error& error) {
    if (error.cause() == headlight::ErrorCause::internal) throw;
  }
  return 0;
}
