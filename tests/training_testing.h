// Helpers for tests of training.
#pragma once

#include <string>

#include "headlight/train/trainer.h"

namespace headlight {

// Trains a model, and returns the report of the last validation.
inline ValidationReport LastReport(const TrainingTask& task, const TrainingOptions& options,
                                   const std::string& checkpoint) {
  ValidationReport last;
  const TrainingObserver observer{.validation = [&](const ValidationReport& report) { last = report; }};
  Train(task, options, {.checkpoint = checkpoint, .run = Json::Object{}, .save_best = {}, .save_last = {}}, false,
        observer);
  return last;
}

}  // namespace headlight
