#include "headlight/cli/html.h"

#include "headlight/image/decoding/encode.h"
#include "headlight/text/tokenizers/base64.h"

namespace headlight {

std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '<' ? "&lt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return escaped;
}

std::string PictureSourceHtml(const Picture& picture) {
  return "data:image/png;base64," + EncodeBase64(EncodePng(picture));
}

}  // namespace headlight
