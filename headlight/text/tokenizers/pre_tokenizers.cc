#include "headlight/text/tokenizers/pre_tokenizers.h"

#include <array>
#include <string_view>

#include "headlight/text/characters.h"
#include "headlight/text/tokenizers/normalizers.h"

namespace headlight {
namespace {

// Calls cut(text, add) for each word, and replaces the word with the ranges that cut passes to add(begin, end).
template <typename Cut>
void CutWords(Words& words, const Cut& cut) {
  std::vector<TextSpan> pieces;
  pieces.reserve(words.words.size());
  for (const TextSpan word : words.words) {
    const std::string_view text = std::string_view(words.text.text).substr(word.begin, word.end - word.begin);
    cut(text, [&](std::size_t begin, std::size_t end) {
      if (begin == end) return;
      pieces.push_back({word.begin + static_cast<std::int32_t>(begin), word.begin + static_cast<std::int32_t>(end)});
    });
  }
  words.words = std::move(pieces);
}

// A match, or the text between two matches.
struct Part {
  TextSpan bytes;
  bool match;
};

// Combines matches and the text between them according to a Split's behavior. Removed parts have no bytes.
void Divide(const std::vector<Part>& parts, SplitBehavior behavior, std::vector<TextSpan>& divided) {
  divided.clear();
  bool before = false;  // true if the previous part was a match
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto [bytes, match] = parts[i];
    switch (behavior) {
      case SplitBehavior::removed:
        if (!match) divided.push_back(bytes);
        break;
      case SplitBehavior::isolated:
        divided.push_back(bytes);
        break;
      case SplitBehavior::contiguous:
        if (match == before && !divided.empty())
          divided.back().end = bytes.end;
        else
          divided.push_back(bytes);
        break;
      case SplitBehavior::merged_with_previous:
        if (match && !before && !divided.empty())
          divided.back().end = bytes.end;
        else
          divided.push_back(bytes);
        break;
      case SplitBehavior::merged_with_next:  // only the last of consecutive matches is merged
        if (i > 0 && before && !match)
          divided.back().end = bytes.end;
        else
          divided.push_back(bytes);
        break;
    }
    before = match;
  }
}

// Calls find(text, matches) for each word, and splits the word at these matches. `matches` is initially empty.
template <typename Find>
void SplitWords(Words& words, SplitBehavior behavior, bool invert, const Find& find) {
  std::vector<TextSpan> matches, divided;  // matches and resulting ranges of one word
  std::vector<Part> parts;
  CutWords(words, [&](std::string_view text, const auto& add) {
    parts.clear();
    std::int32_t done = 0;
    const auto size = static_cast<std::int32_t>(text.size());
    matches.clear();
    find(text, matches);
    for (const TextSpan match : matches) {
      if (done < match.begin) parts.push_back({{done, match.begin}, invert});
      parts.push_back({match, !invert});
      done = match.end;
    }
    if (done < size) parts.push_back({{done, size}, invert});
    Divide(parts, behavior, divided);
    for (const TextSpan part : divided) add(static_cast<std::size_t>(part.begin), static_cast<std::size_t>(part.end));
  });
}

// Appends `front` and a word to `to`. `front` has the origin of the word's first character.
void AddWord(const NormalizedText& word, std::string_view front, Words& to) {
  const std::int32_t begin = to.text.size();
  ForEachCharacter(front,
                   [&](char32_t character, std::size_t, std::size_t) { to.text.Append(character, word.origins[0]); });
  to.text.text += word.text;
  to.text.origins.insert(to.text.origins.end(), word.origins.begin(), word.origins.end());
  to.words.push_back({begin, to.text.size()});
}

// Returns the length in bytes of 's, 't, 're, 've, 'm, 'll or 'd at the beginning of `text`, or 0.
std::size_t ContractionAt(std::string_view text) {
  constexpr std::array<std::string_view, 7> contractions = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
  for (const std::string_view end : contractions)
    if (text.starts_with(end)) return end.size();
  return 0;
}

// A run of characters of one class. `last` is the offset of the last character.
struct Run {
  CharacterClass of;
  std::size_t last, end;
};

Run RunAt(std::string_view text, std::size_t begin) {
  Utf8Character character = DecodeUtf8(text.substr(begin));
  Run run{ClassOf(character.code), begin, begin + character.bytes};
  while (run.end < text.size()) {
    character = DecodeUtf8(text.substr(run.end));
    if (ClassOf(character.code) != run.of) break;
    run.last = run.end;
    run.end += character.bytes;
  }
  return run;
}

// Returns the end of the first word of a non-empty text by GPT-2's rules:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::size_t FirstWord(std::string_view text) {
  if (const std::size_t contraction = ContractionAt(text); contraction > 0) return contraction;
  if (text[0] == ' ' && text.size() > 1) {
    if (const Run run = RunAt(text, 1); run.of != CharacterClass::space) return run.end;
  }
  const Run run = RunAt(text, 0);
  // The last of several white space characters belongs to the next word.
  const bool leaves_last = run.of == CharacterClass::space && run.end < text.size() && run.last > 0;
  return leaves_last ? run.last : run.end;
}

}  // namespace

