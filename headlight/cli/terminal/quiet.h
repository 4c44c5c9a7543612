// Stores whether --quiet is given.
#pragma once

namespace headlight {

// If quiet, the program prints only results and errors.
void SetQuiet(bool quiet);
bool Quiet();

}  // namespace headlight
