#include "headlight/base/signals.h"

#include <initializer_list>

namespace headlight {
namespace {

thread_local bool held = false;

}  // namespace

SignalsHeld::SignalsHeld() : outermost_(!held) {
  if (!outermost_) return;
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
  held = true;
}

SignalsHeld::~SignalsHeld() {
  if (!outermost_) return;
  held = false;
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace headlight
