// Locks the folder of a training run for one process, and protects its files.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "headlight/base/ranks.h"
#include "headlight/base/scratch_folder.h"

namespace headlight {

/// Locks the folder of a training run. The lock is on training.json and ends with the process. With several ranks, the
/// first rank locks the folder, and each other rank uses a scratch folder.
class HEADLIGHT_API TrainingFolder {
 public:
  /// Creates the folder if needed. Removes the files of an earlier run that did not reach a checkpoint. Throws Error if
  /// the folder has other files, or if another process trains into it. Also throws Error if the folder has a checkpoint
  /// or a model, unless `resume` is true. On other ranks, `path` is replaced by a scratch folder with the first rank's
  /// tokenizer and checkpoint/state.json. `ranks` may be null.
  TrainingFolder(std::string& path, bool resume, Ranks* ranks);
  TrainingFolder(const TrainingFolder&) = delete;
  TrainingFolder& operator=(const TrainingFolder&) = delete;
  /// Removes the files of a run that failed, and the folder if the constructor created it.
  ~TrainingFolder();

  /// Calls fill() on the first rank to prepare files in the folder, and sends these files to all ranks.
  void Prepare(const std::function<void()>& fill) const;

 private:
  void Hold(bool resume);
  void ShareFiles() const;

  std::string path_;
  Ranks* ranks_;
  std::optional<ScratchFolder> scratch_;
  bool made_ = false;
  int lock_ = -1;
};

/// Throws Error if a training run uses this folder.
void CheckNotTraining(const std::string& path);

std::string CheckpointOf(const std::string& folder);

}  // namespace headlight
