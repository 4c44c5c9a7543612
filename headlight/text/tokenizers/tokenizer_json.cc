#include "headlight/text/tokenizers/tokenizer_json.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/parallel.h"

namespace headlight {

namespace {

constexpr std::int64_t kMostHoles = 1 << 20;  // unused ids, as in a vocabulary that is a subset of a larger one

}  // namespace

std::vector<std::string> PiecesById(const JsonView& vocabulary) {
  const Json::Object& given = vocabulary.Object();
  const std::int64_t most = std::min<std::int64_t>(std::ssize(given) + kMostHoles, kMostIds) - 1;
  std::vector<std::string> pieces;
  std::vector<bool> taken;
  for (const auto& [piece, id] : given) {
    const auto* number = id.As<std::int64_t>();
    if (number == nullptr || *number < 0 || *number > most)
      Fail("{}: the id of {} must be a number from 0 to {}, since there are {} pieces", vocabulary.location(),
           Quoted(piece), most, given.size());
    const auto index = static_cast<std::size_t>(*number);
    if (index >= pieces.size()) {
      pieces.resize(index + 1);
      taken.resize(index + 1);
    }
    if (taken[index])
      Fail("{}: {} and {} have the same id {}", vocabulary.location(), Quoted(pieces[index]), Quoted(piece), index);
    taken[index] = true;
    pieces[index] = piece;
  }
  return pieces;
}

void RefuseType(const JsonView& part, std::string_view type, std::string_view known) {
  Fail("{}: type {} is not supported; {} are", part.location(), Quoted(type), known);
}

Json ReplaceJson(const char* kind, std::string_view pattern, std::string_view content) {
  return Json::Object{{"content", content}, {"pattern", Json::Object{{kind, pattern}}}, {"type", "Replace"}};
}

Json MergesJson(const std::vector<SentencePiece>& pieces) {
  std::vector<const SentencePiece*> ordered;
  WordTable normal;
  for (const SentencePiece& piece : pieces) {
    if (piece.type != SentencePiece::Type::normal) continue;
    ordered.push_back(&piece);
    normal.Insert(piece.text, 0);
  }
  std::ranges::stable_sort(ordered, std::greater<>(), &SentencePiece::score);
  std::vector<std::vector<std::size_t>> ends(ordered.size());  // offsets that split a piece into two pieces
  constexpr std::size_t chunk = 1024;
  ParallelFor(static_cast<std::int64_t>((ordered.size() + chunk - 1) / chunk), [&](std::int64_t index) {
    const std::size_t begin = static_cast<std::size_t>(index) * chunk;
    for (std::size_t i = begin; i < std::min(begin + chunk, ordered.size()); ++i) {
      const std::string_view text = ordered[i]->text;
      for (std::size_t end = 1; end < text.size(); ++end)
        if (normal.Find(text.substr(0, end)) >= 0 && normal.Find(text.substr(end)) >= 0) ends[i].push_back(end);
    }
  });
  Json::Array merges;
  for (std::size_t i = 0; i < ordered.size(); ++i)
    for (const std::size_t end : ends[i]) {
      const std::string_view text = ordered[i]->text;
      merges.emplace_back(std::vector{text.substr(0, end), text.substr(end)});
    }
  return merges;
}

Json SequenceJson(const char* name, std::vector<Json> steps) {
  std::erase_if(steps, [](const Json& step) { return step.is_null(); });
  return Json::Object{{name, std::move(steps)}, {"type", "Sequence"}};
}

Json TemplateProcessorJson(const std::vector<std::string>& single, const std::vector<std::string>& pair,
                           int second_type, const std::function<std::uint64_t(const std::string& token)>& id_of) {
  Json special = Json::Object{};
  const auto parts_of = [&](const std::vector<std::string>& names) {
    Json::Array parts;
    int type = 0;
    for (const std::string& name : names) {
      if (name == "$B") type = second_type;
      const bool text = name == "$A" || name == "$B";
      parts.push_back(Json::Object{
          {text ? "Sequence" : "SpecialToken", Json::Object{{"id", text ? name.substr(1) : name}, {"type_id", type}}}});
      if (!text)
        special.Set(name, Json::Object{{"id", name}, {"ids", std::vector{id_of(name)}}, {"tokens", std::vector{name}}});
    }
    return parts;
  };
  Json processor = Json::Object{};
  processor.Set("pair", parts_of(pair));
  processor.Set("single", parts_of(single));
  processor.Set("special_tokens", std::move(special));
  processor.Set("type", "TemplateProcessing");
  return processor;
}

}  // namespace headlight
