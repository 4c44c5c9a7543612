// Sets environment variables for a test, and restores them afterwards.
#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace headlight {

class TestEnvironment {
 public:
  // Unsets all variables for the cache and for downloads.
  TestEnvironment() {
    for (const char* name : {"HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME", "HF_ENDPOINT",
                             "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_HUB_OFFLINE",
                             "TRANSFORMERS_OFFLINE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"})
      Set(name, std::nullopt);
  }
  TestEnvironment(const TestEnvironment&) = delete;
  ~TestEnvironment() {
    for (const auto& [name, value] : before_) Put(name, value);
  }

  // Sets a variable, or unsets it if there is no value.
  void Set(const std::string& name, const std::optional<std::string>& value) {
    const char* const old = std::getenv(name.c_str());
    before_.emplace(name, old == nullptr ? std::nullopt : std::optional<std::string>(old));
    Put(name, value);
  }

 private:
  static void Put(const std::string& name, const std::optional<std::string>& value) {
    value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
  }
  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace headlight
