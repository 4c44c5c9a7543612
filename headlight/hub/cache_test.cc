#include "headlight/hub/cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "headlight/base/test_support.h"

namespace headlight::cache_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// Writes a file without flushing it to disk, unlike WriteFile.
void Write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

struct Cache : testing::Test {
  // Adds a revision of org/tiny in huggingface_hub's layout. Each element of `blobs` is the name and the content of a
  // blob.
  void AddRevision(const std::string& commit, const std::string& ref, const std::vector<std::string>& blobs) {
    const std::string snapshot = model + "/snapshots/" + commit;
    fs::create_directories(model + "/blobs");
    fs::create_directories(snapshot);
    for (const std::string& blob : blobs) {
      Write(model + "/blobs/" + blob, blob);
      fs::create_symlink("../../blobs/" + blob, snapshot + "/" + blob + ".json");
    }
    if (ref.empty()) return;
    fs::create_directories(fs::path(model + "/refs/" + ref).parent_path());
    Write(model + "/refs/" + ref, commit);
  }
  std::string Folder(const std::string& revision = "") { return CachedFolder(cache, "org/tiny", revision); }

  TemporaryFolder folder;
  const std::string cache = folder.File("hub"), model = cache + "/models--org--tiny";
};

TEST_F(Cache, FindsRevisions) {
  EXPECT_EQ(Folder(), "");
  AddRevision("aaa", "", {"x"});
  EXPECT_EQ(Folder(), model + "/snapshots/aaa") << "the only revision";
  AddRevision("bbb", "refs/pr/1", {"x"});
  EXPECT_EQ(Folder(), "") << "either";
  EXPECT_EQ(Folder("aaa"), model + "/snapshots/aaa");
  EXPECT_EQ(Folder("refs/pr/1"), model + "/snapshots/bbb");
  AddRevision("ccc", "main", {"x"});
  EXPECT_EQ(Folder(), model + "/snapshots/ccc");
  EXPECT_EQ(Folder("main"), model + "/snapshots/ccc");
  EXPECT_EQ(Folder("other"), "");
  fs::create_directories(cache + "/models--gpt2/snapshots/ddd");
  EXPECT_EQ(CachedFolder(cache, "gpt2"), cache + "/models--gpt2/snapshots/ddd");
}

TEST_F(Cache, DistrustsWhatIsThere) {
  AddRevision("aaa", "main", {"x"});
  AddRevision("bbb", "", {"x"});
  for (const std::string& ref :
       std::vector<std::string>{"../../..", "..", "", "/etc", {'a', '\0'}, std::string(300, 'a')}) {
    Write(model + "/refs/main", ref);
    EXPECT_EQ(Folder(), "") << ref;
  }
  EXPECT_THAT(ErrorOf([&] { Folder("../.."); }), HasSubstr("`revision`"));
  for (const std::string name : {"..", "org/..", "/", "org/tiny/", "a/b/c"})
    EXPECT_THAT(ErrorOf([&] { CachedFolder(cache, name); }), HasSubstr("is not a model's name"));
}

TEST_F(Cache, ListsModels) {
  EXPECT_TRUE(CachedModels(cache).empty());
  AddRevision("aaa", "main", {"x", "yy"});
  AddRevision("bbb", "v1", {"x", "zzz"});
  Write(model + "/refs/v0", "bbb");
  Write(model + "/snapshots/bbb/own.json", "own");  // a regular file, as on a file system without links
  fs::create_directories(cache + "/models--gpt2/snapshots");
  fs::create_directories(cache + "/datasets--org--words/snapshots");
  fs::create_directories(cache + "/.locks");
  const std::vector<CachedModel> models = CachedModels(cache);
  ASSERT_EQ(models.size(), 2U);
  EXPECT_EQ(models[0].name, "gpt2");
  EXPECT_EQ(models[1].name, "org/tiny");
  EXPECT_EQ(models[1].bytes, 1 + 2 + 3 + 3U);
  EXPECT_GT(models[1].last_used, 1'700'000'000);
  ASSERT_EQ(models[1].revisions.size(), 2U);
  EXPECT_EQ(models[1].revisions[0].commit, "aaa");
  EXPECT_THAT(models[1].revisions[0].names, ElementsAre("main"));
  EXPECT_EQ(models[1].revisions[0].bytes, 3U);
  EXPECT_THAT(models[1].revisions[1].names, ElementsAre("v0", "v1"));
  EXPECT_EQ(models[1].revisions[1].bytes, 7U);
}

TEST_F(Cache, RemovesModels) {
  AddRevision("aaa", "main", {"x", "yy"});
  fs::create_directories(cache + "/models--org--other/snapshots/bbb");
  EXPECT_THAT(ErrorOf([&] { RemoveCachedModel(cache, "org/none"); }), HasSubstr("org/none: is not in the cache"));
  EXPECT_EQ(RemoveCachedModel(cache, "org/tiny"), 3U);
  EXPECT_FALSE(fs::exists(model));
  EXPECT_TRUE(fs::exists(cache + "/models--org--other/snapshots/bbb"));
}

}  // namespace
}  // namespace headlight::cache_test
