#include "headlight/cli/terminal/quiet.h"

namespace headlight {
namespace {

bool quiet = false;

}  // namespace

void SetQuiet(bool value) { quiet = value; }
bool Quiet() { return quiet; }

}  // namespace headlight
