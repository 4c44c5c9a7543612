#include "headlight/data/image_questions.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/data/images.h"
#include "headlight/data/lines.h"
#include "headlight/data/records.h"

namespace headlight {
namespace {

class Collector {
 public:
  explicit Collector(const TextShare& share) : share_(share) {}

  void Add(const std::string& table, const std::string& file, AnsweredQuestion question) {
    Check(!question.question.empty() && !question.answer.empty(), "{}: the {} is empty", question.location,
          question.question.empty() ? "question" : "answer");
    const std::string image = ImageOfTable(table, file, question.location);
    if (!share_.Has(file)) return;
    const auto [entry, first] = index_of_.emplace(image, read.images.size());
    if (first) read.images.push_back(image);
    question.image = entry->second;
    read.questions.push_back(std::move(question));
  }

  ImageQuestions read;

 private:
  const TextShare& share_;
  std::map<std::string, std::size_t> index_of_;
};

void AddTsv(const std::string& path, Collector& collector) {
  LineReader lines(path);
  while (const auto line = lines.Next()) {
    if (line->empty()) continue;
    std::string location = fmt::format("{}:{}", path, lines.line_number());
    const std::size_t first = line->find('\t'), second = line->find('\t', first + 1);
    Check(first != std::string_view::npos && second != std::string_view::npos && second == line->rfind('\t'),
          "{}: expected the path of an image, a question and its answer, with tabs between", location);
    collector.Add(path, std::string(line->substr(0, first)),
                  {.question = std::string(line->substr(first + 1, second - first - 1)),
                   .answer = std::string(line->substr(second + 1)),
                   .kind = "",
                   .location = std::move(location)});
  }
}

void AddRecords(const std::string& path, Records records, Collector& collector) {
  while (const auto record = records.Next())
    collector.Add(path, PathOfRecord(*record),
                  {.question = TextOf((*record)["question"]),
                   .answer = LabelOf((*record)["answer"]),
                   .kind = TextOf(record->Get("kind", "")),
                   .location = record->location()});
}

}  // namespace

BlindAnswers AnswerBlindly(const ImageQuestions& known, const ImageQuestions& asked) {
  using Counts = std::map<std::string_view, std::int64_t>;  // number of occurrences of each answer
  std::map<std::string_view, Counts> questions, kinds;
  Counts all;
  for (const AnsweredQuestion& one : known.questions) {
    ++questions[one.question][one.answer];
    ++kinds[one.kind][one.answer];
    ++all[one.answer];
  }
  const auto most = [](const Counts& counts) {
    const auto found = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
    return found == counts.end() ? std::string_view() : found->first;
  };
  const auto of = [&](const std::map<std::string_view, Counts>& groups, const std::string& name,
                      std::string_view otherwise) {
    const auto group = groups.find(name);
    return group == groups.end() ? otherwise : most(group->second);
  };
  BlindAnswers right;
  for (const AnsweredQuestion& one : asked.questions) {
    const std::string_view of_kind = of(kinds, one.kind, most(all));
    right.by_kind.push_back(of_kind == one.answer);
    right.by_question.push_back(of(questions, one.question, of_kind) == one.answer);
  }
  return right;
}

ImageQuestions ReadImageQuestions(const std::vector<std::string>& paths, const TextShare& share) {
  const auto is_header = [](const std::vector<std::string>& line) {
    return HasAny(line, kImageNames) && HasAny(line, {"question"}) && HasAny(line, {"answer"});
  };
  Collector collector(share);
  for (const std::string& path : paths) {
    Check(HasRecords(path) || IsTsv(path), "{}: questions about images must be in a .tsv, .csv or .jsonl file", path);
    if (std::optional<Records> records = RecordsOf(path, is_header))
      AddRecords(path, *std::move(records), collector);
    else
      AddTsv(path, collector);
  }
  return std::move(collector.read);
}

}  // namespace headlight
