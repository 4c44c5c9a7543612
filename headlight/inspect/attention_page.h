// Attention as a page for the browser.
//   WriteFile("attention.html", AttentionPage(translator.Attention("Ein Hund läuft.")));
#pragma once

#include <optional>
#include <span>
#include <string>

#include "headlight/base/export.h"
#include "headlight/inspect/attention_record.h"

namespace headlight {

// One HTML file that shows every map of the record: choose attention, layer and head, and see the weights of a token.
// It is self-contained. A weight takes two bytes, and a run of weights near 0 takes two: 6 layers of 3 attentions, 8
// heads and 30 tokens make at most about 300 KB. Throws Error for a record that CheckAttention refuses.
HEADLIGHT_API std::string AttentionPage(const AttentionRecord& record);

struct PageOptions {
  std::string title = {};
  int query = 0;                    // the token whose attention over an image is shown first
  std::optional<double> mass = {};  // where given, an image's heads are shown first as the cells of this share
  bool slider = false;              // the records are moments of a training, in order; else they are models
};

// The same for several records, such as those of two models, or of one at several moments of its training: their titles
// are their names. A reader moves between them, and where their tokens are the same sees the difference of two.
HEADLIGHT_API std::string AttentionPage(std::span<const AttentionRecord> records, const PageOptions& options);

}  // namespace headlight
