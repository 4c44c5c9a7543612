#include "headlight/recipes/training_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/train/checkpoint.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

std::string MarkOf(const std::string& folder) { return folder + "/training.json"; }

// Returns true if the folder has a checkpoint or a model.
bool HasBegun(const std::string& folder) {
  return HasCheckpoint(CheckpointOf(folder)) || fs::exists(folder + "/model.safetensors");
}

bool IsOfTokenizer(std::string_view name) {
  static constexpr std::array<std::string_view, 8> names = {
      "config.json",           "generation_config.json", "source.spm", "target.spm", "vocab.json", "tokenizer.json",
      "tokenizer_config.json", "special_tokens_map.json"};
  return std::ranges::find(names, name) != names.end();
}

// Returns true if a training run writes this file before its first checkpoint or model.
bool IsOfStart(std::string_view name) {
  return IsOfTokenizer(name) || name == "training.json" || name == "metrics.jsonl" || name == "corpus.cache" ||
         name.starts_with("events.out.tfevents.") || name.find(".headlight-new-") != std::string_view::npos;
}

void RemoveStart(const std::string& folder, bool with_mark) {
  std::error_code ignored;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
    if (entry.is_regular_file(ignored) && IsOfStart(entry.path().filename().string()) &&
        (with_mark || entry.path() != MarkOf(folder)))
      files.push_back(entry.path());
  for (const fs::path& file : files) fs::remove(file, ignored);
}

// Returns the process id of the training run in parentheses, or "" if it is unknown.
std::string ProcessOf(const std::string& folder) {
  try {
    return fmt::format(" (process {})", ReadJson(MarkOf(folder))["process"].Integer(1));
  } catch (const Error&) {
    return "";
  }
}

[[noreturn]] void FailRunning(const std::string& folder) {
  Fail("{}: another training{} is running in this folder; wait until it has ended, or give another `out`", folder,
       ProcessOf(folder));
}

// Throws Error if the folder has files that are not from a training run.
void CheckContent(const std::string& folder) {
  if (fs::is_empty(folder)) return;
  // An incomplete training.json of a killed process is also accepted.
  const bool training = std::ranges::any_of(fs::directory_iterator(folder), [](const fs::directory_entry& entry) {
    return entry.path().filename().string().starts_with("training.json");
  });
  Check(training, "{}: holds something other than a training, such as {}; give another `out`", folder,
        fs::directory_iterator(folder)->path().filename().string());
}

// Opens and locks the folder's training.json and writes this process's id. Returns the descriptor.
int Lock(const std::string& folder) {
  const std::string path = MarkOf(folder);
  for (;;) {
    const int lock = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    Check(lock >= 0, "{}: cannot write: {}", path, std::strerror(errno));
    const auto refuse_unless = [&](bool good) {
      const int error = errno;
      if (good) return;
      close(lock);
      Fail("{}: cannot write: {}", path, std::strerror(error));
    };
    if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) {
        close(lock);
        FailRunning(folder);
      }
      refuse_unless(errno == ENOLCK || errno == EOPNOTSUPP);  // allowed: a file system without locks
    }
    // A failed training run may have removed the file between the two calls.
    struct stat locked {
    }, there{};
    if (fstat(lock, &locked) == 0 && stat(path.c_str(), &there) == 0 && locked.st_ino == there.st_ino) {
      const std::string text =
          Json(Json::Object{{"headlight_training", 1}, {"process", std::int64_t{getpid()}}}).Text();
      refuse_unless(ftruncate(lock, 0) == 0 && write(lock, text.data(), text.size()) == std::ssize(text));
      return lock;
    }
    close(lock);
  }
}

}  // namespace

std::string CheckpointOf(const std::string& folder) { return folder + "/checkpoint"; }

TrainingFolder::TrainingFolder(std::string& path, bool resume, Ranks* ranks) : ranks_(ranks) {
  Check(!path.empty(), "`out`: a folder is needed");
  if (ranks_ != nullptr && ranks_->rank() > 0) {
    scratch_.emplace();
    path = scratch_->File("out");
    fs::create_directories(CheckpointOf(path));
  }
  path_ = path;
  if (!scratch_) Hold(resume);
  if (resume) ShareFiles();
}

void TrainingFolder::Hold(bool resume) {
  std::error_code error;
  if (fs::exists(path_, error)) {
    Check(fs::is_directory(path_), "{}: not a folder", path_);
    CheckContent(path_);
  } else {
    made_ = fs::create_directories(path_, error);
    Check(!error, "{}: cannot make the folder: {}", path_, error.message());
  }
  lock_ = Lock(path_);
  const bool begun = HasBegun(path_);
  if (!begun) RemoveStart(path_, /*with_mark=*/false);
  if (!begun || resume) return;
  close(lock_);
  Fail("{}: holds a training already; `resume` resumes it, another `out` starts a new one", path_);
}

void TrainingFolder::Prepare(const std::function<void()>& fill) const {
  if (!scratch_) fill();
  ShareFiles();
}

void TrainingFolder::ShareFiles() const {
  if (ranks_ == nullptr) return;
  std::string names;  // one per line
  std::error_code ignored;
  if (!scratch_) {
    if (HasCheckpoint(CheckpointOf(path_))) names += "checkpoint/state.json\n";
    for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
      const std::string name = entry.path().filename().string();
      if (entry.is_regular_file(ignored) && IsOfTokenizer(name)) names += name + "\n";
    }
  }
  names = Broadcast(*ranks_, names);
  for (std::size_t begin = 0, end = 0; (end = names.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string file = path_ + "/" + names.substr(begin, end - begin);
    const std::string text = Broadcast(*ranks_, scratch_ ? "" : ReadFile(file));
    if (scratch_) WriteFile(file, text);
  }
}

TrainingFolder::~TrainingFolder() {
  if (scratch_) return;
  std::error_code ignored;
  if (!HasBegun(path_)) {
    RemoveStart(path_, /*with_mark=*/true);
    if (made_) fs::remove(path_, ignored);  // remove() only removes an empty folder
  }
  close(lock_);
}

void CheckNotTraining(const std::string& path) {
  const int lock = open(MarkOf(path).c_str(), O_RDONLY | O_CLOEXEC);
  if (lock < 0) return;
  const bool running = flock(lock, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(lock);
  if (running) FailRunning(path);
}

}  // namespace headlight
