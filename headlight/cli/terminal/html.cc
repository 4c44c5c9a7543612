#include "headlight/cli/terminal/html.h"

#include <fmt/format.h>

#include "headlight/image/decoding/encode.h"
#include "headlight/text/html.h"
#include "headlight/text/tokenizers/base64.h"

namespace headlight {

std::string GalleryPage(std::string_view title, std::string_view before, std::string_view figures) {
  return fmt::format(
      R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>{0}</title>
<style>
:root {{ --paper: #f5f6f8; --card: #ffffff; --ink: #1d2129; --muted: #626975; --rule: #d9dde3; color-scheme: light dark; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --paper: #12151a; --card: #1a1e25; --ink: #e6e9ee; --muted: #98a1ae; --rule: #313842; }}
}}
body {{
  margin: 0 auto; padding: 20px clamp(12px, 3vw, 36px) 48px; max-width: 1500px; background: var(--paper);
  color: var(--ink); font: 15px/1.45 system-ui, "Noto Sans", "DejaVu Sans", sans-serif;
}}
h1 {{ margin: 0 0 16px; font-size: 22px; font-weight: 650; overflow-wrap: anywhere; }}
main {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(44%, 180px), 1fr)); gap: 12px; }}
figure {{ margin: 0; padding: 8px; border: 1px solid var(--rule); border-radius: 10px; background: var(--card); }}
figure div {{ position: relative; }}
img {{ display: block; width: 100%; image-rendering: pixelated; }}
figcaption {{ margin-top: 6px; font-size: 13px; color: var(--muted); overflow-wrap: anywhere; }}
figcaption b {{ color: var(--ink); font-weight: 600; font-variant-numeric: tabular-nums; }}
.query {{ width: min(256px, 44%); margin-bottom: 16px; }}
i {{ position: absolute; border: 1px solid #f0f; font: 11px sans-serif; color: #fff; text-shadow: 0 0 3px #000, 0 0 2px #000; }}
</style>
</head>
<body>
<h1>{0}</h1>
{1}<main>
{2}</main>
</body>
</html>
)",
      EscapeHtml(title), before, figures);
}

std::string ImageSourceHtml(const Image& image) { return "data:image/png;base64," + EncodeBase64(EncodePng(image)); }

}  // namespace headlight
