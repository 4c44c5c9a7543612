// The folder of a training: one process trains into it, and nothing in it is lost.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "headlight/cli/scratch_folder.h"

namespace headlight {

// Holds a training's folder while it runs. The lock is on its training.json and ends with the process. Of several ranks
// the first one holds it; the others have scratch folders in its place.
class TrainingFolder {
 public:
  // Makes the folder where there is none. What an earlier start left before it had a checkpoint or a model is removed.
  // Throws Error where the folder holds something else, where another process trains into it, and, unless `resume`,
  // where it has a checkpoint or a model. On the other ranks `path` becomes the scratch folder's, which has the first
  // one's tokenizer and checkpoint/state.json.
  TrainingFolder(std::string& path, bool resume);
  TrainingFolder(const TrainingFolder&) = delete;
  TrainingFolder& operator=(const TrainingFolder&) = delete;
  // Removes what a start that failed has left, and then the folder if this made it.
  ~TrainingFolder();

  // Prepares files in the folder on the first rank, which all then have.
  void Prepare(const std::function<void()>& fill) const;

 private:
  void Hold(bool resume);
  void ShareFiles() const;

  std::string path_;
  std::optional<ScratchFolder> scratch_;
  bool made_ = false;
  int lock_ = -1;
};

// Throws Error where a process trains into this folder.
void CheckNotTraining(const std::string& path);

std::string CheckpointOf(const std::string& folder);

}  // namespace headlight
