// The main function of every test program. Like the headlight program, it applies HEADLIGHT_CPU. Tests can therefore
// also run with the instruction sets of older processors.
#include <gmock/gmock.h>

#include <cstdlib>
#include <iostream>

#include "headlight/kernels/cpu.h"

int main(int argc, char** argv) {
  const char* const limit = std::getenv("HEADLIGHT_CPU");
  if (limit != nullptr && !headlight::kernels::LimitCpu(limit)) {
    std::cerr << "HEADLIGHT_CPU may not be \"" << limit << "\"\n";
    return 2;
  }
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
