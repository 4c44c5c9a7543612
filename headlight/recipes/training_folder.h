// The folder of a training: one process trains into it, and nothing in it is lost.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "headlight/base/ranks.h"
#include "headlight/base/scratch_folder.h"

namespace headlight {

/// Holds a training's folder while it runs. The lock is on its training.json and ends with the process. Of several
/// ranks the first one holds the folder; each other one has a scratch folder instead.
class HEADLIGHT_API TrainingFolder {
 public:
  /// Makes the folder if there is none. Removes what an earlier start left before it had a checkpoint or a model.
  /// Throws Error if the folder holds something else, if another process trains into it, and, unless `resume`, if it
  /// has a checkpoint or a model. On the other ranks `path` becomes the scratch folder's, which has the first one's
  /// tokenizer and checkpoint/state.json. `ranks` may be null.
  TrainingFolder(std::string& path, bool resume, Ranks* ranks);
  TrainingFolder(const TrainingFolder&) = delete;
  TrainingFolder& operator=(const TrainingFolder&) = delete;
  /// Removes what a start that failed has left, and then the folder if this made it.
  ~TrainingFolder();

  /// Lets the first rank prepare files in the folder, and gives them to all ranks.
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

/// Throws Error if a process trains into this folder.
void CheckNotTraining(const std::string& path);

std::string CheckpointOf(const std::string& folder);

}  // namespace headlight
