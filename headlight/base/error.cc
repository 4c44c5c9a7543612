#include "headlight/base/error.h"

namespace headlight {

std::string Error::option() const {
  const std::string text = what();
  const std::size_t begin = text.find('`'), end = text.find('`', begin + 1);
  return begin == text.npos || end == text.npos ? "" : text.substr(begin + 1, end - begin - 1);
}

void ThrowError(ErrorCause cause, fmt::string_view format, fmt::format_args args) {
  throw Error(fmt::vformat(format, args), cause);
}

}  // namespace headlight
