// Parts of the HTML pages that commands write.
#pragma once

#include <string>
#include <string_view>

#include "headlight/image/image.h"

namespace headlight {

// A page of images in the style of inspect/page/look.css: several columns, also on a phone, in light and dark. `title`
// is plain text; `figures` is HTML of <figure> elements, with <img> and <figcaption>. The page contains its images, and
// the browser is told to load nothing else.
std::string GalleryPage(std::string_view title, std::string_view before, std::string_view figures);

// The source of an <img>: the image as a data URL.
std::string ImageSourceHtml(const Image& image);

}  // namespace headlight
