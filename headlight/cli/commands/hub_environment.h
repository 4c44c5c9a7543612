// Settings of the hub from the environment variables of Python's huggingface_hub.
#pragma once

#include <string>

#include "headlight/hub/hub_options.h"

namespace headlight {

// The folder of the cache by HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME or HOME; empty if none is set.
std::string CacheOfEnvironment();

// All settings: also HF_ENDPOINT, the token of HF_TOKEN or of a login's file, HF_HUB_OFFLINE, and the certificates of
// REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE or SSL_CERT_FILE. libcurl reads the variables of proxies.
HubOptions HubOptionsOfEnvironment();

}  // namespace headlight
