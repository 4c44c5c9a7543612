// Builds parts of the HTML pages that commands write.
#pragma once

#include <string>
#include <string_view>

#include "headlight/image/image.h"

namespace headlight {

// Returns an HTML page of images in the style of inspect/page/look.css. The page has several columns, and a light and a
// dark theme. `title` is plain text; `figures` is HTML of <figure> elements with <img> and <figcaption>. The page
// contains its images, and its security policy blocks all other resources.
std::string GalleryPage(std::string_view title, std::string_view before, std::string_view figures);

// Returns the `src` of an <img> with the image as a data URL.
std::string ImageSourceHtml(const Image& image);

}  // namespace headlight
