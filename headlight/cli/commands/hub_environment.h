// The settings of a hub in the environment variables of Python's huggingface_hub.
#pragma once

#include <string>

#include "headlight/hub/hub_options.h"

namespace headlight {

// The cache's folder by HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME or HOME; empty if none is set.
std::string CacheOfEnvironment();

// The same with HF_ENDPOINT, the token of HF_TOKEN or of a login's file, HF_HUB_OFFLINE, and the certificates of
// REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE or SSL_CERT_FILE. libcurl itself reads the variables of proxies.
HubOptions HubOptionsOfEnvironment();

}  // namespace headlight
