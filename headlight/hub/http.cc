#include "headlight/hub/http.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

constexpr int kMostRedirects = 5, kMostFailures = 5;
constexpr std::size_t kMostHeaderBytes = std::size_t{1} << 18, kMostUnreadBytes = std::size_t{1} << 16;
// After this number of new bytes, the number of retries is reset to 0.
constexpr std::uint64_t kProgress = std::uint64_t{1} << 20;
constexpr std::uint64_t kBytesPerSecond = 100;  // a slower connection counts as stalled
constexpr long kSecondsToConnect = 20, kSecondsOfHeaders = 60;

struct Address {
  std::string url, scheme, origin;  // origin: scheme, host and port
};

// Parses the URL `text`, which may be relative to `base`. `base` may be empty.
Address AddressOf(const std::string& base, const std::string& text, const std::string& subject) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), &curl_url_cleanup);
  const auto set = [&](const std::string& part) {
    Check(curl_url_set(url.get(), CURLUPART_URL, part.c_str(), 0) == CURLUE_OK, "{}: {} is no http or https address",
          subject, Quoted(part));
  };
  if (!base.empty()) set(base);
  set(text);
  const auto get = [&](CURLUPart part) {
    char* found = nullptr;
    if (curl_url_get(url.get(), part, &found, CURLU_DEFAULT_PORT) != CURLUE_OK) return std::string();
    std::string value(found);
    curl_free(found);
    return value;
  };
  Address address{.url = get(CURLUPART_URL), .scheme = get(CURLUPART_SCHEME), .origin = {}};
  Check((address.scheme == "http" || address.scheme == "https") && get(CURLUPART_USER).empty(),
        "{}: {} is no http or https address without a user's name", subject, Quoted(text));
  address.origin = fmt::format("{}://{}:{}", address.scheme, get(CURLUPART_HOST), get(CURLUPART_PORT));
  std::ranges::transform(address.origin, address.origin.begin(), [](unsigned char c) { return std::tolower(c); });
  return address;
}

bool IsFolder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

bool IsRedirect(int status) { return status >= 301 && status <= 308 && status != 304 && status != 305; }

bool MayPass(int status) {
  constexpr std::array passing = {408, 416, 429, 500, 502, 503, 504};
  return std::ranges::find(passing, status) != passing.end();
}

bool MayPass(CURLcode code) {
  constexpr std::array passing = {CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR,  CURLE_OPERATION_TIMEDOUT,
                                  CURLE_GOT_NOTHING,  CURLE_HTTP2,      CURLE_HTTP2_STREAM};
  return std::ranges::find(passing, code) != passing.end();
}

// Explains an error status, and how to fix the cause.
std::string Meaning(const HttpReply& reply) {
  const std::string code = reply.Header("x-error-code"), message = reply.Header("x-error-message");
  std::string text;
  if (code == "RevisionNotFound")
    text = "there is no such revision";
  else if (code == "EntryNotFound")
    text = "there is no such file";
  else if (reply.status == 401)
    text =
        "there is no such model, or it is gated or private and needs the token of an account with access, in HF_TOKEN";
  else if (reply.status == 403)
    text = "the account of the token in HF_TOKEN has no access; a gated model's page says how to ask for it";
  else if (reply.status == 404)
    text = "there is no such model or revision";
  else
    text = "the server cannot answer";
  text += fmt::format(" (status {})", reply.status);
  return message.empty() ? text : fmt::format("{}: {}", text, Quoted(message));
}

}  // namespace

std::string HttpReply::Header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

struct HttpClient::Handle {
  Handle() {
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    Ensure(ready == CURLE_OK, "libcurl cannot begin");
    curl = curl_easy_init();
    Ensure(curl != nullptr, "libcurl has no handle");
  }
  Handle(const Handle&) = delete;
  ~Handle() { curl_easy_cleanup(curl); }
  CURL* curl = nullptr;
};

