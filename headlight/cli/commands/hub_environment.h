// Reads the settings of the hub from the environment variables of Python's huggingface_hub.
#pragma once

#include <string>

#include "headlight/hub/hub_options.h"

namespace headlight {

// Returns the cache folder from HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME or HOME, or "" if none of them is set.
std::string CacheOfEnvironment();

// Returns all settings. In addition to the cache folder, these are HF_ENDPOINT, HF_HUB_OFFLINE, and the token from
// HF_TOKEN or from a login's file. Certificates are from REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE or SSL_CERT_FILE. libcurl
// reads the proxy variables.
HubOptions HubOptionsOfEnvironment();

}  // namespace headlight
