// The options of an Engine: its limits and its requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/export.h"
#include "headlight/pipelines/text_generator.h"
#include "headlight/pipelines/translator.h"

namespace headlight {

/// Thrown by Engine::Submit if the queue has no space for the request now. A server answers 503 or 429.
class HEADLIGHT_API QueueFull : public Error {
 public:
  using Error::Error;
};

struct EngineOptions {
  std::int64_t max_waiting = 1024;                         ///< number of waiting requests, at most
  std::int64_t max_waiting_bytes = std::int64_t{1} << 26;  ///< bytes of their texts and tokens, at most
  /// Sequences in the batch, at most. A request has one sequence for each of its samples, and for each part of a text
  /// that is translated in parts.
  std::int64_t max_running = 64;
  /// Tokens in the cache, and tokens of sources, at most. A request that may need more by itself is an error. 0: 16384,
  /// or the model's positions if they are more.
  std::int64_t cached_tokens = 0;
};

/// A prompt to be continued.
struct TextRequest {
  std::string prompt = {};
  std::vector<std::int32_t> ids = {};  ///< if not empty, the prompt's tokens, instead of `prompt`
  /// As for TextGenerator::Generate. `batch_tokens` has no effect, and `cancelled` is refused. `on_text` is called by
  /// Ticket::Wait.
  GenerateOptions options = {};
  std::optional<std::chrono::milliseconds> timeout = {};  ///< from Submit to the result; above 0
};

/// A text to be translated or summarized.
struct TranslationRequest {
  std::string text = {};
  /// If not empty, the encoder's input as returned by Translator::SourceIds, used instead of `text`. It includes the
  /// prefix and the source language, and is not split.
  std::vector<std::int32_t> ids = {};
  TranslateOptions options = {};  ///< as in TextRequest, for Translator::TranslateBatch
  std::optional<std::chrono::milliseconds> timeout = {};
};

}  // namespace headlight
