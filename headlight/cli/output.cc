#include "headlight/cli/output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/cli/progress.h"
#include "headlight/text/utf8.h"

namespace headlight {
namespace fs = std::filesystem;
namespace {

bool quiet = false;
std::string options_file;  // of --config

// Where results go to a terminal, they take the place of the progress line.
std::unique_lock<std::mutex> MakeRoom() {
  static const bool terminal = isatty(STDOUT_FILENO) == 1;
  return terminal ? HideProgress() : std::unique_lock<std::mutex>();
}

// A regular file by what it is, so that every path to it is equal; one that is yet to be made by its whole path.
struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;
  std::string path;
  bool is_file = true;
  bool operator==(const FileIdentity& other) const {
    return is_file && other.is_file && device == other.device && number == other.number && path == other.path;
  }
};

FileIdentity IdentityOf(const struct stat& status) {
  return {status.st_dev, status.st_ino, "", S_ISREG(status.st_mode)};
}

FileIdentity IdentityOf(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? IdentityOf(status) : FileIdentity{0, 0, "", false};
}

FileIdentity IdentityOf(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) return IdentityOf(status);
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return {0, 0, error ? path : fs::weakly_canonical(absolute, error).string(), true};
}

// The files of a model's folder that a command may read, those of sentence-transformers in folders of their own.
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

void CheckNotRead(const std::string& output, const FileIdentity& identity, const std::string& input) {
  std::error_code ignored;
  if (input == "-") {
    Check(identity != IdentityOf(STDIN_FILENO), "{}: this command reads the same file, as standard input", output);
  } else if (!fs::is_directory(input, ignored)) {
    Check(identity != IdentityOf(input), "{}: this command reads the same file, as {}: name another file", output,
          input);
  } else {
    for (const std::string& file : ModelFiles(input))
      Check(identity != IdentityOf(file), "{}: this command reads the same file, as {}: name another file", output,
            file);
  }
}

[[noreturn]] void FailToWrite() {
  if (errno == EPIPE) throw OutputClosed();
  Fail("standard output: cannot write: {}", std::strerror(errno));
}

// As InRow, but for `kept`.
std::string Printable(std::string_view text, std::string_view kept) {
  std::string printable;
  while (!text.empty()) {
    const auto [code, bytes] = DecodeUtf8(text);
    const std::string_view character = text.substr(0, static_cast<std::size_t>(std::max(bytes, 1)));
    const bool control = (code < 0x20 && kept.find(character) == kept.npos) || (code >= 0x7f && code < 0xa0);
    const bool turns = (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    if (bytes == 0 || control)
      printable +=
          fmt::format("\\x{:02x}", bytes == 0 ? static_cast<unsigned char>(text[0]) : static_cast<unsigned>(code));
    else if (turns)
      printable += fmt::format("\\u{:04x}", static_cast<unsigned>(code));
    else
      printable += character;
    text.remove_prefix(character.size());
  }
  return printable;
}

}  // namespace

void WriteResult(std::string_view text) {
  const auto room = MakeRoom();
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) FailToWrite();
}

void FlushResults() {
  const auto room = MakeRoom();
  if (std::fflush(stdout) != 0) FailToWrite();
}

void CheckWritable(const std::string& path) {
  const AtomicFile probe(path);  // without Commit an existing file stays as it is
}

void SetOptionsFile(const std::string& path) { options_file = path; }

void CheckOutputs(const std::vector<OutputFile>& outputs, std::vector<std::string> inputs) {
  Check(std::ranges::count(inputs, "-") <= 1, "standard input (-) can only be one of the files");
  if (!options_file.empty()) inputs.push_back(options_file);
  std::vector<std::pair<std::string, FileIdentity>> all = {{"standard output", IdentityOf(STDOUT_FILENO)}};
  for (const auto& [option, path] : outputs)
    if (!path.empty()) all.emplace_back(fmt::format("{} {}", option, path), IdentityOf(path));
  for (auto output = all.begin(); output != all.end(); ++output) {
    const auto other = std::find_if(all.begin(), output, [&](const auto& one) { return one.second == output->second; });
    Check(other == output, "{}: {} goes to the same file: name another", output->first, other->first);
    for (const std::string& input : inputs) CheckNotRead(output->first, output->second, input);
  }
}

const std::string& Input(const std::string& path) {
  static bool noted = false;
  if (path == "-" && !std::exchange(noted, true) && isatty(STDIN_FILENO) == 1) Note("reading standard input");
  return path;
}

void SetQuiet(bool value) { quiet = value; }
bool Quiet() { return quiet; }

std::string InRow(std::string_view name) { return Printable(name, ""); }

void WriteNote(const std::string& line) {
  const auto hidden = HideProgress();
  std::fprintf(stderr, "%s\n", Printable(line, "\n\t").c_str());
}

}  // namespace headlight