// One request with its redirects, and libcurl's callbacks for it. The callbacks do not throw, but store an exception in
// `thrown`.
struct HttpClient::Transfer {
  const HttpRequest& request;
  const Receive& receive;
  const std::function<void()>& poll;
  const std::chrono::milliseconds stall;
  CURL* curl;
  HttpReply reply = {};
  std::uint64_t next = 0;  // offset of the next byte of the body
  bool received = false;   // true if any bytes of the body arrived
  std::size_t header_bytes = 0, unread_bytes = 0;
  std::uint64_t window_bytes = 0;  // bytes received since `window`, to measure the speed
  std::chrono::steady_clock::time_point window = {};
  bool stalled = false;
  std::exception_ptr thrown = {};
  CURLcode code = CURLE_OK;
  std::string failure = {};
  std::chrono::seconds asked_pause{0};

  int Status() const {
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return static_cast<int>(status);
  }

  template <typename Action>
  bool Guarded(const Action& action) {
    try {
      action();
      return true;
    } catch (...) {
      thrown = std::current_exception();
      return false;
    }
  }

  void AddHeader(std::string_view line) {
    header_bytes += line.size();
    Check(header_bytes <= kMostHeaderBytes, "{}: the server sends more than {} bytes of headers", request.subject,
          kMostHeaderBytes);
    if (line.starts_with("HTTP/")) reply.headers.clear();  // removes the headers of an interim response
    const std::size_t colon = line.find(':');
    if (colon == line.npos) return;
    std::string name(line.substr(0, colon));
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1), end = line.find_last_not_of(" \t\r\n");
    reply.headers[name] = begin == line.npos || end < begin ? "" : line.substr(begin, end - begin + 1);
  }

  // Returns false if the rest of the body is not needed.
  bool AddBody(std::string_view bytes) {
    const int status = Status();
    if (status != 200 && status != 206) return (unread_bytes += bytes.size()) <= kMostUnreadBytes;
    if (!received) {
      next = status == 206 ? request.from : 0;
      Check(status != 206 || reply.Header("content-range").starts_with(fmt::format("bytes {}-", next)),
            "{}: the server sends another part of the file than was requested", request.subject);
    }
    Check(!request.size || bytes.size() <= *request.size - std::min(next, *request.size),
          "{}: the server sends more than the {} bytes that it announced", request.subject, request.size.value_or(0));
    received = true;
    receive(next, bytes);
    next += bytes.size();
    return true;
  }

  void CheckSpeed() {
    const auto now = std::chrono::steady_clock::now();
    if (now - window < stall) return;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - window).count();
    stalled = window_bytes <= kBytesPerSecond * static_cast<std::uint64_t>(seconds);
    window = now;
    window_bytes = 0;
  }

  static std::size_t OnHeader(char* data, std::size_t, std::size_t size, void* transfer) {
    auto& self = *static_cast<Transfer*>(transfer);
    return self.Guarded([&] { self.AddHeader({data, size}); }) ? size : 0;
  }
  static std::size_t OnBody(char* data, std::size_t, std::size_t size, void* transfer) {
    auto& self = *static_cast<Transfer*>(transfer);
    bool wanted = true;
    self.window_bytes += size;
    return self.Guarded([&] { wanted = self.AddBody({data, size}); }) && wanted ? size : 0;
  }
  static int OnProgress(void* transfer, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    auto& self = *static_cast<Transfer*>(transfer);
    self.CheckSpeed();
    return self.Guarded([&] { self.poll(); }) && !self.stalled ? 0 : 1;
  }
};

HttpClient::HttpClient(const HubOptions& options, std::function<void()> poll)
    : options_(options), poll_(std::move(poll)), handle_(std::make_unique<Handle>()) {
  const bool printable = std::ranges::all_of(options.token, [](unsigned char c) { return c > ' ' && c < 127; });
  Check(printable, "`token` must not have spaces or control characters");
}

HttpClient::~HttpClient() = default;

void HttpClient::Pause(std::chrono::milliseconds time) const {
  const auto end = std::chrono::steady_clock::now() + time;
  for (auto now = end - time; now < end; now = std::chrono::steady_clock::now()) {
    poll_();
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(std::chrono::milliseconds(50), end - now));
  }
}

