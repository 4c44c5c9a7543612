// Attention as an HTML page.
//   WriteFile("attention.html", AttentionPage(translator.Attention("Ein Hund läuft.")));
#pragma once

#include <optional>
#include <span>
#include <string>

#include "headlight/base/export.h"
#include "headlight/inspect/attention_record.h"

namespace headlight {

/// A self-contained HTML file that shows every map of the record, with controls to select an attention, a layer and a
/// head, and to see the weights of a token. A weight takes two bytes, and so does a run of weights near 0: 6 layers of
/// 3 attentions, 8 heads and 30 tokens take at most about 300 KB. Throws Error for a record that CheckAttention
/// refuses.
HEADLIGHT_API std::string AttentionPage(const AttentionRecord& record);

struct PageOptions {
  std::string title = {};
  int query = 0;  // the token whose attention over an image is initially selected
  std::optional<double> mass =
      {};               // if given, heads over an image initially show the cells with this share of the weight
  bool slider = false;  // the records are snapshots of a training run, in order; otherwise they are models
};

/// The same for several records, such as those of two models, or of snapshots of a training run, which are named by
/// their titles. The page can switch between them, and if their tokens are equal, show the difference of two.
HEADLIGHT_API std::string AttentionPage(std::span<const AttentionRecord> records, const PageOptions& options);

}  // namespace headlight
