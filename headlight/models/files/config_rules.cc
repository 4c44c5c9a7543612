#include "headlight/models/files/config_rules.h"

#include "headlight/base/error.h"

namespace headlight {

void CheckSize(const char* name, std::int64_t size) {
  Check(size >= 1 && size <= kMostOfASize, "{} must be from 1 to {}, not {}", name, kMostOfASize, size);
}

void CheckHeads(const char* name, std::int64_t heads, std::int64_t model) {
  CheckSize(name, heads);
  Check(model % heads == 0, "{} must divide the model dimension: {} does not divide {}", name, heads, model);
}

void CheckToken(std::int64_t id, std::int64_t vocabulary) {
  Check(id >= 0 && id < vocabulary, "a special token's id {} is outside the vocabulary of {}", id, vocabulary);
}

void CheckProbability(const char* name, double probability) {
  Check(probability >= 0 && probability < 1, "{} must be at least 0 and below 1, not {}", name, probability);
}

void CheckNormEpsilon(double epsilon) {
  Check(epsilon > 0 && epsilon < 1, "a norm's epsilon must be between 0 and 1, not {}", epsilon);
}

}  // namespace headlight