void SplitAtSpaces(Words& words) {
  CutWords(words, [](std::string_view text, const auto& add) {
    std::size_t word = 0;
    ForEachCharacter(text, [&](char32_t character, std::size_t begin, std::size_t end) {
      if (!IsWhiteSpace(character)) return;
      add(word, begin);
      word = end;
    });
    add(word, text.size());
  });
}

void SplitAtWords(Words& words) {
  enum class Kind { space, word, other };
  CutWords(words, [](std::string_view text, const auto& add) {
    std::size_t run = 0;
    Kind of_run = Kind::space;
    ForEachCharacter(text, [&](char32_t character, std::size_t begin, std::size_t) {
      const Kind kind = IsWhiteSpace(character) ? Kind::space : IsWordCharacter(character) ? Kind::word : Kind::other;
      if (kind == of_run) return;
      if (of_run != Kind::space) add(run, begin);
      run = begin;
      of_run = kind;
    });
    if (of_run != Kind::space) add(run, text.size());
  });
}

void SplitPunctuation::operator()(Words& words) const {
  SplitWords(words, behavior, false, [](std::string_view text, std::vector<TextSpan>& matches) {
    ForEachCharacter(text, [&](char32_t character, std::size_t begin, std::size_t end) {
      if (IsAsciiPunctuation(character) || (character >= 0x80 && IsPunctuation(character)))
        matches.push_back({static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end)});
    });
  });
}

void Split::operator()(Words& words) const {
  SplitWords(words, behavior, invert,
             [this](std::string_view text, std::vector<TextSpan>& matches) { matches = pattern.Matches(text); });
}

void Digits::operator()(Words& words) const {
  CutWords(words, [this](std::string_view text, const auto& add) {
    std::size_t word = 0;
    bool number = false;
    ForEachCharacter(text, [&](char32_t character, std::size_t begin, std::size_t) {
      const bool digit = ClassOf(character) == CharacterClass::number;
      if (digit != number || (digit && individual)) {
        add(word, begin);
        word = begin;
      }
      number = digit;
    });
    add(word, text.size());
  });
}

void Metaspace::operator()(Words& words) const {
  Words spaced;
  spaced.text = words.text.Fresh();
  spaced.words.reserve(words.words.size());
  spaced.text.text.reserve(2 * words.text.text.size());
  spaced.text.origins.reserve(2 * words.text.text.size());
  for (const TextSpan word : words.words) {
    const std::string_view text = std::string_view(words.text.text).substr(word.begin, word.end - word.begin);
    const std::int32_t begin = spaced.text.size();
    const auto add = [&](std::string_view bytes, TextSpan origin) {
      spaced.text.text += bytes;
      spaced.text.origins.resize(spaced.text.text.size(), origin);
    };
    const TextSpan first = words.text.origins[word.begin];
    const bool may = prepend == Prepend::always || (prepend == Prepend::first && first.begin == 0);
    if (may && text[0] != ' ' && !text.starts_with(replacement)) add(replacement, first);
    for (std::size_t at = 0; at < text.size(); ++at)
      add(text[at] == ' ' ? replacement : text.substr(at, 1), words.text.origins[word.begin + at]);
    spaced.words.push_back({begin, spaced.text.size()});
  }
  words = std::move(spaced);
  if (!split) return;
  CutWords(words, [&](std::string_view text, const auto& add) {
    std::size_t word = 0;
    for (std::size_t at = text.find(replacement, 1); at != std::string_view::npos;
         at = text.find(replacement, at + 1)) {
      add(word, at);
      word = at;
    }
    add(word, text.size());
  });
}

void ByteLevelPreTokenizer::operator()(Words& words) const {
  if (add_prefix_space) {
    Words spaced;
    spaced.text = words.text.Fresh();
    for (const TextSpan word : words.words) {
      const NormalizedText text = words.text.Part(word);
      AddWord(text, text.text.starts_with(' ') ? "" : " ", spaced);
    }
    words = std::move(spaced);
  }
  if (!use_regex) return;
  CutWords(words, [](std::string_view text, const auto& add) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = begin + FirstWord(text.substr(begin));
      add(begin, end);
      begin = end;
    }
  });
}

}  // namespace headlight
