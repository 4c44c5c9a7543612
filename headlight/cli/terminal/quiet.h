// Stores whether --quiet is given.
#pragma once

namespace headlight {

// Sets quiet mode, in which the program prints only results and errors.
void SetQuiet(bool quiet);
bool Quiet();

}  // namespace headlight
