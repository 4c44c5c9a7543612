#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <set>

#include "headlight/cli/commands/hub_environment_testing.h"
#include "headlight/cli/commands/model_argument.h"
#include "headlight/cli/program/testing.h"
#include "headlight/hub/hub_testing.h"

namespace headlight::pull_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct PullCommand : HubTest {
  PullCommand() {
    environment.Set("HF_HOME", folder.File("home"));
    environment.Set("HF_ENDPOINT", hub.Url());
    environment.Set("HF_TOKEN", "hf_secret");
    fs::create_directory(model);
    SaveTinyModel(model);
    small.clear();
    large.clear();
    for (const auto& entry : fs::directory_iterator(model)) {
      const std::string name = entry.path().filename();
      (name == "model.safetensors" ? large : small)[name] = ReadFile(entry.path());
    }
    fs::current_path(folder.path());
  }
  ~PullCommand() override { fs::current_path(before); }

  // Runs `pull` and returns the path that it prints.
  static std::string Pulled() {
    const Outcome outcome = RunProgram({"pull", "org/tiny"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(outcome.out.ends_with('\n'));
    return outcome.out.substr(0, outcome.out.size() - 1);
  }
  static std::string Translation(const std::string& name) {
    const Outcome outcome = RunProgram({"translate", name, "--quiet"}, "Ein Hund.\n");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }

  const fs::path before = fs::current_path();
  const std::string model = folder.File("model");
  TestEnvironment environment;
};

TEST_F(PullCommand, DownloadsWhatEveryCommandThenFinds) {
  EXPECT_THAT(RefusalOf({"translate", "org/tiny"}),
              HasSubstr("org/tiny: no such folder, and no such model in the cache; `headlight pull org/tiny`"));
  EXPECT_EQ(Pulled(), folder.File("home/hub/models--org--tiny/snapshots/") + commit);
  EXPECT_EQ(Translation("org/tiny"), Translation(model));
  // A converted copy contains files instead of links into the cache.
  MustRun({"convert", "org/tiny", "--out", "copy", "--compute", "int8"});
  for (const auto& entry : fs::directory_iterator("copy")) EXPECT_FALSE(entry.is_symlink()) << entry.path();
  // An existing folder with the same name takes precedence.
  fs::create_directories("org");
  fs::create_directory("org/tiny");
  SaveTinyModel("org/tiny", /*positions=*/40, /*seed=*/9);
  EXPECT_EQ(Translation("org/tiny"), Translation(folder.File("org/tiny")));
  EXPECT_NE(Translation("org/tiny"), Translation(model));
}

TEST_F(PullCommand, ListsAndRemoves) {
  EXPECT_EQ(RunProgram({"pull", "--list"}).out, "");
  Pulled();
  EXPECT_THAT(RunProgram({"pull", "--list"}).out,
              testing::MatchesRegex("org/tiny: 0\\.[0-9] MB, last used 20[0-9-]+\n  a+  0\\.[0-9] MB  main\n"));
  const Json listed = ParseJson(RunProgram({"pull", "--list", "--json"}).out, "list");
  EXPECT_EQ(*listed.Find("name"), Json("org/tiny"));
  EXPECT_EQ(*listed.Find("revisions")->As<Json::Array>()->front().Find("commit"), Json(commit));
  MustRun({"pull", "--remove", "org/tiny"});
  EXPECT_THAT(RefusalOf({"pull", "--remove", "org/tiny"}), HasSubstr("org/tiny: is not in the cache"));
  EXPECT_THAT(RefusalOf({"info", "org/tiny"}), HasSubstr("no such folder"));
}

TEST_F(PullCommand, ContinuesAfterASignal) {
  storage_hook = [&](const ServedRequest& request) {
    ServedReply reply = Part(request, large.begin()->second);
    reply.stalls = request.Header("range").empty();
    if (reply.stalls) reply.cut = 1'000;
    return std::optional(reply);
  };
  const pid_t process = StartProgram({"pull", "org/tiny"}, 0, 1, 2);
  const std::string incomplete =
      folder.File("home/hub/models--org--tiny/blobs/") + HashOf(large.begin()->second, true) + ".incomplete";
  std::error_code ignored;
  for (int i = 0; i < 1'000 && !(fs::file_size(incomplete, ignored) == 1'000); ++i) usleep(10'000);
  kill(process, SIGINT);
  EXPECT_EQ(AwaitProgram(process), -SIGINT);
  EXPECT_THAT(RefusalOf({"info", "org/tiny"}), HasSubstr("model.safetensors"));
  EXPECT_EQ(Translation(Pulled()), Translation(model));
  EXPECT_EQ(storage.Requests().back().Header("range"), "bytes=1000-");
}

// Checks that the folder of a downloaded GGUF file, which has no config.json, is accepted as a model.
TEST(ModelArgument, IsTheGgufFileOfAFolder) {
  const std::string gguf = HEADLIGHT_SOURCE_DIR "/tests/testdata/gguf/qwen3.gguf";
  const TemporaryFolder folder;
  EXPECT_EQ(ModelFolderOf(folder.path()), folder.path());
  fs::copy_file(gguf, folder.File("b-00001-of-00002.gguf"));
  fs::copy_file(gguf, folder.File("b-00002-of-00002.gguf"));
  EXPECT_EQ(ModelFolderOf(folder.path()), folder.path() + "/b-00001-of-00002.gguf");
  fs::copy_file(gguf, folder.File("a.gguf"));
  EXPECT_THAT(RefusalOf({"info", folder.path()}), HasSubstr("named: a.gguf, b-00001-of-00002.gguf"));
  WriteFile(folder.File("config.json"), "{}");
  EXPECT_EQ(ModelFolderOf(folder.path()), folder.path());
  EXPECT_THAT(RefusalOf({"info", folder.File("none.gguf")}), HasSubstr("none.gguf: no such file\n"));
  EXPECT_THAT(RefusalOf({"convert", gguf, "--out", folder.File("out"), "--compute", "int8"}),
              HasSubstr("can only be converted to another"));
}

TEST_F(PullCommand, RefusesUnfitOptions) {
  EXPECT_THAT(RefusalOf({"pull"}), HasSubstr("headlight pull needs the name of a model"));
  EXPECT_THAT(RefusalOf({"pull", "a/b", "--list"}), HasSubstr("--list"));
  EXPECT_THAT(RefusalOf({"pull", "--json"}), HasSubstr("--json needs --list"));
  EXPECT_THAT(RefusalOf({"pull", "../b"}), HasSubstr("'../b' is not a model's name"));
  EXPECT_THAT(RefusalOf({"pull", "org/none"}), HasSubstr("org/none: there is no such model or revision"));
  EXPECT_THAT(RefusalOf({"pull", "org/tiny", "--include", "*.gguf"}), HasSubstr("no file matches --include '*.gguf'"));
  EXPECT_THAT(RefusalOf({"pull", "org/tiny", "--revision", ".."}), HasSubstr("--revision is not the name"));
  EXPECT_TRUE(storage.Requests().empty());
}

// Checks that every option for a model's folder accepts a model's name.
TEST(ModelOptions, AreMarked) {
  const std::set<std::string> names = {"DIR",    "--from",    "--tokenizer", "--detector",
                                       "--rank", "--against", "--vae",       "--model"};
  int marked = 0;
  const std::function<void(const Command&)> visit = [&](const Command& command) {
    for (const auto& one : command.commands) visit(*one);
    for (const auto& option : command.options()) {
      if (!names.contains(option->name()) || option->is_flag()) continue;
      // Options of other types are not model folders.
      const bool is_folder = option->is_argument() || option->type() == "DIR";
      EXPECT_EQ(option->is_model(), is_folder) << command.name << " " << option->name();
      marked += option->is_model() ? 1 : 0;
    }
  };
  visit(*MakeProgram());
  EXPECT_GT(marked, 40);
}

}  // namespace
}  // namespace headlight::pull_test
