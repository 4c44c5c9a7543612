// The options for downloading and caching models.
#pragma once

#include <chrono>
#include <string>

namespace headlight {

struct HubOptions {
  /// The cache folder, such as ~/.cache/huggingface/hub. It can be shared with Python's huggingface_hub.
  std::string cache = {};
  /// The hub's URL: http or https, a host, and optionally a port and a path, such as the URL of a mirror.
  std::string endpoint = "https://huggingface.co";
  /// The access token of an account, for gated and private models. Empty for no token. The token is sent only to the
  /// endpoint's host.
  std::string token = {};
  /// A PEM file of trusted certificates, or a folder of such files. If empty, the system's certificates are used.
  std::string certificates = {};
  /// If true, models are only loaded from the cache. Throws Error if a model is not in the cache.
  bool offline = false;
  /// A connection that receives fewer than 100 bytes per second for this time is closed, and the request is retried.
  std::chrono::milliseconds stall{30'000};
  /// The pause before the first retry. It doubles with each further retry. A server may request a different pause.
  std::chrono::milliseconds retry_pause{1000};
  /// The longest pause that a server may request. If it requests a longer pause, the download fails with an error.
  std::chrono::seconds longest_pause{300};
};

}  // namespace headlight
