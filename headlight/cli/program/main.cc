// headlight: trains, runs and inspects Transformers.
#include "headlight/cli/program/program.h"

int main(int argc, char** argv) { headlight::RunAndExit({argv + 1, argv + argc}); }
