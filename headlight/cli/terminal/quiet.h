// The state of --quiet.
#pragma once

namespace headlight {

// When quiet, the program prints only results and errors.
void SetQuiet(bool quiet);
bool Quiet();

}  // namespace headlight
