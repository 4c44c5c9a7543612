#include "headlight/cli/commands/hub_environment.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <initializer_list>

#include "headlight/base/error.h"
#include "headlight/base/file.h"

namespace headlight {
namespace {

// Returns the value of the first variable that is set and not empty, or "".
std::string Variable(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* const value = std::getenv(name); value != nullptr && *value != '\0') return value;
  return "";
}

// Returns a path variable with ~ replaced by the user's home folder.
std::string PathVariable(std::initializer_list<const char*> names) {
  std::string path = Variable(names);
  if (path == "~" || path.starts_with("~/")) path.replace(0, 1, Variable({"HOME"}));
  return path;
}

// Returns `folder`/`name`, or "" if `folder` is empty.
std::string Within(const std::string& folder, const std::string& name) {
  return folder.empty() ? "" : folder + "/" + name;
}

std::string HubHome() {
  if (std::string home = PathVariable({"HF_HOME"}); !home.empty()) return home;
  const std::string cache = PathVariable({"XDG_CACHE_HOME"});
  return Within(cache.empty() ? Within(Variable({"HOME"}), ".cache") : cache, "huggingface");
}

bool IsTrue(std::string value) {
  std::ranges::transform(value, value.begin(), [](unsigned char c) { return std::toupper(c); });
  constexpr std::array words = {"1", "ON", "YES", "TRUE"};
  return std::ranges::find(words, value) != words.end();
}

std::string Token() {
  std::string token = Variable({"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"});
  if (token.empty()) {
    std::string path = PathVariable({"HF_TOKEN_PATH"});
    if (path.empty()) path = Within(HubHome(), "token");
    if (!path.empty() && Exists(path)) token = ReadFile(path, 4096);
  }
  const auto is_space = [](unsigned char c) { return std::isspace(c) != 0; };
  token.erase(std::find_if_not(token.rbegin(), token.rend(), is_space).base(), token.end());
  token.erase(token.begin(), std::ranges::find_if_not(token, is_space));
  return token;
}

}  // namespace

std::string CacheOfEnvironment() {
  const std::string cache = PathVariable({"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"});
  return cache.empty() ? Within(HubHome(), "hub") : cache;
}

HubOptions HubOptionsOfEnvironment() {
  HubOptions options;
  options.cache = CacheOfEnvironment();
  Check(!options.cache.empty(), "HF_HOME must name the folder for models, since HOME is not set");
  if (const std::string endpoint = Variable({"HF_ENDPOINT"}); !endpoint.empty()) options.endpoint = endpoint;
  options.token = Token();
  options.certificates = Variable({"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"});
  options.offline = IsTrue(Variable({"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}));
  return options;
}

}  // namespace headlight
