// How `evaluate` prints the scores of classes, tags, answers and the like.
#pragma once

#include <cstddef>
#include <string>

#include "headlight/base/json.h"
#include "headlight/train/training_task.h"

namespace headlight {

struct Evaluated {
  const char* task;  // its name in JSON
  ValidationReport report;
  const char* units;  // "texts"; in JSON a key
  std::size_t count;
  const char* labels;      // what the loss is the mean over: "texts"
  std::string lines = {};  // what follows as text, and in JSON
  Json::Object members = {};
};

void WriteEvaluated(const Evaluated& evaluated, bool json);

// JSON knows no infinity.
Json NumberOrNull(double number);

}  // namespace headlight
