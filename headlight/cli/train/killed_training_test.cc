#include "headlight/cli/train/killed_training_testing.h"

namespace headlight::killed_training_test {
namespace {

// killed_training_slow_test.cc tests every change.
TEST(KilledTraining, ResumesAtSomeChangesOfFiles) { KillAtChanges(29); }

}  // namespace
}  // namespace headlight::killed_training_test