void HttpClient::Perform(Transfer& transfer, const std::string& url, bool with_token) {
  CURL* const curl = handle_->curl;
  const HttpRequest& request = transfer.request;
  curl_easy_reset(curl);  // keeps the connections open
  curl_slist* lines = curl_slist_append(nullptr, "Accept-Encoding: identity");
  if (with_token) lines = curl_slist_append(lines, fmt::format("Authorization: Bearer {}", options_.token).c_str());
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(lines, &curl_slist_free_all);
  std::array<char, CURL_ERROR_SIZE> message{};
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "headlight");
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, message.data());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kSecondsToConnect);
  if (request.head) curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  if (!request.size) curl_easy_setopt(curl, CURLOPT_TIMEOUT, kSecondsOfHeaders);
  const std::string range = fmt::format("{}-", request.from);
  if (request.from > 0) curl_easy_setopt(curl, CURLOPT_RANGE, range.c_str());
  if (const std::string& certificates = options_.certificates; !certificates.empty())
    curl_easy_setopt(curl, IsFolder(certificates) ? CURLOPT_CAPATH : CURLOPT_CAINFO, certificates.c_str());
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &Transfer::OnHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Transfer::OnBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &Transfer::OnProgress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);

  transfer.reply = {};
  transfer.header_bytes = transfer.unread_bytes = transfer.window_bytes = 0;
  transfer.window = std::chrono::steady_clock::now();
  transfer.code = curl_easy_perform(curl);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);
  if (transfer.thrown) std::rethrow_exception(transfer.thrown);
  transfer.reply.status = transfer.Status();
  if (transfer.unread_bytes > kMostUnreadBytes) transfer.code = CURLE_OK;
  curl_off_t pause = 0;
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &pause);
  transfer.asked_pause = std::chrono::seconds(pause);
  transfer.failure = transfer.stalled     ? fmt::format("no data for {} ms", transfer.stall.count())
                     : message[0] != '\0' ? message.data()
                                          : curl_easy_strerror(transfer.code);
}

HttpClient::Transfer HttpClient::SendOnce(const HttpRequest& request, const Receive& receive) {
  Transfer transfer{
      .request = request, .receive = receive, .poll = poll_, .stall = options_.stall, .curl = handle_->curl};
  Address address = AddressOf("", request.url, request.subject);
  bool with_token =
      !options_.token.empty() && address.origin == AddressOf("", options_.endpoint, request.subject).origin;
  for (int redirects = 0;; ++redirects) {
    Perform(transfer, address.url, with_token);
    if (transfer.code != CURLE_OK) transfer.failure = fmt::format("{}: {}", address.origin, transfer.failure);
    if (transfer.code != CURLE_OK || !IsRedirect(transfer.reply.status)) return transfer;
    Check(redirects < kMostRedirects, "{}: the server redirects more than {} times", request.subject, kMostRedirects);
    Address next = AddressOf(address.url, transfer.reply.Header("location"), request.subject);
    const bool same = next.origin == address.origin;
    if (request.head && !same) return transfer;
    Check(next.scheme == "https" || address.scheme == "http", "{}: a redirect from https to http is refused",
          request.subject);
    with_token = with_token && same;
    address = std::move(next);
  }
}

HttpReply HttpClient::Send(HttpRequest request, const Receive& receive) {
  std::chrono::milliseconds pause = options_.retry_pause;
  for (int failures = 0;;) {
    const Transfer transfer = SendOnce(request, receive);
    const int status = transfer.reply.status;
    const bool good = transfer.code == CURLE_OK && (status == 200 || status == 206 || IsRedirect(status));
    if (good && (request.head || !request.size || transfer.next == *request.size)) return transfer.reply;

    const std::string& subject = request.subject;
    const bool answered = transfer.code == CURLE_OK && !good;
    const std::string failure = answered ? Meaning(transfer.reply)
                                : good   ? fmt::format("the server sends {} of {} bytes", transfer.next, *request.size)
                                         : transfer.failure;
    if (transfer.next >= request.from + kProgress) failures = 0;
    const bool may_pass =
        answered ? MayPass(status) : good || transfer.received || transfer.stalled || MayPass(transfer.code);
    Check(may_pass && ++failures < kMostFailures, "{}: {}", subject, failure);
    Check(transfer.asked_pause <= options_.longest_pause, "{}: the server asks to wait {} seconds; try again then",
          subject, transfer.asked_pause.count());
    Pause(std::max<std::chrono::milliseconds>(transfer.asked_pause, pause * (1 << (failures - 1))));
    if (request.size && transfer.received) request.from = transfer.next;
    if (answered && status == 416) request.from = 0;
  }
}

}  // namespace headlight
