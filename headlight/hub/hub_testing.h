// Runs a hub on 127.0.0.1 for tests, with responses like those of the Hugging Face Hub.
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/hub/digest.h"
#include "headlight/hub/hub_options.h"

namespace headlight {

struct ServedRequest {
  std::string method, path;
  std::map<std::string, std::string> headers;  // keys are lower-case names
  std::string Header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

struct ServedReply {
  int status = 200;
  std::vector<std::string> headers = {};
  std::string body = {};
  std::size_t cut = std::string::npos;  // number of body bytes after which the connection is closed
  bool stalls = false;                  // if true, the connection stays open, but sends no data
  bool endless = false;                 // if true, the body is sent repeatedly without end
};

// A server that answers one request per connection, in a separate thread.
class TestServer {
 public:
  using Answer = std::function<ServedReply(const ServedRequest&)>;

  explicit TestServer(Answer answer) : answer_(std::move(answer)), socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    Ensure(bind(socket_, raw, size) == 0 && listen(socket_, 64) == 0 && getsockname(socket_, raw, &size) == 0,
           "cannot listen");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      for (int connection; (connection = accept(socket_, nullptr, nullptr)) >= 0;)
        connections_.emplace_back([this, connection] { Serve(connection); });
    });
  }
  TestServer(const TestServer&) = delete;
  ~TestServer() {
    stopping_ = true;
    shutdown(socket_, SHUT_RDWR);
    thread_.join();
    for (std::thread& connection : connections_) connection.join();
    close(socket_);
  }

  std::string Url() const { return fmt::format("http://127.0.0.1:{}", port_); }
  std::vector<ServedRequest> Requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  static bool SendAll(int connection, std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = send(connection, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  static ServedRequest Read(int connection) {
    std::string text;
    for (char c; !text.ends_with("\r\n\r\n") && recv(connection, &c, 1, 0) == 1;) text += c;
    ServedRequest request;
    const std::size_t first = text.find(' '), second = text.find(' ', first + 1);
    request.method = text.substr(0, first);
    request.path = text.substr(first + 1, second - first - 1);
    for (std::size_t line = text.find("\r\n") + 2; line < text.size();) {
      const std::size_t end = text.find("\r\n", line), colon = text.find(": ", line);
      if (colon < end) {
        std::string name = text.substr(line, colon - line);
        std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
        request.headers[name] = text.substr(colon + 2, end - colon - 2);
      }
      line = end + 2;
    }
    return request;
  }

  void Serve(int connection) {
    const ServedRequest request = Read(connection);
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    const ServedReply reply = answer_(request);
    std::string text = fmt::format("HTTP/1.1 {} Status\r\nConnection: close\r\n", reply.status);
    if (!reply.endless) text += fmt::format("Content-Length: {}\r\n", reply.body.size());
    for (const std::string& header : reply.headers) text += header + "\r\n";
    text += "\r\n";
    if (request.method != "HEAD") text += reply.body.substr(0, reply.cut);
    bool open = SendAll(connection, text);
    while (reply.endless && open && !stopping_) open = SendAll(connection, reply.body);
    while (reply.stalls && !stopping_) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    shutdown(connection, SHUT_RDWR);
    close(connection);
  }

  const Answer answer_;
  const int socket_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<ServedRequest> requests_;
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> connections_;  // accessed only by the accepting thread
  std::thread thread_;
};

// A hub with one model, org/tiny, and an empty cache. Large files are on a different host, as in the Hugging Face Hub.
struct HubTest : testing::Test {
  using Hook = std::function<std::optional<ServedReply>(const ServedRequest&)>;

  HubTest() {
    setenv("no_proxy", "127.0.0.1", 1);
    options.cache = folder.File("cache");
    options.endpoint = hub.Url();
    options.token = "hf_secret";
    options.retry_pause = std::chrono::milliseconds(1);
  }

  static std::string HashOf(const std::string& content, bool large) {
    Digest digest = large ? Digest::Sha256() : Digest::GitBlob(content.size());
    digest.Update(content);
    return digest.Hex();
  }

  std::string Listing() const {
    Json::Array siblings;
    for (const auto* group : {&small, &large})
      for (const auto& [path, content] : *group) siblings.push_back(Json::Object{{"rfilename", path}});
    return Json(Json::Object{{"id", "org/tiny"}, {"sha", commit}, {"siblings", siblings}}).Line();
  }

  // Returns the content from the first byte of the requested range.
  static ServedReply Part(const ServedRequest& request, const std::string& content) {
    const std::string range = request.Header("range");
    if (range.empty()) return {.body = content};
    const std::size_t from = std::stoul(range.substr(std::string("bytes=").size()));
    return {.status = 206,
            .headers = {fmt::format("Content-Range: bytes {}-{}/{}", from, content.size() - 1, content.size())},
            .body = content.substr(from)};
  }

  ServedReply AnswerOfHub(const ServedRequest& request) {
    if (hook)
      if (const std::optional<ServedReply> reply = hook(request)) return *reply;
    if (request.path == "/api/models/org/tiny/revision/main" || request.path == "/api/models/org/tiny/revision/v2")
      return {.body = Listing()};
    const std::string prefix = "/org/tiny/resolve/" + commit + "/";
    const std::string path = request.path.starts_with(prefix) ? request.path.substr(prefix.size()) : "";
    if (const auto file = small.find(path); file != small.end()) {
      ServedReply reply = Part(request, file->second);
      reply.headers.push_back("ETag: \"" + HashOf(file->second, false) + "\"");
      return reply;
    }
    const auto file = large.find(path);
    if (file == large.end()) return {.status = 404, .headers = {"X-Error-Code: RepoNotFound"}};
    return {.status = 302,
            .headers = {"X-Linked-Etag: \"" + HashOf(file->second, true) + "\"",
                        fmt::format("X-Linked-Size: {}", file->second.size()), "ETag: \"other\"",
                        fmt::format("Location: {}/{}?signed", storage.Url(), path)}};
  }

  ServedReply AnswerOfStorage(const ServedRequest& request) {
    if (storage_hook)
      if (const std::optional<ServedReply> reply = storage_hook(request)) return *reply;
    return Part(request, large.at(request.path.substr(1, request.path.find('?') - 1)));
  }

  TemporaryFolder folder;
  HubOptions options;
  std::string commit = std::string(40, 'a');
  std::map<std::string, std::string> small = {{"config.json", "{}\n"}, {"1_Pooling/config.json", "{\"a\": 1}\n"}};
  std::map<std::string, std::string> large = {{"model.safetensors", std::string(20'000, 'w') + "end"}};
  Hook hook, storage_hook;  // replace the answer, unless they return nullopt
  TestServer storage{[this](const ServedRequest& request) { return AnswerOfStorage(request); }};
  TestServer hub{[this](const ServedRequest& request) { return AnswerOfHub(request); }};
};

}  // namespace headlight
