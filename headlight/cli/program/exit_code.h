// Ends a command with an exit code that is part of its result.
#pragma once

namespace headlight {

// Thrown by a command after it has written its results. The program then ends with this exit code, without a message.
struct EndedWith {
  int exit_code = 0;
};

}  // namespace headlight
