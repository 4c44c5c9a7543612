// Parts of the pages that commands write.
#pragma once

#include <string>
#include <string_view>

#include "headlight/image/image.h"

namespace headlight {

// The beginning of a page, up to its contents. The page can load nothing: what it shows is within it.
std::string HtmlHead(std::string_view title, std::string_view style);

// The source of an <img>: the image itself.
std::string ImageSourceHtml(const Image& image);

}  // namespace headlight
