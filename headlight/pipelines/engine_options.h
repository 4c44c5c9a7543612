// The options of an Engine, and the requests that it accepts.
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

/// Thrown by Engine::Submit if the queue has no space for the request. A server responds with HTTP status 503 or 429.
class HEADLIGHT_API QueueFull : public Error {
 public:
  using Error::Error;
};

struct EngineOptions {
  std::int64_t max_waiting = 1024;  ///< the maximum number of waiting requests
  /// The maximum total size in bytes of texts and tokens in waiting requests.
  std::int64_t max_waiting_bytes = std::int64_t{1} << 26;
  /// The maximum number of sequences in the batch. A request has one sequence for each of its samples, and for each
  /// part of a text that is split.
  std::int64_t max_running = 64;
  /// The maximum number of tokens in the cache, and of source tokens. A request that may need more is rejected with an
  /// Error. 0 selects 16384, or the model's positions if there are more.
  std::int64_t cached_tokens = 0;
};

/// A prompt to be continued.
struct TextRequest {
  std::string prompt = {};
  std::vector<std::int32_t> ids = {};  ///< if not empty, the prompt's tokens, instead of `prompt`
  /// The same options as for TextGenerator::Generate. `batch_tokens` has no effect, and setting `cancelled` is an
  /// error. `on_text` is called by Ticket::Wait.
  GenerateOptions options = {};
  std::optional<std::chrono::milliseconds> timeout = {};  ///< maximum time from Submit to the result; above 0
};

/// A text to be translated or summarized.
struct TranslationRequest {
  std::string text = {};
  /// If not empty, these ids are the encoder's input, and `text` is ignored. The ids have the format of
  /// Translator::SourceIds. They include the prefix and the source language, and are not split.
  std::vector<std::int32_t> ids = {};
  TranslateOptions options =
      {};  ///< the options of Translator::TranslateBatch; `batch_tokens` and `cancelled` are as in TextRequest
  std::optional<std::chrono::milliseconds> timeout = {};
};

}  // namespace headlight
