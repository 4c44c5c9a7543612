#include "headlight/cli/terminal/html.h"

#include <fmt/format.h>

#include "headlight/image/decoding/encode.h"
#include "headlight/text/html.h"
#include "headlight/text/tokenizers/base64.h"

namespace headlight {

std::string HtmlHead(std::string_view title, std::string_view style) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{}</title>\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src "
      "'unsafe-inline'\">\n"
      "<style>:root{{color-scheme:light dark}}{}</style>\n",
      EscapeHtml(title), style);
}

std::string ImageSourceHtml(const Image& image) { return "data:image/png;base64," + EncodeBase64(EncodePng(image)); }

}  // namespace headlight
