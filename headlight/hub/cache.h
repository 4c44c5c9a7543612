// The cache of downloaded models, in the layout of Python's huggingface_hub. The folder of a model, models--ORG--NAME/,
// contains:
// - blobs/HASH: the content of a file;
// - snapshots/COMMIT/: the files of a revision, as links to blobs;
// - refs/REVISION: a file with the commit of a branch or tag.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

struct CachedRevision {
  std::string commit;
  std::vector<std::string> names;  ///< branches and tags that pointed to this commit when they were downloaded
  std::uint64_t bytes = 0;
};

struct CachedModel {
  std::string name;         ///< ORG/NAME, or NAME for a few old models
  std::uint64_t bytes = 0;  ///< size on disk; revisions can share files
  std::time_t last_used = 0;
  std::vector<CachedRevision> revisions;
};

/// Returns the folder of a model, such as ORG/NAME, in the cache. `revision` is a branch, a tag or a commit. If it is
/// empty, the branch main is used, or the only revision if the cache has no branch main. Returns "" if the cache does
/// not have the model.
HEADLIGHT_API std::string CachedFolder(const std::string& cache, const std::string& model,
                                       const std::string& revision = "");

/// Returns the models in the cache, sorted by name. Returns an empty list if the cache does not exist.
HEADLIGHT_API std::vector<CachedModel> CachedModels(const std::string& cache);

/// Removes a model with all revisions, and returns its size in bytes. Throws Error if the model is not in the cache.
HEADLIGHT_API std::uint64_t RemoveCachedModel(const std::string& cache, const std::string& model);

/// Returns the folder models--ORG--NAME. Throws Error if `model` is not a valid model name.
HEADLIGHT_API std::string RepositoryFolder(const std::string& cache, const std::string& model);

}  // namespace headlight
