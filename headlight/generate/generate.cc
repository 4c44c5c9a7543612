#include "headlight/generate/generate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headlight/base/random.h"
#include "headlight/generate/batched.h"
#include "headlight/generate/beam_search.h"
#include "headlight/generate/draft.h"
#include "headlight/generate/next_words.h"
#include "headlight/nn/decoder_cache.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/embedding.h"

namespace headlight {
namespace {

// A prompt that is being continued.
struct Search : BeamSearch {
  std::size_t prompt = 0;
  std::int32_t min_length = 0;  // tokens to choose before which the end is not a candidate
  Random random{0};
};

class Generation {
 public:
  Generation(const LanguageModel& model, const std::vector<std::vector<std::int32_t>>& prompts,
             const GenerationOptions& options)
      : model_(model), prompts_(prompts), options_(options) {
    rules_ = {options.beam_size, options.length_penalty, options.end_ids, options.stopping};
    const LanguageModel::Limits& limits = model.limits();
    Check(model.outputs() > 0, "{}: this model has no head that predicts the next token", model.parameters().source());
    Check(options.beam_size >= 1 && options.beam_size <= 1024, "beam_size must be from 1 to 1024, not {}",
          options.beam_size);
    Check(options.n_best >= 1 && options.n_best <= options.beam_size, "n_best must be from 1 to beam_size, {}, not {}",
          options.beam_size, options.n_best);
    Check(std::isfinite(options.length_penalty), "length_penalty must be a finite number, not {}",
          options.length_penalty);
    CheckRules(RulesOf(options), model.outputs());
    Check(options.max_new_tokens >= 1, "max_new_tokens must be at least 1, not {}", options.max_new_tokens);
    Check(options.min_new_tokens >= 0 && options.min_new_tokens <= options.max_new_tokens,
          "min_new_tokens must be from 0 to max_new_tokens, {}, not {}", options.max_new_tokens,
          options.min_new_tokens);
    Check(!options.on_token || options.beam_size == 1, "on_token is for a beam_size of 1: no token of a beam is final");
    for (const std::int32_t end : options.end_ids)
      Check(end >= 0 && end < model.outputs(), "an end's id {} is outside the vocabulary of {}", end, model.outputs());
    Check(std::isfinite(options.guidance) && options.guidance >= 0, "guidance must be a number from 0, not {}",
          options.guidance);
    Check(!guided() || std::ssize(options.unguided) <= limits.positions,
          "guidance {} needs an unguided prompt of at most {} tokens, which has {}", options.guidance, limits.positions,
          options.unguided.size());
    Check(options.max_length >= 0, "max_length must be at least 0, not {}", options.max_length);
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      Check(options.max_length == 0 || std::ssize(prompts[i]) < options.max_length,
            "prompt {} has {} tokens, which leaves no room in a max_length of {}", i + 1, prompts[i].size(),
            options.max_length);
      Check(!prompts[i].empty() && static_cast<std::int64_t>(prompts[i].size()) <= limits.positions,
            "a prompt must have from 1 to {} tokens; prompt {} has {}", limits.positions, i + 1, prompts[i].size());
    }
  }

  std::vector<std::vector<Hypothesis>> Run() const {
    std::vector<std::size_t> lengths;
    for (const std::vector<std::int32_t>& prompt : prompts_) lengths.push_back(prompt.size());
    std::vector<std::vector<Hypothesis>> results(prompts_.size());
    ForEachBatch(lengths, options_.batch_tokens, [&](auto batch) { RunBatch(batch, results); });
    for (auto& hypotheses : results) hypotheses.resize(std::min(hypotheses.size(), std::size_t(options_.n_best)));
    return results;
  }

 private:
  bool guided() const { return options_.guidance != 1; }

