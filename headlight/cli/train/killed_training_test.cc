#include "headlight/cli/train/killed_training_testing.h"

namespace headlight::killed_training_test {
namespace {

// Kills the training at every 29th file change. killed_training_slow_test.cc tests every change.
TEST(KilledTraining, ResumesAtSomeChangesOfFiles) { KillAtChanges(29); }

}  // namespace
}  // namespace headlight::killed_training_test
