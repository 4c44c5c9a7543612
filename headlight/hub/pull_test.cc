#include "headlight/hub/pull.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "headlight/base/cancelled.h"
#include "headlight/base/file.h"
#include "headlight/hub/cache.h"
#include "headlight/hub/hub_testing.h"

namespace headlight::pull_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Pull : public HubTest {
 protected:
  PulledModel Pulled(const PullRequest& request = {.model = "org/tiny"}, const PullProgress& progress = {}) {
    return PullModel(request, options, progress);
  }
  std::string Refusal() {
    return ErrorOf([&] { Pulled(); });
  }
  std::string Repository() const { return options.cache + "/models--org--tiny"; }
  std::string Weights() const { return HashOf(large.at("model.safetensors"), true); }
  std::string WeightsPath() const { return Repository() + "/blobs/" + Weights(); }

  // Returns the requests to the storage, such as "GET" or "GET bytes=5-".
  std::vector<std::string> Ranges() const {
    std::vector<std::string> ranges;
    for (const ServedRequest& request : storage.Requests())
      ranges.push_back(request.method + (request.Header("range").empty() ? "" : " " + request.Header("range")));
    return ranges;
  }
  // Expects that the whole model is in the cache.
  void ExpectWhole(const PulledModel& pulled) const {
    for (const auto* group : {&small, &large})
      for (const auto& [path, content] : *group) EXPECT_EQ(ReadFile(pulled.folder + "/" + path), content) << path;
    for (const auto& entry : fs::directory_iterator(Repository() + "/blobs"))
      EXPECT_NE(entry.path().extension(), ".incomplete");
  }
};

