// Attention as a page for the browser.
//   WriteFile("attention.html", AttentionPage(translator.Attention("Ein Hund läuft.")));
#pragma once

#include <string>

#include "headlight/base/export.h"
#include "headlight/inspect/attention_record.h"

namespace headlight {

// One HTML file that shows every map of the record: choose attention, layer and head, and see the weights of a token.
// It is self-contained. Weights are kept in thousandths, two bytes each: 6 layers of 3 attentions, 8 heads and 30
// tokens make about 300 KB. Throws Error for a record that CheckAttention refuses.
HEADLIGHT_API std::string AttentionPage(const AttentionRecord& record);

}  // namespace headlight
