// Writes attention as an HTML page.
//   WriteFile("attention.html", AttentionPage(translator.Attention("Ein Hund läuft.")));
#pragma once

#include <optional>
#include <span>
#include <string>

#include "headlight/base/export.h"
#include "headlight/inspect/attention_record.h"

namespace headlight {

/// Returns a self-contained HTML file that shows every map of the record. Controls select an attention, a layer, a
/// head, and a token whose weights are shown. A weight takes two bytes, and so does a run of weights near 0. Throws the
/// same errors as CheckAttention.
HEADLIGHT_API std::string AttentionPage(const AttentionRecord& record);

struct PageOptions {
  std::string title = {};
  int query = 0;                    ///< the token whose attention over an image is initially selected
  std::optional<double> mass = {};  ///< if given, each head initially shows the cells with this fraction of its weight
  bool slider = false;  ///< true if the records are snapshots of a training run, in order; false if they are models
};

/// Returns a page for several records, such as records of two models or training snapshots. The records are named by
/// their titles. The page can switch between them, and can show the difference of two records with equal tokens.
HEADLIGHT_API std::string AttentionPage(std::span<const AttentionRecord> records, const PageOptions& options);

}  // namespace headlight
