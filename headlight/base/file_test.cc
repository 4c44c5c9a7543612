#include "headlight/base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <span>
#include <vector>

#include "headlight/base/test_support.h"

namespace headlight::file_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// Runs `action` in a child process and returns its exit status: 0 if the action returns, 9 if it throws Error.
template <typename Action>
int InChild(Action action) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      action();
    } catch (const Error&) {
      _exit(9);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Returns a fill function for ReplaceFolder that writes two files with the same text.
auto Model(const std::string& text) {
  return [text](const std::string& folder) {
    WriteFile(folder + "/config.json", text);
    WriteFile(folder + "/weights", text);
  };
}
void ExpectModel(const std::string& folder, const std::string& text) {
  EXPECT_THAT(NamesIn(folder), ElementsAre("config.json", "weights"));
  EXPECT_EQ(ReadFile(folder + "/config.json"), text);
  EXPECT_EQ(ReadFile(folder + "/weights"), text);
}

TEST(MappedFile, ReturnsTheBytes) {
  const TemporaryFolder folder;
  WriteFile(folder.File("a"), "text");
  MappedFile file(folder.File("a"));
  EXPECT_EQ(file.text(), "text");
  MappedFile moved = std::move(file);
  WriteFile(folder.File("a"), "other");  // replaces the file; the mapping stays valid
  EXPECT_EQ(moved.text(), "text");
  moved = MappedFile(folder.File("a"));
  EXPECT_EQ(moved.text(), "other");

  WriteFile(folder.File("empty"), "");
  EXPECT_EQ(MappedFile(folder.File("empty")).bytes().size(), 0u);
}

// Returns the size of mapped files in this process's memory, in kilobytes.
long FileMemory() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word && word != "RssFile:") continue;
  long kilobytes = 0;
  status >> kilobytes;
  return kilobytes;
}

TEST(ReleasePages, GivesMappedPagesBackAndLeavesOtherMemory) {
  constexpr std::size_t size = std::size_t{8} << 20;
  const TemporaryFolder folder;
  WriteFile(folder.File("f"), std::string(size, 'x'));
  const MappedFile file(folder.File("f"));
  const auto count = [](std::string_view text) { return std::ranges::count(text, 'x'); };
  EXPECT_EQ(count(file.text()), std::ssize(file.text()));
  const long before = FileMemory();
  ReleasePages(file.bytes().subspan(1, size - 2));
  EXPECT_LT(FileMemory(), before - (6 << 10));
  EXPECT_EQ(count(file.text()), std::ssize(file.text()));

  const std::string own(size, 'x');
  ReleasePages(std::as_bytes(std::span(own)));
  EXPECT_EQ(count(own), std::ssize(own));
}

TEST(MappedFile, RejectsBadPaths) {
  const TemporaryFolder folder;
  EXPECT_THAT(ErrorOf([&] { MappedFile(folder.File("missing")); }), HasSubstr("missing: cannot open"));
  EXPECT_THAT(ErrorOf([&] { MappedFile(folder.path()); }), HasSubstr(folder.path() + ": is a folder"));
  ASSERT_EQ(mkfifo(folder.File("pipe").c_str(), 0600), 0);
  EXPECT_THAT(ErrorOf([&] { MappedFile(folder.File("pipe")); }), HasSubstr("pipe: is not a regular"));
  EXPECT_THAT(ErrorOf([&] { MappedFile(""); }), HasSubstr("cannot open"));

  WriteFile(folder.File("secret"), "text");
  fs::permissions(folder.File("secret"), fs::perms::none);
  EXPECT_EQ(InChild([&] {
              if (geteuid() == 0 && setuid(65534) != 0) _exit(1);  // root can read everything
              MappedFile(folder.File("secret"));
            }),
            9);
}

TEST(ReadFile, HasALimit) {
  const TemporaryFolder folder;
  WriteFile(folder.File("a"), "12345");
  EXPECT_EQ(ReadFile(folder.File("a"), 5), "12345");
  EXPECT_THAT(ErrorOf([&] { ReadFile(folder.File("a"), 4); }), HasSubstr("limit of 4"));
}

TEST(AtomicFile, ReplacesOnlyWhenCommitted) {
  const TemporaryFolder folder;
  const std::string path = folder.File("a");
  WriteFile(path, "old");
  {
    AtomicFile file(path);
    file.Write("half");
    EXPECT_EQ(ReadFile(path), "old");
  }
  EXPECT_EQ(ReadFile(path), "old");
  AtomicFile file(path);
  file.Write("new ");
  file.Write("text");
  file.Commit();
  EXPECT_EQ(ReadFile(path), "new text");
  EXPECT_THAT(NamesIn(folder.path()), ElementsAre("a"));
}

TEST(AtomicFile, FollowsLinksAndAppliesTheUmask) {
  const TemporaryFolder folder;
  WriteFile(folder.File("a"), "old");
  fs::create_symlink("a", folder.File("link"));
  const mode_t mask = umask(027);
  WriteFile(folder.File("link"), "new");
  umask(mask);
  EXPECT_TRUE(fs::is_symlink(folder.File("link")));
  EXPECT_EQ(ReadFile(folder.File("a")), "new");
  EXPECT_EQ(static_cast<unsigned>(fs::status(folder.File("a")).permissions()), 0640u);
}