  void RunBatch(std::span<const std::size_t> batch, std::vector<std::vector<Hypothesis>>& results) const {
    std::vector<Search> searches;
    std::vector<std::int32_t> ids, lengths, last_rows;
    const auto read = [&](const std::vector<std::int32_t>& prompt) {
      ids.insert(ids.end(), prompt.begin(), prompt.end());
      lengths.push_back(static_cast<std::int32_t>(prompt.size()));
      last_rows.push_back(static_cast<std::int32_t>(ids.size()) - 1);
    };
    for (const std::size_t index : batch) {
      const std::vector<std::int32_t>& prompt = prompts_[index];
      Search& search = searches.emplace_back();
      search.prompt = index;
      search.random = Random(options_.seed, options_.first_stream + index);
      // The last token needs no position: it is not read.
      const std::int64_t length = std::ssize(prompt);
      std::int64_t most = std::min<std::int64_t>(
          options_.max_new_tokens,
          model_.limits().positions - std::max(length, guided() ? std::ssize(options_.unguided) : 0) + 1);
      if (options_.max_length > 0) most = std::min(most, options_.max_length - length);
      search.max_length = static_cast<std::int32_t>(most);
      search.min_length =
          static_cast<std::int32_t>(std::max<std::int64_t>(options_.min_new_tokens, options_.min_length - length));
      read(prompt);
    }
    if (guided())
      for (const std::size_t index : batch)
        read(options_.unguided.empty() ? std::vector{prompts_[index].back()} : options_.unguided);
    Context context;
    DecoderCache cache;
    context.cache = &cache;
    Cancel();
    Tensor hidden = Guided(ops::Embedding(model_.Decode(context, ids, PackedSequences(lengths)), last_rows));
    const bool may_draft =
        !guided() && model_.parameters().have_draft() && options_.beam_size == 1 && RulesOf(options_).plain();
    for (std::int32_t length = 1;;) {
      Cancel();
      if (may_draft && length > 1 && searches.size() == 1) {
        length += DraftedStep(context, searches.front(), length);
      } else {
        if (length > 1) hidden = ReadLastWords(context, searches);
        Step(context, hidden, searches, length++);
      }
      for (Search& search : searches)
        if (search.done) results[search.prompt] = std::move(search.finished);
      std::erase_if(searches, [](const Search& search) { return search.done; });
      if (searches.empty()) return;
    }
  }

  Tensor ReadLastWords(Context& context, std::span<const Search> searches) const {
    std::vector<std::int32_t> last_words;
    for (int times = 0; times < (guided() ? 2 : 1); ++times)
      for (const Search& search : searches)
        for (const Beam& beam : search.beams) last_words.push_back(beam.ids.back());
    const std::vector<std::int32_t> ones(last_words.size(), 1);
    return Guided(model_.Decode(context, last_words, PackedSequences(ones)));
  }

  // From the states after all beams, and then after the same beams behind the unguided prompt, those of the guided
  // logits, which are linear in the state.
  Tensor Guided(const Tensor& hidden) const {
    if (!guided()) return hidden;
    const std::int64_t beams = hidden.rows() / 2;
    return ops::Add(ops::Scale(hidden.ViewRows(0, beams), options_.guidance),
                    ops::Scale(hidden.ViewRows(beams, beams), 1 - options_.guidance));
  }

  // A beam whose `length`-th token comes next.
  Unfinished TextOf(Search& search, const Beam& beam, std::int32_t length) const {
    const std::vector<std::int32_t>& prompt = prompts_[search.prompt];
    Unfinished text{.prompt = prompt, .ids = beam.ids, .never = {}, .ends = options_.end_ids, .source = prompt};
    if (length <= search.min_length) text.never = options_.end_ids;
    text.given = text.begin = std::ssize(prompt);
    text.random = &search.random;
    return text;
  }

  // Extends every running beam by its `length`-th token.
  void Step(Context& context, const Tensor& hidden, std::vector<Search>& searches, std::int32_t length) const {
    std::vector<Unfinished> texts;
    for (Search& search : searches)
      for (const Beam& beam : search.beams) texts.push_back(TextOf(search, beam, length));
    const kernels::TopLogits<float> likeliest =
        NextWords(model_, context, hidden, texts, RulesOf(options_), length, rules_.candidates());

    std::vector<std::int32_t> continued;  // which of the cache's hypotheses each new beam continues
    std::int64_t row = 0;
    for (Search& search : searches) {
      const auto rows = static_cast<std::int64_t>(search.beams.size());
      std::vector<std::size_t> from = Advance(search, likeliest, row, length, rules_);
      if (options_.on_token) Tell(search, length, from);
      for (const std::size_t beam : from)
        continued.push_back(static_cast<std::int32_t>(row + static_cast<std::int64_t>(beam)));
      row += rows;
    }
    if (guided()) {
      const std::size_t count = continued.size();
      for (std::size_t i = 0; i < count; ++i) continued.push_back(continued[i] + static_cast<std::int32_t>(row));
    }
    context.cache->Select(continued);
  }

