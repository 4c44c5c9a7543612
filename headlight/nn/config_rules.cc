#include "headlight/nn/config_rules.h"

#include "headlight/base/error.h"

namespace headlight {

void CheckSize(const char* name, std::int64_t size) {
  Check(size >= 1 && size <= kMostOfASize, "{} must be from 1 to {}, not {}", name, kMostOfASize, size);
}

void CheckHeads(std::int64_t heads, std::int64_t model) {
  CheckSize("the number of heads", heads);
  Check(model % heads == 0, "the number of heads must divide the model dimension: {} does not divide {}", heads, model);
}

void CheckProbability(const char* name, double probability) {
  Check(probability >= 0 && probability < 1, "{} must be at least 0 and below 1, not {}", name, probability);
}

void CheckNormEpsilon(double epsilon) {
  Check(epsilon > 0 && epsilon < 1, "a norm's epsilon must be between 0 and 1, not {}", epsilon);
}

}  // namespace headlight
