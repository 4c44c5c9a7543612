#include "headlight/cli/train/killed_training_testing.h"

namespace headlight::killed_training_slow_test {
namespace {

TEST(KilledTraining, ResumesAtEachChangeOfAFile) { KillAtChanges(1); }

}  // namespace
}  // namespace headlight::killed_training_slow_test
