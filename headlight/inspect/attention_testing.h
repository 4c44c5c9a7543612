// Synthetic attention for tests, with valid shapes and rows that sum to 1.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "headlight/inspect/attention_record.h"

namespace headlight {

// Returns heads that each attend to one diagonal, more sharply for higher head indices.
inline AttentionMap SampleMap(AttentionKind kind, int layer, int heads, int queries, int keys) {
  AttentionMap map{kind, layer, heads, queries, keys, {}};
  for (int head = 0; head < heads; ++head) {
    for (int query = 0; query < queries; ++query) {
      std::vector<double> row(keys);
      double sum = 0;
      for (int key = 0; key < keys; ++key) {
        const double center = (query + 0.5) * keys / queries - 0.5 + (head % 3 - 1) + 0.7 * std::sin(query + layer);
        const double distance = (key - center) / (0.5 + 6.0 / (1 + head + layer));
        sum += row[key] = map.masked(query, key) ? 0 : std::exp(-distance * distance) + 0.002;
      }
      for (const double value : row) map.weights.push_back(static_cast<float>(value / sum));
    }
  }
  return map;
}

// Returns a record with all three attentions of `layers` layers.
inline AttentionRecord SampleRecord(std::vector<std::string> source, std::vector<std::string> target, int layers,
                                    int heads) {
  AttentionRecord record{"German to English", std::move(source), std::move(target), {}};
  const int sources = static_cast<int>(record.source_tokens.size());
  const int targets = static_cast<int>(record.target_tokens.size());
  for (int layer = 0; layer < layers; ++layer) {
    record.maps.push_back(SampleMap(AttentionKind::encoder_self, layer, heads, sources, sources));
  }
  for (int layer = 0; layer < layers; ++layer) {
    record.maps.push_back(SampleMap(AttentionKind::decoder_self, layer, heads, targets, targets));
  }
  for (int layer = 0; layer < layers; ++layer) {
    record.maps.push_back(SampleMap(AttentionKind::cross, layer, heads, targets, sources));
  }
  return record;
}

inline const std::vector<std::string> kGerman = {"▁Gestern", "▁hat",  "▁der", "▁kleine", "▁Hund", "▁die", "▁Straßen",
                                                 "bahn",     "▁über", "qu",   "ert",     "▁.",    "</s>"};
inline const std::vector<std::string> kEnglish = {"<s>",      "▁Yesterday", "▁the",  "▁little", "▁dog",
                                                  "▁crossed", "▁the",       "▁tram", "way",     "▁."};
inline const std::vector<std::string> kScripts = {"größer",   "مرحبا",   "بالعالم", "你好", "世界",
                                                  "שלום",     "नमस्ते",    "สวัสดี",    "🙂", "👩‍👩‍👧",
                                                  "\xE4\xBD", "a\u202Eb"};
// Texts that would break a page without escaping.
inline const std::vector<std::string> kHostile = {"</script>",       "<!--<script>", "<img src=x onerror=alert(1)>",
                                                  "&amp;",           "\"'`\\",       "{{script}}",
                                                  "]]>\u2028\u2029", "</title>"};

inline std::vector<std::string> ManyTokens(int count) {
  std::vector<std::string> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(kGerman[i % (kGerman.size() - 1)]);
  return tokens;
}

}  // namespace headlight
