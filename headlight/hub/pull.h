// Downloads of models from a Hugging Face hub.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/hub/hub_options.h"

namespace headlight {

struct PullRequest {
  std::string model;                      // ORG/NAME
  std::string revision = "main";          // a branch, a tag or a commit
  std::vector<std::string> include = {};  // patterns of the weights to download, such as *.bin [those in safetensors]
};

struct PulledModel {
  std::string folder;            // in the cache
  std::uint64_t files = 0;       // of the model
  std::uint64_t downloaded = 0;  // bytes that came now
};

/// Called at least once a second with the bytes that are there and their total, which is 0 while it is unknown. What
/// it throws ends the download, which a later one continues.
using PullProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Downloads what the cache lacks of a model: its configuration, its tokenizer and its weights. Files appear whole,
/// after their size and hash are checked; the revision appears after its files. Several processes may download one
/// model at the same time. Throws Error if that fails; what came is kept, and the next call continues there.
HEADLIGHT_API PulledModel PullModel(const PullRequest& request, const HubOptions& hub,
                                    const PullProgress& progress = {});

}  // namespace headlight
