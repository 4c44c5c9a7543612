// How models are downloaded, and the folder that keeps them.
#pragma once

#include <chrono>
#include <string>

namespace headlight {

struct HubOptions {
  /// The cache's folder, such as ~/.cache/huggingface/hub. Python's huggingface_hub may share it.
  std::string cache = {};
  /// The hub's address: http or https, a host and perhaps a port and a path, as a mirror has them.
  std::string endpoint = "https://huggingface.co";
  /// The token of an account, for gated and private models; empty: none. Only the endpoint's host gets it.
  std::string token = {};
  /// A PEM file of the certificates to trust, or a folder of such files; empty: the system's.
  std::string certificates = {};
  /// Nothing is downloaded: a model is in the cache, or there is an error.
  bool offline = false;
  /// A connection that brings fewer than 100 bytes per second for so long is ended, and another is tried.
  std::chrono::milliseconds stall{30'000};
  /// The pause before the first retry, doubled for each further one. A server may ask for another.
  std::chrono::milliseconds retry_pause{1000};
  /// If a server asks for a longer pause, the download ends with an error.
  std::chrono::seconds longest_pause{300};
};

}  // namespace headlight
