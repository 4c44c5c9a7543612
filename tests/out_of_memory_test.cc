// Lets each allocation of a call fail once. The call must throw and leak nothing, and the library must remain usable.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <limits>
#include <new>

#include "headlight/autograd/tape.h"
#include "headlight/base/file.h"
#include "headlight/base/parallel.h"
#include "headlight/base/profile.h"
#include "headlight/base/storage.h"
#include "headlight/base/test_support.h"
#include "headlight/generate/decode.h"
#include "headlight/models/family.h"
#include "headlight/models/transformer.h"
#include "headlight/ops/linear.h"
#include "headlight/ops/projection_cross_entropy.h"
#include "headlight/train/optimizer.h"

namespace {
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
std::atomic<std::int64_t> until_failure = kNever, live_allocations = 0;
}  // namespace

void* operator new(std::size_t size) {
  if (until_failure.load(std::memory_order_relaxed) != kNever && until_failure.fetch_sub(1) == 1)
    throw std::bad_alloc();
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  ++live_allocations;
  return memory;
}
// This operator is also replaced, because a sanitizer's version would not match the operator delete below.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) --live_allocations;
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace headlight::out_of_memory_test {
namespace {

// Runs `action` until it succeeds. In each run, a later allocation fails: the 1st, the 2nd, the 3rd, ... After the
// first hundred, a growing number of allocations is skipped. If `leaks` is set, checks that a failed call keeps no
// memory, which requires one thread.
void FailEveryAllocation(const std::function<void()>& action, bool leaks) {
  // The first run allocates everything that is kept: tables, scratch memory of threads, the exception's memory.
  action();
  until_failure = 1;
  EXPECT_THROW(action(), std::bad_alloc);
  until_failure = kNever;
  std::int64_t failures = 0;
  for (std::int64_t nth = 1;; nth += 1 + nth / 100) {
    const std::int64_t in_use = GetStorageStatistics().bytes_in_use, live = live_allocations;
    bool failed = false;
    until_failure = nth;
    try {
      action();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    const bool reached = until_failure.exchange(kNever) <= 0;
    ASSERT_TRUE(failed || !reached || !leaks) << "allocation " << nth << " failed, and the call did not";
    if (leaks) {
      ASSERT_EQ(live_allocations, live) << "after allocation " << nth;
      ASSERT_EQ(GetStorageStatistics().bytes_in_use, in_use) << "after allocation " << nth;
    }
    if (!reached) break;
    ++failures;
  }
  EXPECT_GT(failures, 0);
  action();
}

// Runs the action with one thread, which makes the order of allocations deterministic, and with several threads.
void Sweep(const std::function<void()>& action) {
  const int before = Threads();
  for (const int threads : {1, 3}) {
    SetThreads(threads);
    FailEveryAllocation(action, threads == 1);
  }
  SetThreads(before);
}

TransformerConfig Tiny() {
  TransformerConfig config;
  config.model = 8;
  config.encoder_layers = config.decoder_layers = 1;
  config.encoder_heads = config.decoder_heads = 2;
  config.encoder_ffn = config.decoder_ffn = 12;
  config.source_vocabulary = config.target_vocabulary = 11;
  config.positions = 20;
  config.start_id = config.pad_id = 10;
  return config;
}

const std::vector<std::int32_t> source = {3, 4, 0, 5, 6, 7, 8, 0}, inputs = {10, 1, 2, 10, 9}, labels = {1, 2, 0, 9, 0};
const Sequences sources = {{0, 3}, {3, 5}}, targets = {{0, 3}, {3, 2}};

TEST(OutOfMemory, ParallelLoops) {
  Sweep([] { ParallelFor(64, [](std::int64_t index) { std::vector<std::int64_t> numbers(100, index); }); });
}

TEST(OutOfMemory, AnOperationAndItsGradient) {
  const Tensor x = Tensor::Zeros({300, 64}), w = Tensor::Zeros({128, 64}), dw = Tensor::Zeros({128, 64});
  const std::vector<std::int32_t> classes(300, 5);
  Sweep([&] {
    Tape tape;
    const Tensor y = ops::Linear(tape.Watch(x), ops::Weight{tape.Watch(w, dw)}, {}, Activation::gelu);
    tape.Backward(ops::ProjectionCrossEntropy(y, ops::Weight{Tensor::Zeros({9, 128})}, {}, classes, 0.1, 1));
  });
}

TEST(OutOfMemory, Profiles) {
  const Tensor x = Tensor::Zeros({3, 4}), w = Tensor::Zeros({2, 4});
  FailEveryAllocation(
      [&] {
        StartProfile();
        ops::Linear(x, ops::Weight{w});
        TakeProfile();
      },
      false);
}

TEST(OutOfMemory, ATrainingStep) {
  Transformer model(Tiny());
  model.parameters().Initialize(1);
  model.parameters().PrepareTraining();
  Optimizer optimizer({}, model.parameters());
  Sweep([&] {
    Tape tape;
    Context context;
    context.tape = &tape;
    context.training.emplace();
    const Memory memory{model.Encode(context, source, sources), sources};
    const Tensor hidden = model.Decode(context, inputs, targets, memory);
    tape.Backward(
        ops::ProjectionCrossEntropy(hidden, model.OutputWeight(context), model.OutputBias(context), labels, 0.1, 0.2));
    optimizer.Step(model.parameters(), 1e-3);
  });
}

TEST(OutOfMemory, Decoding) {
  Transformer model(Tiny());
  model.parameters().Initialize(1);
  Sweep([&] { Decode(model, source, sources, {.search = {.beam_size = 2}, .max_length = 6}); });
}

TEST(OutOfMemory, SavingAFolder) {
  const TemporaryFolder folder;
  Transformer model(Tiny());
  model.parameters().Initialize(1);
  FailEveryAllocation([&] { model.Save(folder.path()); }, true);
}

TEST(OutOfMemory, ReplacingAFolder) {
  const TemporaryFolder folder;
  const std::string target = folder.File("checkpoint");
  const auto fill = [](const std::string& fresh) { WriteFile(fresh + "/state.json", "{}"); };
  FailEveryAllocation([&] { ReplaceFolder(target, fill); }, true);
  EXPECT_EQ(ReadFile(target + "/state.json"), "{}");
}

TEST(OutOfMemory, LoadingAFolder) {
  const TemporaryFolder folder;
  Transformer model(Tiny());
  model.parameters().Initialize(1);
  model.Save(folder.path());
  Sweep([&] { LoadModel<Transformer>(folder.path()); });
}

}  // namespace
}  // namespace headlight::out_of_memory_test