  // Extends the only text left by its `length`-th token and the accepted drafts after it; returns how many.
  std::int32_t DraftedStep(Context& context, Search& search, std::int32_t length) const {
    const auto read = [&](std::span<const std::int32_t> words) {
      const Tensor hidden = model_.Decode(context, words, {{0, static_cast<std::int32_t>(words.size())}});
      const std::vector<Unfinished> texts(words.size(), TextOf(search, search.beams.front(), length));
      return NextWords(model_, context, hidden, texts, RulesOf(options_), length, rules_.candidates());
    };
    const auto written = [&](std::int32_t its_length, std::vector<std::size_t>& from) {
      if (options_.on_token) Tell(search, its_length, from);
    };
    return WriteDrafted(context, search, length, UntilRulesChange(search, length, search.min_length), rules_, read,
                        written);
  }

  // Reports the search's newest token, unless it was the end, and ends the text where on_token returns false.
  void Tell(Search& search, std::int32_t length, std::vector<std::size_t>& from) const {
    const std::vector<std::int32_t>& ids = search.done ? search.finished.front().ids : search.beams.front().ids;
    if (ids.size() < static_cast<std::size_t>(length) || options_.on_token(search.prompt, ids.back())) return;
    if (!search.done) {
      const Beam& beam = search.beams.front();
      search.finished.push_back(
          {beam.ids, beam.log_probability, rules_.Score(beam.log_probability, length), /*ended=*/true});
    }
    search.finished.front().ended = true;
    search.done = true;
    from.clear();
  }

  void Cancel() const {
    if (options_.cancelled && options_.cancelled()) throw Cancelled();
  }

  const LanguageModel& model_;
  const std::vector<std::vector<std::int32_t>>& prompts_;
  const GenerationOptions& options_;
  BeamRules rules_;
};

}  // namespace

std::vector<std::vector<Hypothesis>> Generate(const LanguageModel& model,
                                              const std::vector<std::vector<std::int32_t>>& prompts,
                                              const GenerationOptions& options) {
  return Generation(model, prompts, options).Run();
}

std::vector<double> TokenLogProbabilities(const LanguageModel& model, std::span<const std::int32_t> ids,
                                          const Sequences& texts) {
  std::vector<double> results(ids.size());
  std::vector<std::int32_t> before;  // the rows that a next id of their text follows
  for (const Sequence& text : texts)
    for (std::int32_t row = text.begin; row + 1 < text.end(); ++row) before.push_back(row);
  Context context;
  const Tensor hidden = model.Decode(context, ids, texts);
  const auto at_once = static_cast<std::size_t>(LogitRowsAtOnce(model.outputs()));
  for (std::size_t begin = 0; begin < before.size(); begin += at_once) {
    const auto rows = std::span(before).subspan(begin, std::min(at_once, before.size() - begin));
    const Tensor scores_of_words = model.Logits(context, ops::Embedding(hidden, rows));
    const Matrix<float> logits = scores_of_words.matrix<float>();
    kernels::TopLogits<float> sums(logits.rows, 1);
    kernels::AddColumns<float>(logits, 0, {}, sums);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto next = static_cast<std::size_t>(rows[i]) + 1;
      Check(ids[next] < logits.columns, "token {}: {} only begins a text, and has no probability", next, ids[next]);
      results[next] = logits.row(static_cast<std::int64_t>(i))[ids[next]] - sums.max[i] -
                      std::log(static_cast<double>(sums.sum[i]));
      if (!std::isfinite(sums.sum[i])) model.parameters().FailNotFinite(fmt::format("scoring token {}", next));
    }
  }
  return results;
}

}  // namespace headlight
