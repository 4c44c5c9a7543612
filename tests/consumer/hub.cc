// Requests a model that is not in the cache without network access. Succeeds if the library throws Error.
//   consumer_hub CACHE
#include <headlight/base/error.h>
#include <headlight/hub/cache.h>
#include <headlight/hub/pull.h>

#include <string>

// Downloads the files of a model that are not in the cache. The library does not read the environment: the token and
// the endpoint are fields of HubOptions.
std::string FolderOf(const std::string& model, const std::string& cache, bool offline) {
  const headlight::HubOptions hub = {.cache = cache, .offline = offline};
  return headlight::PullModel({.model = model}, hub).folder;
}

int main(int argc, char** argv) {
  if (argc != 2 || !headlight::CachedModels(argv[1]).empty()) return 2;
  try {
    FolderOf("org/tiny", argv[1], /*offline=*/true);
    return 1;
  } catch (const headlight::Error&) {  // the exception type is the same inside and outside of the library
    return 0;
  }
}
