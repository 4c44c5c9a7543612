// Reads a hub's description of a model, and selects the files that headlight reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headlight/hub/http.h"

namespace headlight {

// Returns true if `name` is a valid model name: ORG/NAME, or NAME for a few old models.
bool IsModelName(std::string_view name);
// Throws Error if `name` is not a valid model name.
void CheckModelName(std::string_view name);

// Returns true if `path` is a valid path within a folder: at most 1024 bytes, no "..", no empty name, no backslash and
// no control characters.
bool IsInnerPath(std::string_view path);

struct Repository {
  std::string commit;
  std::vector<std::string> files;  // paths of the files, not validated
};

Repository ReadRepository(HttpClient& client, const std::string& endpoint, const std::string& model,
                          const std::string& revision);

// Selects the files to download: the configuration, the tokenizer, and the safetensors weights, or the weights that
// match the patterns in `include`. `*` also matches slashes. Throws Error if a pattern matches no file, or if the
// weights are only in other formats.
std::vector<std::string> WantedFiles(const Repository& repository, const std::string& model,
                                     const std::vector<std::string>& include);

struct RemoteFile {
  std::string path, url;
  std::string hash;        // SHA-256, or git's hash for small files; another server may use a different identifier
  std::uint64_t size = 0;  // bytes
};

RemoteFile ReadRemoteFile(HttpClient& client, const std::string& endpoint, const std::string& model,
                          const std::string& commit, const std::string& path);

}  // namespace headlight
