// A program that requests a model from a hub that the cache does not have.
//   consumer_hub CACHE
#include <headlight/base/error.h>
#include <headlight/hub/cache.h>
#include <headlight/hub/pull.h>

#include <string>

// Downloads what the cache lacks of a model. The library reads no environment: the token and the endpoint are fields.
std::string FolderOf(const std::string& model, const std::string& cache, bool offline) {
  const headlight::HubOptions hub = {.cache = cache, .offline = offline};
  return headlight::PullModel({.model = model}, hub).folder;
}

int main(int argc, char** argv) {
  if (argc != 2 || !headlight::CachedModels(argv[1]).empty()) return 2;
  try {
    FolderOf("org/tiny", argv[1], /*offline=*/true);
    return 1;
  } catch (const headlight::Error&) {  // the same type in both libraries
    return 0;
  }
}
