// Small artificial languages for end-to-end training tests, one per task. Answers depend only on distant words. Each
// language is written as a file for `headlight train`.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/random.h"

namespace headlight {

template <std::size_t n>
std::string_view Draw(const std::array<std::string_view, n>& words, Random& random) {
  return words[random.Below(n)];
}

inline constexpr std::array<std::string_view, 12> kAnimals = {"dog",  "cat",   "cow",  "duck",  "horse", "lion",
                                                              "frog", "sheep", "bird", "snake", "mouse", "wolf"};
inline constexpr std::array<std::string_view, 12> kVoices = {"barks",  "meows",  "moos",  "quacks", "neighs",  "roars",
                                                             "croaks", "bleats", "sings", "hisses", "squeaks", "howls"};

// Generates texts that give each animal its sound, such as "the dog , the cat and the frog were there : one barks , one
// meows and one croaks .".
inline std::string AnimalTexts(int texts, std::uint64_t seed) {
  Random random(seed);
  std::string file;
  for (int i = 0; i < texts; ++i) {
    const std::size_t a = random.Below(kAnimals.size()), b = random.Below(kAnimals.size()),
                      c = random.Below(kAnimals.size());
    file += fmt::format("the {} , the {} and the {} were there : one {} , one {} and one {} .\n", kAnimals[a],
                        kAnimals[b], kAnimals[c], kVoices[a], kVoices[b], kVoices[c]);
  }
  return file;
}

// Generates a CoNLL file with sentences such as "In spring Bel Dor , as Mir knows , laughs .". A name has one or two
// arbitrary words. Only the distant verb determines the kind of the name: a person, a location or a company. The other
// name is always a person.
inline std::string NameSentences(int sentences, std::uint64_t seed) {
  constexpr std::array<std::string_view, 10> begins = {"Bel", "Dor", "Mir", "Tan", "Vel",
                                                       "Kor", "Lun", "Sar", "Nim", "Gal"};
  constexpr std::array<std::string_view, 10> ends = {"a", "en", "ia", "os", "ur", "eth", "on", "is", "um", "or"};
  constexpr std::array<std::string_view, 4> seasons = {"spring", "summer", "autumn", "winter"};
  constexpr std::array<std::string_view, 3> kinds = {"PER", "LOC", "ORG"};
  constexpr std::array<std::array<std::string_view, 4>, 3> verbs = {{{"laughs", "sleeps", "sings", "reads"},
                                                                     {"freezes", "floods", "blooms", "borders"},
                                                                     {"hires", "merges", "sells", "invests"}}};
  Random random(seed);
  std::string file;
  const auto name = [&](std::string_view kind) {
    for (std::uint64_t words = 1 + random.Below(2), i = 0; i < words; ++i)
      file += fmt::format("{}{} {}-{}\n", Draw(begins, random), Draw(ends, random), i == 0 ? 'B' : 'I', kind);
  };
  const auto plain = [&](std::string_view word) { file += fmt::format("{} O\n", word); };
  for (int i = 0; i < sentences; ++i) {
    const std::size_t kind = random.Below(kinds.size());
    plain("In");
    plain(Draw(seasons, random));
    name(kinds[kind]);
    for (const char* word : {",", "as"}) plain(word);
    name("PER");
    for (const char* word : {"knows", "well", ","}) plain(word);
    plain(Draw(verbs[kind], random));
    plain(".");
    file += '\n';
  }
  return file;
}

// Generates lines of a text, a tab and a class, such as "I do not think that the film was bad .". Each negation inverts
// the opinion. The opinion of other people in the text does not count. All words are equally frequent in both classes.
inline std::string Reviews(int reviews, std::uint64_t seed) {
  constexpr std::array<std::string_view, 6> things = {"film", "book", "play", "song", "story", "music"};
  constexpr std::array<std::string_view, 6> good = {"good", "great", "lovely", "clever", "funny", "brilliant"};
  constexpr std::array<std::string_view, 6> bad = {"bad", "awful", "boring", "stupid", "weak", "terrible"};
  Random random(seed);
  std::string file;
  for (int i = 0; i < reviews; ++i) {
    bool praise = random.Below(2) == 0;
    const std::string_view word = Draw(praise ? good : bad, random);
    const bool outer = random.Below(2) == 0, inner = random.Below(2) == 0;
    if (outer) praise = !praise;
    if (inner) praise = !praise;
    const std::string mine = fmt::format("i {}think that the {} was {}{}", outer ? "do not " : "", Draw(things, random),
                                         inner ? "not " : "", word);
    const std::string others =
        fmt::format("others said that the {} was {}{}", Draw(things, random), random.Below(2) == 0 ? "not " : "",
                    Draw(random.Below(2) == 0 ? good : bad, random));
    const bool first = random.Below(2) == 0;
    file += fmt::format("{} , but {} .\t{}\n", first ? mine : others, first ? others : mine,
                        praise ? "positive" : "negative");
  }
  return file;
}

// Generates JSON lines with questions such as "Where is Anna ?" about "Anna went to the garden . Tom ran to the kitchen
// .". The answer is the person's last location. A person who is not in the story has none.
inline std::string Stories(int stories, std::uint64_t seed) {
  constexpr std::array<std::string_view, 5> people = {"Anna", "Tom", "Lea", "Ben", "Mia"};
  constexpr std::array<std::string_view, 8> places = {"garden", "kitchen", "office", "bathroom",
                                                      "school", "cellar",  "park",   "station"};
  constexpr std::array<std::string_view, 3> verbs = {"went", "ran", "walked"};
  Random random(seed);
  std::string file;
  for (int i = 0; i < stories; ++i) {
    std::string story;
    std::array<std::size_t, people.size()> last{};  // offset of each person's last location; 0: none
    std::array<std::string_view, people.size()> where;
    for (std::uint64_t events = 1 + random.Below(5); events > 0; --events) {
      const std::size_t person = random.Below(people.size());
      story += fmt::format("{}{} {} to the ", story.empty() ? "" : " ", people[person], Draw(verbs, random));
      last[person] = story.size();
      where[person] = Draw(places, random);
      story += fmt::format("{} .", where[person]);
    }
    // Most questions are about a person in the story.
    std::size_t person = random.Below(people.size());
    while (last[person] == 0 && random.Below(4) != 0) person = random.Below(people.size());
    file += fmt::format(R"({{"question": "Where is {} ?", "context": "{}", "answers": [)", people[person], story);
    if (last[person] > 0) file += fmt::format(R"({{"text": "{}", "start": {}}})", where[person], last[person]);
    file += "]}\n";
  }
  return file;
}

// Generates lines of a text, a tab and a summary by person, such as "At two Anna bought cups. At five Ben lost keys. At
// six Anna hid pears." and its summary "Anna bought cups and hid pears. Ben lost keys.". The text has three to five
// sentences about two people.
inline std::string DaysWithSummaries(int days, std::uint64_t seed) {
  constexpr std::array<std::string_view, 12> hours = {"one",   "two",   "three", "four", "five",   "six",
                                                      "seven", "eight", "nine",  "ten",  "eleven", "twelve"};
  constexpr std::array<std::string_view, 8> people = {"Anna", "Ben", "Clara", "David", "Ella", "Felix", "Ida", "Tom"};
  constexpr std::array<std::string_view, 8> verbs = {"bought", "sold", "found", "lost", "hid", "saw", "drew", "took"};
  constexpr std::array<std::string_view, 12> things = {"apples", "books",  "candles", "cards",  "cups",   "flowers",
                                                       "keys",   "lemons", "pears",   "shells", "spoons", "stamps"};
  Random random(seed);
  std::string file;
  for (int i = 0; i < days; ++i) {
    const std::size_t one = random.Below(people.size());
    const std::size_t other = (one + 1 + random.Below(people.size() - 1)) % people.size();
    std::vector<std::string_view> order;
    std::map<std::string_view, std::vector<std::string>> deeds;
    std::string told, summary;
    std::size_t hour = 0;
    for (std::uint64_t events = 3 + random.Below(3); events > 0; --events) {
      hour += random.Below(3);
      const std::string_view person = people[random.Below(2) == 0 ? one : other];
      if (!deeds.contains(person)) order.push_back(person);
      deeds[person].push_back(fmt::format("{} {}", Draw(verbs, random), Draw(things, random)));
      told += fmt::format("{}At {} {} {}.", told.empty() ? "" : " ", hours[hour], person, deeds[person].back());
    }
    for (const std::string_view person : order)
      summary += fmt::format("{}{} {}.", summary.empty() ? "" : " ", person, fmt::join(deeds[person], " and "));
    file += fmt::format("{}\t{}\n", told, summary);
  }
  return file;
}

// Generates texts such as "There were a dog, a cat, a cow and a frog. First the dog barks. Second the cat meows. Third
// the cow moos. Fourth the frog croaks.". A masked word can be inferred from another word, and the order of the
// sentences from their words.
inline std::string AnimalStories(int stories, std::uint64_t seed) {
  constexpr std::array<std::string_view, 4> which = {"First", "Second", "Third", "Fourth"};
  Random random(seed);
  std::string file;
  for (int i = 0; i < stories; ++i) {
    std::array<std::size_t, which.size()> animals;
    for (std::size_t& animal : animals) animal = random.Below(kAnimals.size());
    file += fmt::format("There were a {}, a {}, a {} and a {}.", kAnimals[animals[0]], kAnimals[animals[1]],
                        kAnimals[animals[2]], kAnimals[animals[3]]);
    for (std::size_t k = 0; k < which.size(); ++k)
      file += fmt::format(" {} the {} {}.", which[k], kAnimals[animals[k]], kVoices[animals[k]]);
    file += '\n';
  }
  return file;
}

}  // namespace headlight
