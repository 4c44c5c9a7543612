#include "headlight/hub/repository.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

constexpr std::size_t kMostListingBytes = std::size_t{32} << 20, kMostFiles = 20'000, kMostWanted = 1'000;

bool IsAlphanumeric(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool IsNamePart(std::string_view part) {
  const bool characters =
      std::ranges::all_of(part, [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
  return characters && !part.empty() && part.front() != '.' && part.front() != '-' && part.back() != '.' &&
         part.back() != '-' && part.find("--") == part.npos && part.find("..") == part.npos;
}

bool IsHex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// Percent-encodes text for a URL, except the characters in `kept`.
std::string Escaped(std::string_view text, std::string_view kept) {
  std::string escaped;
  for (const char c : text) {
    if (IsAlphanumeric(c) || kept.find(c) != kept.npos)
      escaped += c;
    else
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return escaped;
}

std::string WithoutSlash(std::string endpoint) {
  while (endpoint.ends_with('/')) endpoint.pop_back();
  return endpoint;
}

bool Matches(const std::string& pattern, const std::string& path) {
  return fnmatch(pattern.c_str(), path.c_str(), 0) == 0;
}

template <typename Patterns>
bool MatchesAny(const Patterns& patterns, const std::string& path) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) { return Matches(pattern, path); });
}

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Returns true for files in the model's folder, in a module's folder of a sentence-transformers model, or in the folder
// of a DALL-E's VAE. Files in other folders are checkpoints or copies for other programs.
bool IsOfModel(const std::string& path) {
  const std::size_t slash = path.find('/');
  if (slash == path.npos) return true;
  const std::string folder = path.substr(0, slash);
  return path.find('/', slash + 1) == path.npos && (folder == "vae" || Matches("[0-9]*_*", folder));
}

bool IsDescription(const std::string& path) {
  static const std::vector<std::string> patterns = {"*.json", "*.txt", "*.model", "*.spm", "*.jinja"};
  return IsOfModel(path) && MatchesAny(patterns, path);
}

// Returns true for safetensors files that are named as in Transformers.
bool IsWeights(const std::string& path) {
  static const std::vector<std::string> patterns = {"model.safetensors", "model-*-of-*.safetensors",
                                                    "adapter_model.safetensors", "shortlist.safetensors"};
  return IsOfModel(path) && MatchesAny(patterns, BaseName(path));
}

bool IsOtherWeights(const std::string& path) {
  static const std::vector<std::string> patterns = {"*.safetensors", "*.bin", "*.gguf", "*.npz", "*.pt", "*.pth"};
  return MatchesAny(patterns, path);
}

}  // namespace

bool IsModelName(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (name.size() > 96) return false;
  return slash == name.npos ? IsNamePart(name)
                            : IsNamePart(name.substr(0, slash)) && IsNamePart(name.substr(slash + 1));
}

void CheckModelName(std::string_view name) {
  Check(IsModelName(name), "{} is not a model's name, ORG/NAME, of at most 96 letters, digits and - _ .", Quoted(name));
}

bool IsInnerPath(std::string_view path) {
  if (path.size() > 1024) return false;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    const bool characters =
        std::ranges::all_of(part, [](unsigned char c) { return c >= ' ' && c != 127 && c != '\\'; });
    if (!characters || part.empty() || part == "." || part == ".." || part.size() > 255) return false;
    begin = end + 1;
  }
  return true;
}

Repository ReadRepository(HttpClient& client, const std::string& endpoint, const std::string& model,
                          const std::string& revision) {
  std::string text;
  const auto receive = [&](std::uint64_t offset, std::string_view bytes) {
    text.resize(offset);
    Check(text.size() + bytes.size() <= kMostListingBytes, "{}: the list of files has more than {} bytes", model,
          kMostListingBytes);
    text += bytes;
  };
  client.Send(
      {.url = fmt::format("{}/api/models/{}/revision/{}", WithoutSlash(endpoint), model, Escaped(revision, "-_.")),
       .subject = revision == "main" ? model : fmt::format("{}, revision {}", model, Quoted(revision))},
      receive);
  const std::string source = model + ": the list of files";
  const JsonView listing(ParseJson(text, source, {.values = std::int64_t{1} << 20}), source);
  Repository repository{.commit = listing["sha"].String(), .files = {}};
  Check(repository.commit.size() >= 40 && repository.commit.size() <= 64 && IsHex(repository.commit),
        "{}: {} is no commit", source, Quoted(repository.commit));
  const std::vector<JsonView> files = listing["siblings"].Items();
  Check(files.size() <= kMostFiles, "{}: has {} files, more than {}", source, files.size(), kMostFiles);
  for (const JsonView& file : files) repository.files.push_back(file["rfilename"].String());
  return repository;
}

std::vector<std::string> WantedFiles(const Repository& repository, const std::string& model,
                                     const std::vector<std::string>& include) {
  for (const std::string& pattern : include)
    Check(std::ranges::any_of(repository.files, [&](const std::string& path) { return Matches(pattern, path); }),
          "{}: no file matches `include` {}", model, Quoted(pattern));
  std::set<std::string> wanted;
  std::string others;
  bool has_weights = false;
  for (const std::string& path : repository.files) {
    const bool is_weights = include.empty() ? IsWeights(path) : MatchesAny(include, path);
    has_weights |= is_weights;
    if (is_weights || IsDescription(path))
      wanted.insert(path);
    else if (IsOtherWeights(path) && others.size() < 200)
      others += (others.empty() ? "" : ", ") + Quoted(path);
  }
  Check(has_weights || others.empty(), "{}: has no model.safetensors; name the weights to download by `include`: {}",
        model, others);
  Check(!wanted.empty(), "{}: has no files of a model", model);
  Check(wanted.size() <= kMostWanted, "{}: {} files would be downloaded, more than {}", model, wanted.size(),
        kMostWanted);
  for (const std::string& path : wanted) Check(IsInnerPath(path), "{}: a file is called {}", model, Quoted(path));
  return {wanted.begin(), wanted.end()};
}

RemoteFile ReadRemoteFile(HttpClient& client, const std::string& endpoint, const std::string& model,
                          const std::string& commit, const std::string& path) {
  const std::string subject = fmt::format("{}: {}", model, path);
  RemoteFile file{
      .path = path,
      .url = fmt::format("{}/{}/resolve/{}/{}", WithoutSlash(endpoint), model, commit, Escaped(path, "-_./")),
      .hash = {}};
  const HttpReply reply = client.Send({.url = file.url, .subject = subject, .head = true}, {});
  const auto header = [&](const std::string& linked, const std::string& plain) {
    const std::string value = reply.Header(linked);
    return value.empty() ? reply.Header(plain) : value;
  };
  file.hash = header("x-linked-etag", "etag");
  if (file.hash.starts_with("W/")) file.hash.erase(0, 2);
  std::erase(file.hash, '"');
  const bool good = !file.hash.empty() && file.hash.size() <= 128 && file.hash.front() != '.' &&
                    std::ranges::all_of(file.hash, [](char c) { return IsAlphanumeric(c) || c == '-' || c == '.'; });
  Check(good, "{}: the server names the content {}, which is no hash", subject, Quoted(file.hash));
  const std::string size = header("x-linked-size", reply.status == 200 ? "content-length" : "");
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), file.size);
  Check(error == std::errc() && end == size.data() + size.size() && file.size < std::uint64_t{1} << 62,
        "{}: the server gives the size {}", subject, Quoted(size));
  return file;
}

}  // namespace headlight
