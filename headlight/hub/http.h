// Requests to a hub: redirects, retries and resumption, distrusting what the server says.
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
  std::string subject;  // with which errors begin, such as "ORG/NAME: config.json"
  // Only the headers are wanted. A redirect to another host is not followed: its own headers are the reply.
  bool head = false;
  // The body is a file of so many bytes: a connection that is cut is resumed, and more bytes are an error.
  std::optional<std::uint64_t> size = {};
  std::uint64_t from = 0;  // the first byte that is wanted of such a file
};

struct HttpReply {
  int status = 0;
  std::map<std::string, std::string> headers;  // by name, in lower case
  std::string Header(const std::string& name) const;
};

// One connection after another to a hub. Not for several threads at once.
class HttpClient {
 public:
  // `poll` is called at least once a second; what it throws ends the request.
  HttpClient(const HubOptions& options, std::function<void()> poll);
  HttpClient(const HttpClient&) = delete;
  ~HttpClient();

  // Gets the body's bytes, the first of which is at `offset` in it. An offset of 0 after others begins again.
  using Receive = std::function<void(std::uint64_t offset, std::string_view bytes)>;

  // Sends the request, again after failures that may pass, and returns the reply with status 200 or 206, or of a `head`
  // also with a redirect. Throws Error for any other, which says what the user can do.
  HttpReply Send(HttpRequest request, const Receive& receive);

  // Waits, calling `poll`.
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
