// Sends requests to a hub, with redirects, retries and resumption. Responses are not trusted.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "headlight/hub/hub_options.h"

namespace headlight {

struct HttpRequest {
  std::string url;
  std::string subject;  // prefix of error messages, such as "ORG/NAME: config.json"
  // If true, requests only the headers. A redirect to another host is not followed, and its headers are returned.
  bool head = false;
  // The size of the file in the body. If it is set, an interrupted transfer is resumed, and a larger body is an error.
  std::optional<std::uint64_t> size = {};
  std::uint64_t from = 0;  // offset of the first requested byte of the file
};

struct HttpReply {
  int status = 0;
  std::map<std::string, std::string> headers;  // keys are lower-case names
  std::string Header(const std::string& name) const;
};

// Sends requests to a hub one after another. Not thread-safe.
class HttpClient {
 public:
  // `poll` is called at least once a second. If `poll` throws an exception, the request is cancelled.
  HttpClient(const HubOptions& options, std::function<void()> poll);
  HttpClient(const HttpClient&) = delete;
  ~HttpClient();

  // Receives bytes of the body. `offset` is the offset of the first byte. An offset of 0 after other offsets restarts
  // the body.
  using Receive = std::function<void(std::uint64_t offset, std::string_view bytes)>;

  // Sends the request, and retries after temporary failures. Returns the reply if its status is 200 or 206, or a
  // redirect for `head`. Throws Error for any other status, with advice for the user.
  HttpReply Send(HttpRequest request, const Receive& receive);

  // Waits for `time`, and calls `poll` repeatedly.
  void Pause(std::chrono::milliseconds time) const;

 private:
  struct Transfer;
  struct Handle;
  Transfer SendOnce(const HttpRequest& request, const Receive& receive);
  void Perform(Transfer& transfer, const std::string& url, bool with_token);

  const HubOptions& options_;
  std::function<void()> poll_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace headlight
