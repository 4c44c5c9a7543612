// Provides the models that a training run has kept: the best model, the last model, and the snapshots of
// --average-last.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headlight {

struct TrainingMoment {
  std::int64_t step = 0;
  std::string name;    // such as "step 500" or "step 700, the best"
  std::string folder;  // folder of the model
};

// Provides the best model, the last model and the snapshots of --average-last as model folders. Some folders are
// temporary, and the destructor removes them.
class TrainingMoments {
 public:
  // Throws Error unless `folder` contains a training run that has saved a model.
  explicit TrainingMoments(const std::string& folder);
  TrainingMoments(const TrainingMoments&) = delete;
  TrainingMoments& operator=(const TrainingMoments&) = delete;

  const std::vector<TrainingMoment>& all() const { return moments_; }  // sorted by step

 private:
  struct Temporary {
    Temporary();
    ~Temporary();
    std::string path;
  };
  Temporary temporary_;
  std::vector<TrainingMoment> moments_;
};

}  // namespace headlight
