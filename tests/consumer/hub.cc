// A program that requests a model from a hub that the cache does not have.
//   consumer_hub CACHE
#include <headlight/base/error.h>
#include <headlight/hub/cache.h>
#include <headlight/hub/pull.h>

int main(int argc, char** argv) {
  if (argc != 2 || !headlight::CachedModels(argv[1]).empty()) return 2;
  try {
    headlight::PullModel({.model = "org/tiny"}, {.cache = argv[1], .offline = true});
    return 1;
  } catch (const headlight::Error&) {  // the same type in both libraries
    return 0;
  }
}
