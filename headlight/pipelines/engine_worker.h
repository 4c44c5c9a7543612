// The thread of an Engine: requests join its batch, which it runs pass by pass, and get what they were decoded to.
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

  // `encoder` encodes the sources of requests; null for a language model. The batch has at most `cached_tokens` of
  // them. The queue and the encoder must outlive the worker.
  EngineWorker(EngineQueue& queue, MakeBatch make_batch, const EncoderDecoder* encoder, std::int64_t cached_tokens);
  // Ends every request with Cancelled, and waits for the pass that is running.
  ~EngineWorker();
  EngineWorker(const EngineWorker&) = delete;

 private:
  // A sequence that joins the batch, or is in it.
  struct Entry {
    std::shared_ptr<EngineJob> job;
    std::size_t sequence = 0;
    std::int64_t source_tokens = 0;
  };

  void Work();
  // Waits for work and runs one pass. Returns false if the engine stops.
  bool Round();
  // Ends requests whose time is over. With the mutex locked.
  void EndLate();
  // The next sequences for which the batch has room. With the mutex locked.
  std::vector<Entry> Joining(std::int64_t in_batch);
  // Encodes the sources of the sequences, and takes these into the batch.
  void Join(const std::vector<Entry>& joining);
  // Ends the request with the exception that is being handled.
  void EndFailed(EngineJob& job);
  // Gives each sequence its source's states. Those with the source of the one before share them.
  void Encode(std::span<const Entry> joining);
  // Gives sequences of the source that was encoded last its states.
  void ShareEncoded(std::span<const Entry> same) const;
  // Encodes the common source of each group in one pass.
  void EncodeTogether(const std::vector<std::span<const Entry>>& sources);

  EngineQueue& queue_;
  const MakeBatch make_batch_;
  const EncoderDecoder* const encoder_;
  const std::int64_t cached_tokens_;
  std::unique_ptr<DecodingBatch> batch_;   // null after it has failed
  std::map<std::int64_t, Entry> entries_;  // by the batch's id
  struct {
    std::vector<std::int32_t> ids;
    Tensor states;
  } encoded_;  // the last source
  std::thread thread_;
};

}  // namespace headlight
