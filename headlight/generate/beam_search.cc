#include "headlight/generate/beam_search.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace headlight {
namespace {

// A beam of the text, extended by one token.
struct Candidate {
  std::size_t beam = 0;
  std::int32_t token = 0;
  float score = 0;  // log-probability of the token
  double log_probability = 0;
};

// Returns the `count` most probable extensions of the search's beams, without banned tokens.
std::vector<Candidate> BestCandidates(const BeamSearch& search, const kernels::TopLogits<float>& likeliest,
                                      std::span<const std::vector<std::int32_t>> banned, std::int64_t first,
                                      std::size_t count) {
  std::vector<Candidate> candidates;
  for (std::size_t beam = 0; beam < search.beams.size(); ++beam) {
    const auto k = static_cast<std::size_t>(likeliest.k);
    const std::size_t row = static_cast<std::size_t>(first) + beam;
    const auto is_banned = [&](std::int32_t token) {
      return !banned.empty() && std::ranges::find(banned[row], token) != banned[row].end();
    };
    for (std::size_t i = row * k; i < (row + 1) * k; ++i)
      if (!std::isinf(likeliest.values[i]) && !is_banned(likeliest.columns[i]))
        candidates.push_back({beam, likeliest.columns[i], likeliest.values[i],
                              search.beams[beam].log_probability + likeliest.values[i]});
  }
  count = std::min(count, candidates.size());
  std::ranges::partial_sort(
      candidates, candidates.begin() + static_cast<std::ptrdiff_t>(count), [](const Candidate& a, const Candidate& b) {
        return std::tuple(-a.log_probability, a.beam, a.token) < std::tuple(-b.log_probability, b.beam, b.token);
      });
  candidates.resize(count);
  return candidates;
}

// The outcome for a candidate: the search continues it, or finishes it for one of three reasons.
enum class BeamAction { goes_on, ends, stops, is_cut };

BeamAction FateOf(const BeamSearch& search, const Candidate& candidate, std::int32_t length,
                  const SearchOptions& options) {
  if (std::ranges::find(options.end_ids, candidate.token) != options.end_ids.end()) return BeamAction::ends;
  if (options.stops) {
    const std::vector<std::int32_t>& written = search.beams[candidate.beam].ids;
    std::vector<std::int32_t> ids(search.prompt_ids.begin(), search.prompt_ids.end());
    ids.insert(ids.end(), written.begin(), written.end());
    ids.push_back(candidate.token);
    if ((*options.stops)(ids)) return BeamAction::stops;
  }
  return length == search.max_length ? BeamAction::is_cut : BeamAction::goes_on;
}

void Finish(BeamSearch& search, const Candidate& candidate, BeamAction fate, std::int32_t length,
            const SearchOptions& options) {
  const Beam& beam = search.beams[candidate.beam];
  Hypothesis hypothesis{beam.ids,
                        candidate.log_probability,
                        ScoreOf(options, candidate.log_probability, length),
                        fate != BeamAction::is_cut,
                        beam.attention,
                        beam.token_scores,
                        fate == BeamAction::ends ? candidate.token : -1};
  if (fate != BeamAction::ends) hypothesis.ids.push_back(candidate.token);
  if (options.token_scores) hypothesis.token_scores.push_back(candidate.score);
  const auto place =
      std::ranges::upper_bound(search.finished, hypothesis.score, std::ranges::greater{}, &Hypothesis::score);
  search.finished.insert(place, std::move(hypothesis));
  if (search.finished.size() > static_cast<std::size_t>(options.beam_size)) search.finished.pop_back();
}

}  // namespace

double ScoreOf(const SearchOptions& options, double log_probability, std::int32_t length) {
  return log_probability / std::pow(static_cast<double>(length), options.length_penalty);
}

std::int64_t CandidatesOf(const SearchOptions& options) {
  return options.beam_size == 1 ? 1 : std::max(std::int64_t{2}, 1 + std::ssize(options.end_ids)) * options.beam_size;
}

std::vector<std::size_t> Advance(BeamSearch& search, const kernels::TopLogits<float>& likeliest, std::int64_t first,
                                 std::int32_t length, const SearchOptions& options,
                                 std::span<const std::vector<std::int32_t>> banned) {
  const auto beam_size = static_cast<std::size_t>(options.beam_size);
  const bool last = length == search.max_length;
  const std::vector<Candidate> candidates =
      BestCandidates(search, likeliest, banned, first, static_cast<std::size_t>(CandidatesOf(options)));
  if (candidates.empty()) {  // all allowed tokens have probability 0
    const Beam& best = search.beams.front();
    if (search.finished.empty())
      search.finished.push_back({best.ids, best.log_probability, ScoreOf(options, best.log_probability, length), false,
                                 best.attention, best.token_scores});
    search.done = true;
    return {};
  }
  std::vector<Beam> beams;
  std::vector<std::size_t> from;
  for (std::size_t rank = 0; rank < candidates.size(); ++rank) {
    const Candidate& candidate = candidates[rank];
    const BeamAction fate = FateOf(search, candidate, length, options);
    if (fate != BeamAction::goes_on) {
      // As in Transformers, a finished candidate is kept only if it is among the beam_size best candidates.
      if (rank < beam_size) Finish(search, candidate, fate, length, options);
    } else if (beams.size() < beam_size) {
      const Beam& beam = search.beams[candidate.beam];
      beams.push_back({beam.ids, candidate.log_probability, beam.attention, beam.token_scores});
      beams.back().ids.push_back(candidate.token);
      if (options.token_scores) beams.back().token_scores.push_back(candidate.score);
      from.push_back(candidate.beam);
    }
  }
  search.beams = std::move(beams);
  const bool full = search.finished.size() == beam_size;
  const std::int32_t possible =
      options.stopping == Stopping::never && options.length_penalty > 0 ? search.max_length : length;
  search.done =
      last || search.beams.empty() ||
      (full && (options.stopping == Stopping::at_once ||
                ScoreOf(options, search.beams.front().log_probability, possible) <= search.finished.back().score));
  if (search.done) from.clear();
  return from;
}

}  // namespace headlight
