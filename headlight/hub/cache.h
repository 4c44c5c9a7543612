// The cache of downloaded models, in the layout of Python's huggingface_hub: models--ORG--NAME/ has blobs/HASH, the
// contents; snapshots/COMMIT/, the files of a revision as links to them; and refs/REVISION, which hold a commit.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

struct CachedRevision {
  std::string commit;
  std::vector<std::string> names;  // of branches and tags that were at this commit when they were downloaded
  std::uint64_t bytes = 0;
};

struct CachedModel {
  std::string name;         // ORG/NAME, or for a few old models NAME
  std::uint64_t bytes = 0;  // on the disk: revisions share contents
  std::time_t last_used = 0;
  std::vector<CachedRevision> revisions;
};

/// The folder of a model, such as ORG/NAME, in the cache: that of the branch, tag or commit `revision`. If that is
/// empty, of the branch main, or else of the only revision that is there. Empty if the cache has none.
HEADLIGHT_API std::string CachedFolder(const std::string& cache, const std::string& model,
                                       const std::string& revision = "");

/// The models in the cache, sorted by name. A cache that does not exist has none.
HEADLIGHT_API std::vector<CachedModel> CachedModels(const std::string& cache);

/// Removes a model with all of its revisions, and returns its size in bytes. Throws Error if the cache does not have
/// it.
HEADLIGHT_API std::uint64_t RemoveCachedModel(const std::string& cache, const std::string& model);

/// The folder models--ORG--NAME. Throws Error unless `model` is such a name.
std::string RepositoryFolder(const std::string& cache, const std::string& model);

}  // namespace headlight
