// Ends a command whose exit code is a part of its result.
#pragma once

namespace headlight {

// Thrown by a command after its results. The program ends with this code, without a message.
struct EndedWith {
  int exit_code = 0;
};

}  // namespace headlight
