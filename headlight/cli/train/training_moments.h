// The models that a training has kept, at several moments of it.
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

// The best model of a training's folder, its last one, and the values of the validations that --average-last keeps,
// each as a model's folder; some are temporary, and vanish with this.
class TrainingMoments {
 public:
  // Throws Error where the folder holds no training that has saved a model.
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
