#pragma once

#include "headlight/base/error.h"
#include "headlight/base/export.h"

namespace headlight {

/// The exception that a canceled call throws.
class HEADLIGHT_API Cancelled : public Error {
 public:
  Cancelled() : Error("cancelled") {}
};

}  // namespace headlight