TEST(AtomicFile, ReplacesOnlyRegularFiles) {
  const TemporaryFolder folder;
  EXPECT_THAT(ErrorOf([&] { AtomicFile(folder.path()); }), HasSubstr("is a folder"));
  EXPECT_THAT(ErrorOf([] { AtomicFile("/dev/null"); }), HasSubstr("/dev/null: is not a regular"));
  EXPECT_THAT(ErrorOf([] { AtomicFile(""); }), HasSubstr("the path is empty"));
  EXPECT_THAT(ErrorOf([&] { AtomicFile(folder.File("missing/a")); }), HasSubstr("cannot create a file"));
  EXPECT_THAT(ErrorOf([] { AtomicFile("/proc/headlight"); }), HasSubstr("cannot create a file"));
  WriteFile(folder.File("a"), "");
  EXPECT_THAT(ErrorOf([&] { AtomicFile(folder.File("a/b")); }), HasSubstr("a/b"));
}

// Simulates a full disk: no file can grow beyond 4 KiB.
void FillDisk() {
  signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{4096, 4096};
  setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(AtomicFile, AcceptsRelativePaths) {
  const TemporaryFolder folder;
  EXPECT_EQ(InChild([&] {
              fs::current_path(folder.path());
              WriteFile("new.txt", "text");
              ReplaceFolder("model", Model("one"));
            }),
            0);
  EXPECT_THAT(NamesIn(folder.path()), ElementsAre("model", "new.txt"));
}

TEST(AtomicFile, KeepsTheOldFileIfTheDiskIsFull) {
  const TemporaryFolder folder;
  WriteFile(folder.File("a"), "old");
  EXPECT_EQ(InChild([&] {
              FillDisk();
              WriteFile(folder.File("a"), std::string(10'000, 'x'));
            }),
            9);
  EXPECT_EQ(ReadFile(folder.File("a")), "old");
  EXPECT_THAT(NamesIn(folder.path()), ElementsAre("a"));
}

TEST(ReplaceFolder, AppearsAtOnceAndReplaces) {
  const TemporaryFolder folder;
  const std::string path = folder.File("model");
  ReplaceFolder(path, Model("first"));
  ExpectModel(path, "first");
  ReplaceFolder(path + "/", [&](const std::string& fresh) {
    Model("second")(fresh);
    ExpectModel(path, "first");
  });
  ExpectModel(path, "second");
  EXPECT_THAT(NamesIn(folder.path()), ElementsAre("model"));
}

TEST(ReplaceFolder, FollowsLinks) {
  const TemporaryFolder folder;
  fs::create_directories(folder.File("disk/model"));
  fs::create_directory_symlink("disk/model", folder.File("link"));
  ReplaceFolder(folder.File("link"), Model("new"));
  EXPECT_TRUE(fs::is_symlink(folder.File("link")));
  ExpectModel(folder.File("disk/model"), "new");
}

TEST(ReplaceFolder, KeepsTheOldFolderOnFailure) {
  const TemporaryFolder folder;
  const std::string path = folder.File("model");
  ReplaceFolder(path, Model("old"));
  EXPECT_EQ(ErrorOf([&] { ReplaceFolder(path, [](const std::string&) { Fail("no"); }); }), "no");
  EXPECT_THAT(ErrorOf([&] { ReplaceFolder(path, [](const std::string& fresh) { fs::remove_all(fresh); }); }),
              HasSubstr(path));
  EXPECT_EQ(InChild([&] {
              FillDisk();
              ReplaceFolder(path, Model(std::string(10'000, 'x')));
            }),
            9);
  ExpectModel(path, "old");
  EXPECT_THAT(NamesIn(folder.path()), ElementsAre("model"));
}

// Skipped under the undefined-behavior sanitizer, which checks pointers through a pipe. The sanitizer cannot open a
// pipe in this test.
#if !defined(__SANITIZE_ADDRESS__)
TEST(ReplaceFolder, ReportsTooManyOpenFiles) {
  const TemporaryFolder folder;
  EXPECT_EQ(InChild([&] {
              const rlimit limit{0, 0};
              setrlimit(RLIMIT_NOFILE, &limit);
              ReplaceFolder(folder.File("model"), Model("new"));
            }),
            9);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}
#endif

TEST(ReplaceFolder, RejectsFiles) {
  const TemporaryFolder folder;
  WriteFile(folder.File("notes"), "text");
  EXPECT_THAT(ErrorOf([&] { ReplaceFolder(folder.File("notes"), Model("new")); }), HasSubstr("notes: is not a folder"));
  EXPECT_EQ(ReadFile(folder.File("notes")), "text");
  EXPECT_THAT(ErrorOf([&] { ReplaceFolder(folder.File("a/b"), Model("new")); }), HasSubstr("cannot create"));
  EXPECT_THAT(ErrorOf([&] { ReplaceFolder("/", Model("new")); }), HasSubstr("/"));
}

// Kills a process during ReplaceFolder: at each call that fills the folder, and after increasing delays.
TEST(ReplaceFolder, KeepsACompleteFolderIfKilled) {
  const TemporaryFolder folder;
  const std::string path = folder.File("model");
  ReplaceFolder(path, Model("old"));
  EXPECT_EQ(InChild([&] {
              ReplaceFolder(path, [](const std::string& fresh) {
                WriteFile(fresh + "/config.json", "new");
                AtomicFile weights(fresh + "/weights");
                weights.Write("ne");
                kill(getpid(), SIGKILL);
              });
            }),
            -SIGKILL);
  ExpectModel(path, "old");
  EXPECT_EQ(NamesIn(folder.path()).size(), 2u);  // including the leftover
  ReplaceFolder(path, Model("newer"));
  ExpectModel(path, "newer");
  EXPECT_THAT(NamesIn(folder.path()), ElementsAre("model"));

  for (int microseconds = 0; microseconds < 4000; microseconds += 200) {
    const pid_t child = fork();
    if (child == 0) {
      for (int round = 0;; ++round) ReplaceFolder(path, Model(std::to_string(round)));
    }
    usleep(static_cast<useconds_t>(microseconds));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ExpectModel(path, ReadFile(path + "/config.json"));
  }
  ReplaceFolder(path, Model("last"));
  EXPECT_THAT(NamesIn(folder.path()), ElementsAre("model"));
}

TEST(ReplaceFolder, RemovesOnlyLeftovers) {
  const TemporaryFolder folder;
  for (const std::string name : {"model.headlight-new-0", "model.headlight-new-12", "model.headlight-new-",
                                 "model.headlight-new-1x", "model.headlight-new-0.old", "other.headlight-new-0"})
    fs::create_directory(folder.File(name));
  fs::create_directory_symlink("other.headlight-new-0", folder.File("model.headlight-new-3"));
  // Simulates another process that is replacing the folder.
  const int locked = open(folder.File("model.headlight-new-12").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(flock(locked, LOCK_EX), 0);
  ReplaceFolder(folder.File("model"), Model("new"));
  EXPECT_THAT(NamesIn(folder.path()),
              ElementsAre("model", "model.headlight-new-", "model.headlight-new-0.old", "model.headlight-new-12",
                          "model.headlight-new-1x", "model.headlight-new-3", "other.headlight-new-0"));
  close(locked);
}

TEST(ReplaceFolder, WorksInConcurrentProcesses) {
  const TemporaryFolder folder;
  const std::string path = folder.File("model");
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    try {
      for (int round = 0; round < 25; ++round) ReplaceFolder(path, Model(std::to_string(child)));
    } catch (const Error& error) {
      fprintf(stderr, "%s\n", error.what());
      _exit(9);
    }
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  ExpectModel(path, ReadFile(path + "/config.json"));
  ReplaceFolder(path, Model("last"));
  EXPECT_THAT(NamesIn(folder.path()), ElementsAre("model"));
}

// Makes a system call of this process fail with `error`, as on file systems that do not support it.
void Forbid(unsigned call, unsigned error) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{4, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit(77);
}

TEST(ReplaceFolder, WorksWithoutAtomicExchange) {
  const TemporaryFolder folder;
  const std::string path = folder.File("model");
  ReplaceFolder(path, Model("old"));
  fs::create_directory(folder.File("model.headlight-new-0.old"));  // left if killed between two renames
  WriteFile(folder.File("model.headlight-new-0.old/weights"), "older");
  const int status = InChild([&] {
    Forbid(SYS_renameat2, EINVAL);
    ReplaceFolder(path, Model("new"));
    ReplaceFolder(folder.File("other"), Model("first"));
  });
  if (status == 77) GTEST_SKIP() << "system calls cannot be filtered here";
  EXPECT_EQ(status, 0);
  ExpectModel(path, "new");
  ExpectModel(folder.File("other"), "first");
  EXPECT_THAT(NamesIn(folder.path()), ElementsAre("model", "other"));
}

TEST(LinkOrCopy, LinksIfPossibleOtherwiseCopies) {
  const TemporaryFolder folder;
  const std::string from = folder.File("from");
  WriteFile(from, "weights");
  LinkOrCopy(from, folder.File("link"));
  EXPECT_EQ(fs::hard_link_count(from), 2U);
  EXPECT_THAT(ErrorOf([&] { LinkOrCopy(folder.File("none"), folder.File("link")); }),
              HasSubstr("none: cannot be copied"));
  const int status = InChild([&] {
#ifdef SYS_link
    Forbid(SYS_link, EPERM);
#endif
    Forbid(SYS_linkat, EPERM);
    LinkOrCopy(from, folder.File("copy"));
  });
  if (status == 77) GTEST_SKIP() << "system calls cannot be filtered here";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(fs::hard_link_count(from), 2U);
  EXPECT_EQ(ReadFile(folder.File("copy")), "weights");
}

}  // namespace
}  // namespace headlight::file_test
