// A hub's description of a model: its files, and the selection that headlight reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headlight/hub/http.h"

namespace headlight {

// Whether `name` is a model's as a hub allows it: ORG/NAME, or for a few old models NAME.
bool IsModelName(std::string_view name);
// Throws Error unless it is.
void CheckModelName(std::string_view name);

// Whether it is a path within a folder, as a hub's files and revisions have it: at most 1024 bytes, no "..", no empty
// name, no backslash and no control characters.
bool IsInnerPath(std::string_view path);

struct Repository {
  std::string commit;
  std::vector<std::string> files;  // their paths, which are not checked
};

Repository ReadRepository(HttpClient& client, const std::string& endpoint, const std::string& model,
                          const std::string& revision);

// The files to download: the configuration and the tokenizer, and the weights in safetensors, or with `include` what
// its patterns match. `*` matches slashes, too. Throws Error for a pattern without matches, and for a model whose
// weights are only in other formats.
std::vector<std::string> WantedFiles(const Repository& repository, const std::string& model,
                                     const std::vector<std::string>& include);

struct RemoteFile {
  std::string path, url;
  std::string hash;  // SHA-256, or git's hash of a small file; another server may have another name for the content
  std::uint64_t size = 0;  // bytes
};

RemoteFile ReadRemoteFile(HttpClient& client, const std::string& endpoint, const std::string& model,
                          const std::string& commit, const std::string& path);

}  // namespace headlight