TEST_F(Pull, WritesTheLayoutOfHuggingfaceHub) {
  const PulledModel pulled = Pulled();
  EXPECT_EQ(pulled.folder, Repository() + "/snapshots/" + commit);
  EXPECT_EQ(pulled.files, 3U);
  EXPECT_EQ(pulled.downloaded, 20'003 + 3 + 9);
  ExpectWhole(pulled);
  EXPECT_EQ(ReadFile(Repository() + "/refs/main"), commit);
  EXPECT_EQ(fs::read_symlink(pulled.folder + "/model.safetensors"), "../../blobs/" + Weights());
  EXPECT_EQ(fs::read_symlink(pulled.folder + "/1_Pooling/config.json"),
            "../../../blobs/" + HashOf(small.at("1_Pooling/config.json"), false));
  // A second call requests only the list of files.
  const std::size_t requests = hub.Requests().size();
  EXPECT_EQ(Pulled().downloaded, 0U);
  EXPECT_EQ(hub.Requests().size(), requests + 1);
}

TEST_F(Pull, SendsTheTokenOnlyToTheEndpoint) {
  hook = [&](const ServedRequest& request) -> std::optional<ServedReply> {
    // A renamed model is redirected within the host.
    if (request.path == "/api/models/org/tiny/revision/main")
      return ServedReply{.status = 307, .headers = {"Location: /api/models/org/tiny/revision/v2"}};
    // A small file is redirected to the hub's own cache.
    if (request.path.starts_with("/org/tiny/resolve/") && request.path.ends_with("/1_Pooling/config.json"))
      return ServedReply{.status = 307, .headers = {"X-Linked-Size: 5", "Location: /cache?file=1"}};
    if (request.path == "/cache?file=1") {
      ServedReply reply{.body = small.at("1_Pooling/config.json")};
      reply.headers.push_back("ETag: W/\"" + HashOf(reply.body, false) + "\"");
      return reply;
    }
    return std::nullopt;
  };
  ExpectWhole(Pulled());
  for (const ServedRequest& request : hub.Requests()) EXPECT_EQ(request.Header("authorization"), "Bearer hf_secret");
  ASSERT_EQ(storage.Requests().size(), 1U);
  EXPECT_EQ(storage.Requests().front().Header("authorization"), "");
}

TEST_F(Pull, ANewRevisionSharesContents) {
  Pulled();
  commit = std::string(40, 'b');
  small["config.json"] = "{\"new\": 1}";
  EXPECT_EQ(Pulled({.model = "org/tiny", .revision = "v2"}).downloaded, 10U);
  EXPECT_EQ(ReadFile(Repository() + "/refs/v2"), commit);
  EXPECT_EQ(ReadFile(Repository() + "/refs/main"), std::string(40, 'a'));
  EXPECT_EQ(storage.Requests().size(), 1U);
}

TEST_F(Pull, ResumesCutConnections) {
  int replies = 0;
  storage_hook = [&](const ServedRequest& request) {
    ServedReply reply = Part(request, large.begin()->second);
    if (++replies <= 2) reply.cut = 7'000;
    return std::optional(reply);
  };
  ExpectWhole(Pulled());
  EXPECT_THAT(Ranges(), ElementsAre("GET", "GET bytes=7000-", "GET bytes=14000-"));
}

TEST_F(Pull, BeginsAnewIfTheServerKnowsNoRanges) {
  int replies = 0;
  storage_hook = [&](const ServedRequest&) {
    return std::optional(ServedReply{.body = large.begin()->second, .cut = ++replies == 1 ? 7'000 : std::string::npos});
  };
  ExpectWhole(Pulled());
}

TEST_F(Pull, ContinuesWhatAnEndedProcessLeft) {
  // An exception from the progress callback cancels the first download, like a signal.
  EXPECT_THROW(Pulled({.model = "org/tiny"},
                      [](std::uint64_t done, std::uint64_t) {
                        if (done > 0) throw Cancelled();
                      }),
               Cancelled);
  EXPECT_FALSE(fs::exists(Repository() + "/refs/main"));
  fs::create_directories(Repository() + "/blobs");
  std::ofstream(WeightsPath() + ".incomplete") << std::string(12'000, 'w');
  const PulledModel pulled = Pulled();
  ExpectWhole(pulled);
  EXPECT_EQ(Ranges().back(), "GET bytes=12000-");
}

TEST_F(Pull, ReplacesADamagedBeginning) {
  fs::create_directories(Repository() + "/blobs");
  for (const std::size_t size : {5'000U, 20'003U, 30'000U}) {
    fs::remove(WeightsPath());
    fs::remove_all(Repository() + "/snapshots");
    std::ofstream(WeightsPath() + ".incomplete") << std::string(size, '?');
    ExpectWhole(Pulled());
  }
}

TEST_F(Pull, RefusesOtherContent) {
  storage_hook = [&](const ServedRequest&) {
    return std::optional(ServedReply{.body = std::string(large.begin()->second.size(), 'x')});
  };
  EXPECT_EQ(Refusal(), "org/tiny: model.safetensors: the content that came does not have the hash " + Weights());
  hook = [&](const ServedRequest& request) -> std::optional<ServedReply> {
    if (request.method != "GET" || !request.path.ends_with("config.json")) return std::nullopt;
    return ServedReply{.body = std::string(request.path.find("Pooling") != std::string::npos ? 9 : 3, 'x')};
  };
  fs::remove_all(options.cache);
  EXPECT_THAT(Refusal(), HasSubstr("does not have the hash " + HashOf("{}\n", false)));
  EXPECT_FALSE(fs::exists(Repository() + "/refs/main"));
  EXPECT_TRUE(fs::is_empty(Repository() + "/snapshots/" + commit));
}

TEST_F(Pull, RefusesOtherSizes) {
  storage_hook = [&](const ServedRequest&) {
    return std::optional(ServedReply{.body = large.begin()->second + "more"});
  };
  EXPECT_THAT(Refusal(), HasSubstr("the server sends more than the 20003 bytes that it announced"));
  storage_hook = [&](const ServedRequest&) { return std::optional(ServedReply{.body = std::string(100, 'w')}); };
  EXPECT_THAT(Refusal(), HasSubstr("the server sends 100 of 20003 bytes"));
  storage_hook = [&](const ServedRequest&) {
    return std::optional(ServedReply{.body = std::string(1 << 16, 'w'), .endless = true});
  };
  EXPECT_THAT(Refusal(), HasSubstr("the server sends more than the 20003 bytes"));
  storage_hook = [&](const ServedRequest&) {
    return std::optional(ServedReply{.status = 206, .headers = {"Content-Range: bytes 7-9/10"}, .body = "abc"});
  };
  EXPECT_THAT(Refusal(), HasSubstr("another part of the file"));
  EXPECT_FALSE(fs::exists(WeightsPath()));
}

TEST_F(Pull, SaysWhatAStatusMeans) {
  const auto refusal = [&](int status, std::vector<std::string> headers = {}) {
    hook = [=](const ServedRequest&) { return std::optional(ServedReply{.status = status, .headers = headers}); };
    return Refusal();
  };
  EXPECT_EQ(
      refusal(401, {"X-Error-Code: GatedRepo", "X-Error-Message: Access is restricted."}),
      "org/tiny: there is no such model, or it is gated or private and needs the token of an account with access, "
      "in HF_TOKEN (status 401): 'Access is restricted.'");
  EXPECT_THAT(refusal(403), HasSubstr("org/tiny: the account of the token in HF_TOKEN has no access"));
  EXPECT_EQ(refusal(404), "org/tiny: there is no such model or revision (status 404)");
  EXPECT_EQ(refusal(404, {"X-Error-Code: RevisionNotFound"}), "org/tiny: there is no such revision (status 404)");
  EXPECT_THAT(refusal(410), HasSubstr("org/tiny: the server cannot answer (status 410)"));
  const std::size_t before = hub.Requests().size();
  EXPECT_THAT(refusal(503), HasSubstr("(status 503)"));
  EXPECT_EQ(hub.Requests().size(), before + 5) << "a failure that may pass is tried again";
  EXPECT_EQ(refusal(429, {"Retry-After: 3600"}), "org/tiny: the server asks to wait 3600 seconds; try again then");
  options.endpoint = "http://127.0.0.1:1";
  EXPECT_THAT(Refusal(), HasSubstr("org/tiny: http://127.0.0.1:1: "));
}

TEST_F(Pull, WaitsAsTheServerAsks) {
  hook = [&](const ServedRequest&) {
    return std::optional(ServedReply{.status = 429, .headers = {"Retry-After: 30"}});
  };
  int polls = 0;
  const auto cancel = [&](std::uint64_t, std::uint64_t) {
    if (!hub.Requests().empty() && ++polls == 6) throw Cancelled();  // after about 200 milliseconds
  };
  EXPECT_THROW(Pulled({.model = "org/tiny"}, cancel), Cancelled);
  EXPECT_EQ(hub.Requests().size(), 1U);
  hook = [&](const ServedRequest&) -> std::optional<ServedReply> {
    if (hub.Requests().size() > 2) return std::nullopt;
    return ServedReply{.status = 503};
  };
  ExpectWhole(Pulled());
}

TEST_F(Pull, EndsAStalledConnection) {
  options.stall = std::chrono::milliseconds(500);
  bool stalled = false;
  storage_hook = [&](const ServedRequest& request) {
    ServedReply reply = Part(request, large.begin()->second);
    reply.stalls = !std::exchange(stalled, true);
    if (reply.stalls) reply.cut = 50;
    return std::optional(reply);
  };
  ExpectWhole(Pulled());
  EXPECT_THAT(Ranges(), ElementsAre("GET", "GET bytes=50-"));
}

TEST_F(Pull, RefusesUnfitListings) {
  const auto refusal = [&](const std::string& text, const std::vector<std::string>& include = {}) {
    hook = [=](const ServedRequest&) { return std::optional(ServedReply{.body = text}); };
    return ErrorOf([&] { Pulled({.model = "org/tiny", .include = include}); });
  };
  const auto with = [&](const std::string& path) {
    const Json::Array siblings = {Json::Object{{"rfilename", path}}};
    return refusal(Json(Json::Object{{"sha", commit}, {"siblings", siblings}}).Line(), {"*"});
  };
  for (const std::string path :
       {"../a.json", "/etc/a.json", "a/../b.json", "a//b.json", "a\\b.json", "./a.json", "a\n.json"})
    EXPECT_EQ(with(path), "org/tiny: a file is called " + Quoted(path));
  EXPECT_THAT(with(std::string(300, 'a') + ".json"), HasSubstr("org/tiny: a file is called 'aaa"));
  EXPECT_THAT(refusal(fmt::format(R"({{"sha": "{}", "siblings": []}})", commit)), HasSubstr("has no files of a model"));
  EXPECT_THAT(refusal("{"), HasSubstr("org/tiny: the list of files"));
  EXPECT_THAT(refusal(std::string(1'000, '[')), HasSubstr("org/tiny: the list of files"));
  EXPECT_THAT(refusal(R"({"sha": "../../x", "siblings": []})"), HasSubstr("'../../x' is no commit"));
  EXPECT_THAT(refusal(R"({"siblings": []})"), HasSubstr("sha"));
  std::string many;
  for (int i = 0; i < 1'001; ++i) many += fmt::format(R"({}{{"rfilename": "{}.json"}})", i == 0 ? "" : ",", i);
  EXPECT_THAT(refusal(fmt::format(R"({{"sha": "{}", "siblings": [{}]}})", commit, many)),
              HasSubstr("1001 files would be downloaded, more than 1000"));
  hook = [&](const ServedRequest&) {
    return std::optional(ServedReply{.body = std::string(1 << 20, ' '), .endless = true});
  };
  EXPECT_THAT(Refusal(), HasSubstr("the list of files has more than 33554432 bytes"));
}

TEST_F(Pull, RefusesUnfitHeaders) {
  const auto refusal = [&](int status, std::vector<std::string> headers) {
    hook = [=](const ServedRequest& request) -> std::optional<ServedReply> {
      if (request.method != "HEAD") return std::nullopt;
      return ServedReply{.status = status, .headers = headers};
    };
    return Refusal();
  };
  EXPECT_THAT(refusal(200, {"ETag: \"../../x\""}), HasSubstr("names the content '../../x', which is no hash"));
  EXPECT_THAT(refusal(200, {}), HasSubstr("names the content ''"));
  EXPECT_THAT(refusal(302, {"X-Linked-Etag: a", "Location: " + storage.Url()}), HasSubstr("gives the size ''"));
  EXPECT_THAT(refusal(200, {"ETag: a", "X-Linked-Size: -1"}), HasSubstr("gives the size '-1'"));
  EXPECT_THAT(refusal(200, {"ETag: a", "X-Linked-Size: 1000000000000000000"}), HasSubstr("GB more on the disk"));
  EXPECT_THAT(refusal(302, {"Location: /again"}), HasSubstr("redirects more than 5 times"));
  EXPECT_THAT(refusal(302, {"Location: file:///etc/passwd"}), HasSubstr("is no http or https address"));
  EXPECT_THAT(refusal(302, {"Location: http://user@127.0.0.1/"}), HasSubstr("without a user's name"));
  EXPECT_THAT(refusal(302, {}), HasSubstr("redirects"));
  EXPECT_THAT(refusal(200, std::vector<std::string>(300, "A: " + std::string(1'000, 'a'))),
              HasSubstr("more than 262144 bytes of headers"));
}

TEST_F(Pull, ConcurrentCallsShareOneDownload) {
  storage_hook = [&](const ServedRequest& request) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return std::optional(Part(request, large.begin()->second));
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { ExpectWhole(Pulled()); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(storage.Requests().size(), 1U);
}

TEST_F(Pull, AFullDiskIsAnErrorAndLaterContinued) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit = before;
  limit.rlim_cur = 8'000;  // limits the file size, to simulate a full disk
  setrlimit(RLIMIT_FSIZE, &limit);
  const std::string refusal = Refusal();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(refusal, HasSubstr(".incomplete: cannot write: "));
  EXPECT_EQ(CachedFolder(options.cache, "org/tiny", "main"), "");
  ExpectWhole(Pulled());
  EXPECT_THAT(Ranges(), ElementsAre("GET", "GET bytes=8000-"));
}

TEST_F(Pull, OfflineUsesOnlyTheCache) {
  options.offline = true;
  EXPECT_THAT(Refusal(), HasSubstr("org/tiny: revision main is not in the cache, "));
  EXPECT_TRUE(hub.Requests().empty());
  options.offline = false;
  const std::string snapshot = Pulled().folder;
  const std::size_t requests = hub.Requests().size();
  options.offline = true;
  EXPECT_EQ(Pulled().folder, snapshot);
  EXPECT_EQ(hub.Requests().size(), requests);
}

TEST_F(Pull, ChoosesFiles) {
  small = {{"config.json", "{}"}, {"vocab.txt", "a"},   {"README.md", "r"},
           {"spiece.model", "m"}, {"onnx/a.json", "o"}, {"checkpoint-5/tokenizer.json", "t"}};
  large = {{"model.safetensors", "s"},
           {"checkpoint-5/model.safetensors", "5"},
           {"2_Dense/model.safetensors", "d"},
           {"consolidated.safetensors", "c"},
           {"q/tiny.gguf", "g"},
           {"pytorch_model.bin", "b"},
           {"model-00001-of-00002.safetensors", "1"},
           {"onnx/model.onnx", "o"}};
  const auto files = [&](const std::vector<std::string>& include) {
    fs::remove_all(options.cache);
    const std::string snapshot = Pulled({.model = "org/tiny", .include = include}).folder;
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(snapshot))
      if (!entry.is_directory()) found.push_back(entry.path().lexically_relative(snapshot));
    return found;
  };
  using testing::UnorderedElementsAre;
  EXPECT_THAT(files({}), UnorderedElementsAre("config.json", "vocab.txt", "spiece.model", "model.safetensors",
                                              "2_Dense/model.safetensors", "model-00001-of-00002.safetensors"));
  EXPECT_THAT(files({"*.gguf", "*.bin"}),
              UnorderedElementsAre("config.json", "vocab.txt", "spiece.model", "q/tiny.gguf", "pytorch_model.bin"));
  EXPECT_EQ(ErrorOf([&] { files({"*.gguf", "*.h5"}); }), "org/tiny: no file matches `include` '*.h5'");
  large.erase("model.safetensors");
  large.erase("2_Dense/model.safetensors");
  large.erase("checkpoint-5/model.safetensors");
  large.erase("model-00001-of-00002.safetensors");
  EXPECT_EQ(ErrorOf([&] { files({}); }),
            "org/tiny: has no model.safetensors; name the weights to download by `include`: "
            "'consolidated.safetensors', 'pytorch_model.bin', 'q/tiny.gguf'");
  large.clear();  // the repository has only a tokenizer
  EXPECT_THAT(files({}), UnorderedElementsAre("config.json", "vocab.txt", "spiece.model"));
}

TEST_F(Pull, RefusesUnfitRequests) {
  for (const std::string name :
       {"", "/tiny", "org/", "a/b/c", "../tiny", "org/..", "org/a--b", "org/a b", "org/\xc3\xa4"})
    EXPECT_THAT(ErrorOf([&] { Pulled({.model = name}); }), HasSubstr("is not a model's name, ORG/NAME"));
  for (const std::string revision : {"", "../x", "/x", "a//b"})
    EXPECT_THAT(ErrorOf([&] { Pulled({.model = "org/tiny", .revision = revision}); }), HasSubstr("`revision`"));
  options.token = "a\r\nHost: b";
  EXPECT_THAT(Refusal(), HasSubstr("`token` must not have"));
  options.token.clear();
  options.endpoint = "ftp://127.0.0.1";
  EXPECT_THAT(Refusal(), HasSubstr("is no http or https address"));
  EXPECT_TRUE(hub.Requests().empty());
}

}  // namespace
}  // namespace headlight::pull_test
