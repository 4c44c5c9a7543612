#include "headlight/cli/terminal/output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/text/printable.h"

namespace headlight {
namespace fs = std::filesystem;
namespace {

std::function<std::string(const std::string& note)> rewrite_note;

bool holds_results = false;
std::string options_file;  // the file given by --config

// Hides the progress line if results are printed to a terminal.
std::unique_lock<std::mutex> MakeRoom() {
  static const bool terminal = isatty(STDOUT_FILENO) == 1;
  return terminal ? HideProgress() : std::unique_lock<std::mutex>();
}

// Identifies a file. All paths to an existing regular file give the same identity. A file that does not exist yet is
// identified by its absolute path.
struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;
  std::string path;
  auto operator<=>(const FileIdentity&) const = default;
};

// Returns the identity of a regular file, or nullopt for other files.
std::optional<FileIdentity> IdentityOf(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino, ""};
}

std::optional<FileIdentity> IdentityOf(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? IdentityOf(status) : std::nullopt;
}

std::optional<FileIdentity> IdentityOf(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) return IdentityOf(status);
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return FileIdentity{0, 0, error ? path : fs::weakly_canonical(absolute, error).string()};
}

// Returns the files in a model's folder that a command may read. Files of sentence-transformers models are in
// subfolders.
std::vector<std::string> ModelFiles(const std::string& folder) {
  std::vector<std::string> files;
  const auto add = [&](const std::string& from) {
    std::error_code error;
    std::vector<std::string> folders;
    for (fs::directory_iterator entry(from, error), end; !error && entry != end; entry.increment(error)) {
      const std::string path = entry->path().string(), name = entry->path().filename().string();
      const std::string ending = entry->path().extension().string();
      if (entry->is_directory(error)) folders.push_back(path);
      const bool read = ending == ".json" || ending == ".safetensors" || ending == ".spm" || ending == ".model" ||
                        name == "vocab.txt" || name == "merges.txt";
      if (read) files.push_back(path);
    }
    return folders;
  };
  for (const std::string& inner : add(folder)) add(inner);
  return files;
}

// Returns the identities of the inputs of CheckOutputs, each with the file's name for messages.
std::map<FileIdentity, std::string> IdentitiesOf(const std::vector<std::string>& inputs) {
  std::map<FileIdentity, std::string> files;
  const auto add = [&](const std::optional<FileIdentity>& identity, const std::string& name) {
    if (identity) files.emplace(*identity, name);
  };
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (input.empty()) continue;
    if (input == "-") {
      add(IdentityOf(STDIN_FILENO), "standard input");
    } else if (!fs::is_directory(input, ignored)) {
      add(IdentityOf(input), input);
    } else {
      for (const std::string& file : ModelFiles(input)) add(IdentityOf(file), file);
    }
  }
  return files;
}

[[noreturn]] void FailToWrite() {
  if (errno == EPIPE) throw OutputClosed();
  Fail("standard output: cannot write: {}", std::strerror(errno));
}

}  // namespace

void WriteResult(std::string_view text) {
  if (holds_results) {
    HeldResults() += text;
    return;
  }
  const auto room = MakeRoom();
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) FailToWrite();
}

void FlushResults() {
  const auto room = MakeRoom();
  if (std::fflush(stdout) != 0) FailToWrite();
}

void CheckWritable(const std::string& path) {
  const AtomicFile probe(path);  // without Commit, an existing file stays unchanged
}

void SetOptionsFile(const std::string& path) { options_file = path; }

void CheckOutputs(const std::vector<OutputFile>& outputs, std::vector<std::string> inputs) {
  Check(std::ranges::count(inputs, "-") <= 1, "standard input (-) can only be one of the files");
  if (!options_file.empty()) inputs.push_back(options_file);
  const std::map<FileIdentity, std::string> read = IdentitiesOf(inputs);
  std::map<FileIdentity, std::string> written;
  const auto add = [&](const std::optional<FileIdentity>& identity, const std::string& name) {
    if (!identity) return;
    const auto [other, is_new] = written.emplace(*identity, name);
    Check(is_new, "{}: {} goes to the same file; name another file", name, other->second);
    const auto input = read.find(*identity);
    Check(input == read.end(), "{}: this command reads the same file, as {}; name another file", name,
          input == read.end() ? "" : input->second);
  };
  add(IdentityOf(STDOUT_FILENO), "standard output");
  for (const auto& [option, path] : outputs) {
    Check(path != "-", "{} -: must be a file, not standard output", option);
    if (!path.empty()) add(IdentityOf(path), fmt::format("{} {}", option, path));
  }
}

const std::string& Input(const std::string& path) {
  static bool noted = false;
  if (path == "-" && !std::exchange(noted, true) && isatty(STDIN_FILENO) == 1) Note("reading standard input");
  return path;
}

void HoldResults() { holds_results = true; }
std::string& HeldResults() {
  static std::string results;
  return results;
}

void RewriteNotes(std::function<std::string(const std::string&)> rewrite) { rewrite_note = std::move(rewrite); }

void WriteNote(const std::string& line) {
  const auto hidden = HideProgress();
  std::fprintf(stderr, "%s\n", Printable(Rewritten(line), "\n\t").c_str());
}

std::string Rewritten(const std::string& message) { return rewrite_note ? rewrite_note(message) : message; }

}  // namespace headlight
