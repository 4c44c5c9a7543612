// The layout of the drawing of one attention.
#pragma once

#include "headlight/inspect/attention_record.h"
#include "headlight/inspect/drawing/canvas.h"

namespace headlight {

/// A header above a grid of heads. A head's map has its query labels on the left and its key labels above.
struct AttentionLayout {
  int columns = 1, rows = 1;  // columns and rows of heads
  double cell = 0;            // the side of the square that is drawn for a weight
  double map_width = 0, map_height = 0;
  TextStyle label;
  int label_step = 1;    // every label_step-th token is labeled: 1 up to 80 tokens
  bool upwards = false;  // if true, key labels are rotated, because at least one is wider than its cell
  double query_labels = 0, key_labels = 0;  // the space for labels, left of a map and above it
  double width = 0, height = 0;             // size of the page

  Rectangle Map(int head) const;
  Rectangle Cell(int head, int query, int key) const;
};

AttentionLayout LayOutAttention(const AttentionRecord& record, const AttentionMap& map);

}  // namespace headlight
