// What every family asks of its hyperparameters. Each throws Error naming the one and the rule.
#pragma once

#include <cstdint>

namespace headlight {

inline constexpr std::int64_t kMostOfASize = 1 << 24;

void CheckSize(const char* name, std::int64_t size);                        // from 1 to kMostOfASize
void CheckHeads(const char* name, std::int64_t heads, std::int64_t model);  // heads of equal width
void CheckToken(std::int64_t id, std::int64_t vocabulary);                  // a special token's id is a word's
void CheckProbability(const char* name, double probability);                // at least 0 and below 1
void CheckNormEpsilon(double epsilon);                                      // between 0 and 1

}  // namespace headlight
