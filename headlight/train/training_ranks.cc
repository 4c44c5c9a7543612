#include "headlight/train/training_ranks.h"

#include <algorithm>
#include <new>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/generate/hypothesis.h"

namespace headlight {
namespace {

std::string TextOf(const Json* value) { return value == nullptr ? "none" : value->Line(); }

}  // namespace

void TrainingRanks::CheckSame(const Json& run, const Parameters& parameters) const {
  if (!several()) return;
  Json all = run;
  Hash64 hash;
  for (const Parameter& parameter : parameters.all())
    Dispatch(parameter.value.dtype(), [&]<typename T>(T) {
      hash.Update({reinterpret_cast<const char*>(parameter.value.data<T>()), parameter.value.span<T>().size_bytes()});
    });
  all.Set("initial_values", fmt::format("{:016x}", hash.value()));
  const std::vector<std::string> runs = GatherToAll(*ranks_, all.Line());
  const Json first = ParseJson(runs.front(), "rank 0's run");
  for (int rank = 1; rank < ranks_->size(); ++rank) {
    const Json other = ParseJson(runs[static_cast<std::size_t>(rank)], "a rank's run");
    for (const auto& [name, value] : *first.As<Json::Object>()) {
      const Json* const found = other.Find(name);
      Check(found != nullptr && *found == value,
            "{} has {} {}, and rank 0 has {}: all ranks need the same options, files and vocabulary",
            ranks_->Name(rank), name, TextOf(found), value.Line());
    }
  }
}

StepNews TrainingRanks::Agree(StepNews own, std::int64_t step) {
  if (!several()) return own;
  const auto size = static_cast<std::size_t>(ranks_->size());
  std::vector<StepNews> all(size, own);
  GatherSame(*ranks_, BytesOf(std::span(all)));
  busy_.resize(size);
  for (std::size_t rank = 0; rank < size; ++rank) {
    Check(all[rank].bits == all.front().bits,
          "{} has other numbers than rank 0 after step {}: their processors or libraries differ, or one is faulty",
          ranks_->Name(static_cast<int>(rank)), step);
    busy_[rank] += all[rank].busy_seconds;
    own.stop = own.stop || all[rank].stop;
  }
  own.seconds = all.front().seconds;
  own.save = all.front().save;
  return own;
}

std::optional<std::string> TrainingRanks::SlowRank() {
  if (!several() || busy_.empty()) return {};
  std::vector<double> sorted = busy_;
  std::ranges::sort(sorted);
  const double median = sorted[(sorted.size() - 1) / 2];  // the lower median
  const auto slowest = std::ranges::max_element(busy_);
  const double seconds = *slowest;
  const auto rank = static_cast<int>(slowest - busy_.begin());
  std::ranges::fill(busy_, 0);
  if (seconds < 1.5 * median || seconds < 0.1) return {};
  if (std::exchange(slow_, rank) == rank) return {};
  return fmt::format("{} is slow: its steps take {:.1f} times as long as the median rank's", ranks_->Name(rank),
                     seconds / std::max(1e-9, median));
}

void NameRankInErrors(const TrainingRanks& ranks, const std::function<void()>& body) {
  if (!ranks.several()) return body();
  const auto fail = [&](const std::string& message, ErrorCause cause) {
    const Ranks& all = *ranks.ranks();
    throw Error(fmt::format("{}, step {}: {}", all.Name(all.rank()), all.step, message), cause);
  };
  try {
    body();
  } catch (const Error& error) {
    fail(error.what(), error.cause());
  } catch (const std::bad_alloc&) {
    fail("there is not enough memory for this", ErrorCause::user);
  }
}

}  // namespace headlight
