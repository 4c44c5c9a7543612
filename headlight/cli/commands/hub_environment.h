// Reads the settings of the hub from the environment variables of Python's huggingface_hub.
#pragma once

#include <string>

#include "headlight/hub/hub_options.h"

namespace headlight {

// Returns the cache folder from HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME or HOME, or "" if none of them is set.
std::string CacheOfEnvironment();

// Returns all settings from the environment. The token is from HF_TOKEN or from the file that a login writes. Other
// variables are HF_ENDPOINT, HF_HUB_OFFLINE, and for certificates REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE or SSL_CERT_FILE.
// libcurl reads the proxy variables.
HubOptions HubOptionsOfEnvironment();

}  // namespace headlight
