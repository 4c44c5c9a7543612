// Downloads models from a Hugging Face hub.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/hub/hub_options.h"

namespace headlight {

struct PullRequest {
  std::string model;              ///< ORG/NAME
  std::string revision = "main";  ///< branch, tag or commit
  /// Patterns of the weight files to download, such as *.bin. If empty, the safetensors files are downloaded.
  std::vector<std::string> include = {};
};

struct PulledModel {
  std::string folder;            ///< the model's folder in the cache
  std::uint64_t files = 0;       ///< number of the model's files
  std::uint64_t downloaded = 0;  ///< number of bytes downloaded by this call
};

/// Called at least once a second with the number of available bytes and the total. The total is 0 while it is unknown.
/// If the function throws an exception, the download is canceled. A later download continues it.
using PullProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Downloads the files of a model that are not in the cache: its configuration, its tokenizer and its weights. A file
/// is added to the cache after its size and hash have been verified. The revision is added after all its files. Several
/// processes may download the same model at the same time. Throws Error if the download fails. Incomplete files are
/// kept, and the next call continues them.
HEADLIGHT_API PulledModel PullModel(const PullRequest& request, const HubOptions& hub,
                                    const PullProgress& progress = {});

}  // namespace headlight
