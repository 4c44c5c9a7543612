#include "headlight/pipelines/engine_worker.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <system_error>
#include <utility>

#include "headlight/base/blocked_signals.h"
#include "headlight/base/cancelled.h"
#include "headlight/base/sequences.h"
#include "headlight/pipelines/ticket.h"

namespace headlight {

namespace {

// The maximum number of source tokens to encode between two decoding steps, unless one source is longer. This limits
// the delay of running requests.
constexpr std::int64_t kSourceTokens = 512;

}  // namespace

EngineWorker::EngineWorker(EngineQueue& queue, MakeBatch make_batch, const EncoderDecoder* encoder,
                           std::int64_t cached_tokens)
    : queue_(queue),
      make_batch_(std::move(make_batch)),
      encoder_(encoder),
      cached_tokens_(cached_tokens),
      batch_(make_batch_()) {
  const BlockedSignals blocked;
  try {
    thread_ = std::thread([this] { Work(); });
  } catch (const std::system_error& error) {
    Fail("the engine's thread cannot be started: {}", error.what());
  }
}

EngineWorker::~EngineWorker() {
  {
    const std::lock_guard lock(queue_.mutex);
    queue_.stopping = true;
    for (const auto& job : queue_.running) queue_.End(*job, std::make_exception_ptr(Cancelled()));
    while (!queue_.waiting.empty()) {
      const std::shared_ptr<EngineJob> job = queue_.waiting.front();
      queue_.End(*job, std::make_exception_ptr(Cancelled()));
    }
    queue_.work.notify_all();
  }
  thread_.join();
}

void EngineWorker::Work() {
  for (bool goes_on = true; goes_on;) {
    try {
      goes_on = Round();
    } catch (...) {  // for example for lack of memory: all requests in the batch end with this error
      const std::lock_guard lock(queue_.mutex);
      for (const auto& job : queue_.running) queue_.End(*job, std::current_exception());
      queue_.running.clear();
      queue_.cached_tokens = 0;
      entries_.clear();
      encoded_ = {};
      batch_.reset();
    }
  }
}

bool EngineWorker::Round() {
  std::vector<std::int64_t> left;  // batch ids of ended requests
  std::vector<Entry> joining;
  {
    std::unique_lock lock(queue_.mutex);
    queue_.work.wait(lock, [&] { return queue_.stopping || !queue_.waiting.empty() || !queue_.running.empty(); });
    if (queue_.stopping) return false;
    EndLate();
    for (const auto& [id, entry] : entries_)
      if (entry.job->ended) left.push_back(id);
    joining = Joining(std::ssize(entries_) - std::ssize(left));
    std::erase_if(queue_.running, [](const auto& job) { return job->ended; });
  }
  if (batch_ == nullptr) batch_ = make_batch_();
  for (const std::int64_t id : left) {
    batch_->Remove(id);
    entries_.erase(id);
  }
  Join(joining);
  const std::int64_t before = batch_->tokens();
  std::vector<Decoded> decoded = batch_->Step();

  const std::lock_guard lock(queue_.mutex);
  queue_.generated_tokens += batch_->tokens() - before;
  queue_.cached_tokens = batch_->cached_tokens();
  for (Decoded& text : decoded) {
    const Entry entry = std::move(entries_.extract(text.id).mapped());
    EngineJob& job = *entry.job;
    if (job.ended) continue;
    job.found[entry.sequence] = std::move(text.hypotheses);
    if (text.error != nullptr || ++job.decoded == job.sequences.size()) queue_.End(job, text.error);
  }
  return true;
}

void EngineWorker::EndLate() {
  const auto now = EngineClock::now();
  const auto end = [&](const std::shared_ptr<EngineJob>& job) {
    if (!job->deadline || now < *job->deadline) return false;
    queue_.End(*job, std::make_exception_ptr(TimedOut()));
    return true;
  };
  for (const auto& job : queue_.running) end(job);
  for (std::size_t i = 0; i < queue_.waiting.size();)
    if (const std::shared_ptr<EngineJob> job = queue_.waiting[i]; !end(job)) ++i;
}

std::vector<EngineWorker::Entry> EngineWorker::Joining(std::int64_t in_batch) {
  std::int64_t sources = 0, tokens = 0;  // source tokens in the batch and in the joining sequences
  for (const auto& [id, entry] : entries_)
    if (!entry.job->ended) sources += entry.source_tokens;
  std::vector<Entry> joining;
  while (in_batch < queue_.options.max_running) {
    const bool begins = queue_.running.empty() || queue_.running.back()->ended ||
                        queue_.running.back()->next == queue_.running.back()->sequences.size();
    if (begins && queue_.waiting.empty()) break;
    const std::shared_ptr<EngineJob> job = begins ? queue_.waiting.front() : queue_.running.back();
    const std::int64_t source = std::ssize(job->sequences[job->next].source);
    if (in_batch > 0 && sources + source > cached_tokens_) break;
    if (!joining.empty() && tokens + source > kSourceTokens) break;
    joining.push_back({job, job->next, source});
    if (begins) {
      queue_.running.push_back(job);
      queue_.waiting.pop_front();
      queue_.waiting_bytes -= job->bytes;
    }
    ++job->next;
    ++in_batch;
    sources += source;
    tokens += source;
  }
  return joining;
}

void EngineWorker::Join(const std::vector<Entry>& joining) {
  if (encoder_ != nullptr) Encode(joining);
  for (const Entry& entry : joining) {
    DecodingRequest& request = entry.job->sequences[entry.sequence];
    if (encoder_ != nullptr && request.memory.empty()) continue;  // the encoding of the source failed
    try {
      entries_.emplace(batch_->Add(std::move(request)), entry);
    } catch (const Error&) {
      EndFailed(*entry.job);
    }
  }
}

void EngineWorker::EndFailed(EngineJob& job) {
  const std::lock_guard lock(queue_.mutex);
  queue_.End(job, std::current_exception());
}

void EngineWorker::Encode(std::span<const Entry> joining) {
  std::vector<std::span<const Entry>> sources;
  for (std::size_t begin = 0, end; begin < joining.size(); begin = end) {
    const auto source = [&](std::size_t i) -> const std::vector<std::int32_t>& {
      return joining[i].job->sequences[joining[i].sequence].source;
    };
    for (end = begin + 1; end < joining.size() && source(end) == source(begin); ++end) continue;
    const auto same = joining.subspan(begin, end - begin);
    if (encoded_.ids == source(begin))
      ShareEncoded(same);
    else
      sources.push_back(same);
  }
  try {
    EncodeTogether(sources);
  } catch (const Error&) {
    for (const std::span<const Entry> same : sources) try {
        EncodeTogether({same});
      } catch (const Error&) {
        for (const Entry& entry : same) EndFailed(*entry.job);
      }
  }
}

void EngineWorker::ShareEncoded(std::span<const Entry> same) const {
  for (const Entry& entry : same) entry.job->sequences[entry.sequence].memory = encoded_.states;
}

void EngineWorker::EncodeTogether(const std::vector<std::span<const Entry>>& sources) {
  if (sources.empty()) return;
  std::vector<std::int32_t> ids, lengths;
  const auto source = [](std::span<const Entry> same) -> const std::vector<std::int32_t>& {
    return same.front().job->sequences[same.front().sequence].source;
  };
  for (const std::span<const Entry> same : sources) {
    ids.insert(ids.end(), source(same).begin(), source(same).end());
    lengths.push_back(static_cast<std::int32_t>(source(same).size()));
  }
  Context context;
  const Tensor states = encoder_->Encode(context, ids, PackedSequences(lengths));
  std::int64_t row = 0;
  for (const std::span<const Entry> same : sources) {
    const std::int64_t rows = std::ssize(source(same));
    encoded_ = {source(same),
                states.ViewRows(row, rows).Clone()};  // a copy, so that the states of other sources are freed
    ShareEncoded(same);
    row += rows;
  }
}

}  // namespace headlight
