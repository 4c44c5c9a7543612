// The thread of an Engine, which adds requests to the batch, runs decoding steps, and completes the requests.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "headlight/generate/decoding_batch.h"
#include "headlight/kinds/encoder_decoder.h"
#include "headlight/pipelines/engine_queue.h"

namespace headlight {

class EngineWorker {
 public:
  using MakeBatch = std::function<std::unique_ptr<DecodingBatch>()>;

  /// `encoder` encodes the sources of requests, and is null for a language model. The batch has at most `cached_tokens`
  /// source tokens. The queue and the encoder must outlive the worker.
  EngineWorker(EngineQueue& queue, MakeBatch make_batch, const EncoderDecoder* encoder, std::int64_t cached_tokens);
  /// Ends every request with Cancelled, and waits for the current forward pass.
  ~EngineWorker();
  EngineWorker(const EngineWorker&) = delete;

 private:
  // A sequence that is in the batch or about to join it.
  struct Entry {
    std::shared_ptr<EngineJob> job;
    std::size_t sequence = 0;
    std::int64_t source_tokens = 0;
  };

  void Work();
  // Waits for work and runs one decoding step. Returns false if the engine stops.
  bool Round();
  // Ends requests that have timed out. The mutex must be locked.
  void EndLate();
  // Returns the next sequences that fit in the batch. The mutex must be locked.
  std::vector<Entry> Joining(std::int64_t in_batch);
  // Encodes the sources of the sequences, and adds the sequences to the batch.
  void Join(const std::vector<Entry>& joining);
  // Ends the request with the current exception.
  void EndFailed(EngineJob& job);
  // Sets the encoder states of each sequence. Consecutive sequences with the same source use the same states.
  void Encode(std::span<const Entry> joining);
  // Sets the encoder states of sequences whose source is the last encoded source.
  void ShareEncoded(std::span<const Entry> same) const;
  // Encodes the common source of each group. One forward pass encodes all sources.
  void EncodeTogether(const std::vector<std::span<const Entry>>& sources);

  EngineQueue& queue_;
  const MakeBatch make_batch_;
  const EncoderDecoder* const encoder_;
  const std::int64_t cached_tokens_;
  std::unique_ptr<DecodingBatch> batch_;   // null after it has failed
  std::map<std::int64_t, Entry> entries_;  // by id in the batch
  struct {
    std::vector<std::int32_t> ids;
    Tensor states;
  } encoded_;  // the last encoded source
  std::thread thread_;
};

}  // namespace headlight
