// Signals, kept from code whose stack they would break.
#pragma once

#include <csignal>

namespace headlight {

// While one lives, the thread runs no signal handler; what arrives meanwhile runs afterwards, or on another thread.
// Signals that are faults of the running code itself are not held. May be nested, and only the outermost costs anything
// (two system calls).
class SignalsHeld {
 public:
  SignalsHeld();
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  bool outermost_;
  sigset_t before_;
};

}  // namespace headlight
