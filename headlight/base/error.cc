#include "headlight/base/error.h"

namespace headlight {

void ThrowError(Blame blame, fmt::string_view format, fmt::format_args args) {
  throw Error(fmt::vformat(format, args), blame);
}

}  // namespace headlight
