#pragma once

#include "headlight/base/error.h"
#include "headlight/base/export.h"

namespace headlight {

/// Thrown by a cancelled call.
class HEADLIGHT_API Cancelled : public Error {
 public:
  Cancelled() : Error("cancelled") {}
};

}  // namespace headlight
