// The models that a training has kept: the best, the last, and those of --average-last.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headlight {

struct TrainingMoment {
  std::int64_t step = 0;
  std::string name;    // "step 500", "step 700, the best"
  std::string folder;  // of the model
};

// Gives the best model of a training's folder, the last, and those that --average-last keeps, each as a model's folder.
// Some folders are temporary and are removed by the destructor.
class TrainingMoments {
 public:
  // Throws Error unless `folder` is that of a training that has saved a model.
  explicit TrainingMoments(const std::string& folder);
  TrainingMoments(const TrainingMoments&) = delete;
  TrainingMoments& operator=(const TrainingMoments&) = delete;

  const std::vector<TrainingMoment>& all() const { return moments_; }  // by step

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
