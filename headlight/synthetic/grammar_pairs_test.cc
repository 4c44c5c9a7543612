// Compares the German and English sentences of syntax trees with hand-checked pairs, grouped by phenomenon.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "headlight/synthetic/grammar_sampler.h"

namespace headlight::grammar_pairs_test {
namespace {

using enum Determiner;
using Mood = Sentence::Mood;

template <typename Entry>
const Entry& Find(std::span<const Entry> table, std::string_view german) {
  return *std::ranges::find(table, german, &Entry::german);
}
const Noun& FindNoun(std::string_view german) { return Find(Nouns(), german); }
const Adjective& FindAdjective(std::string_view german) { return Find(Adjectives(), german); }
const Adverb& FindAdverb(std::string_view german) { return Find(TimeAdverbs(), german); }

NounPhrase Np(Determiner determiner, std::string_view noun, std::string_view adjective = "") {
  return {.head = NounPhrase::Head::noun,
          .noun = &FindNoun(noun),
          .determiner = determiner,
          .adjective = adjective.empty() ? nullptr : &FindAdjective(adjective)};
}
NounPhrase The(std::string_view noun, std::string_view adjective = "") { return Np(definite, noun, adjective); }
NounPhrase A(std::string_view noun, std::string_view adjective = "") { return Np(indefinite, noun, adjective); }
NounPhrase Plural(NounPhrase phrase) {
  phrase.plural = true;
  return phrase;
}
NounPhrase Of(const Agreement& who, NounPhrase phrase) {
  phrase.determiner = possessive;
  phrase.possessor = who;
  return phrase;
}
NounPhrase Of(const NounPhrase& owner, NounPhrase phrase) {
  phrase.determiner = of;
  phrase.owner = std::make_shared<NounPhrase>(owner);
  return phrase;
}
NounPhrase With(NounPhrase phrase, Clause relative) {
  NounPhrase& gap = relative.front == Front::subject  ? relative.subject
                    : relative.front == Front::object ? *relative.object
                    : relative.front == Front::place  ? relative.place->phrase
                                                      : relative.companion->phrase;
  gap = {.head = NounPhrase::Head::relative, .agreement = AgreementOf(phrase)};
  phrase.relative = std::make_shared<Clause>(std::move(relative));
  return phrase;
}
NounPhrase Called(std::string_view name) {
  for (const ProperNoun& entry : PersonNames())
    if (entry.german == name) return {.head = NounPhrase::Head::name, .name = &entry};
  return {};
}
const NounPhrase who_asked{.head = NounPhrase::Head::question};
const NounPhrase what_asked{.head = NounPhrase::Head::question, .agreement = {.human = false}};
const NounPhrase it{.agreement = {.human = false}};

PrepositionPhrase In(NounPhrase noun) { return {"in", "in", Case::dative, noun}; }
PrepositionPhrase Into(NounPhrase noun) { return {"in", "into", Case::accusative, noun}; }

void Expect(const Sentence& sentence, std::string_view german, std::string_view english) {
  EXPECT_EQ(ToGerman(sentence), german);
  EXPECT_EQ(ToEnglish(sentence), english);
}
void Says(const Clause& clause, std::string_view german, std::string_view english) {
  Expect({.main = clause}, german, english);
}
void Asks(const Clause& clause, std::string_view german, std::string_view english) {
  Expect({.mood = Mood::yes_no, .main = clause}, german, english);
}
void AsksWh(const Clause& clause, std::string_view german, std::string_view english) {
  Expect({.mood = Mood::wh, .main = clause}, german, english);
}
const Verb* V(std::string_view german) { return &FindVerb(german); }
const Adverb* Adv(std::string_view german) { return &FindAdverb(german); }

TEST(GrammarPairs, GendersAndCases) {
  Says({.subject = The("Hund"), .verb = V("fressen"), .object = The("Apfel")}, "Der Hund frisst den Apfel.",
       "The dog eats the apple.");
  Says({.subject = The("Frau"), .verb = V("trinken"), .object = The("Milch")}, "Die Frau trinkt die Milch.",
       "The woman drinks the milk.");
  Says({.subject = The("Kind"), .verb = V("lesen"), .object = The("Buch")}, "Das Kind liest das Buch.",
       "The child reads the book.");
  Says({.subject = A("Löwe"), .verb = V("jagen"), .object = A("Affe")}, "Ein Löwe jagt einen Affen.",
       "A lion chases a monkey.");
  Says({.subject = Pronoun(ich), .verb = V("helfen"), .object = The("Junge")}, "Ich helfe dem Jungen.",
       "I help the boy.");
  Says({.subject = Pronoun(wir), .verb = V("helfen"), .object = Plural(The("Kind"))}, "Wir helfen den Kindern.",
       "We help the children.");
  Says({.subject = The("Vater"), .verb = V("geben"), .recipient = The("Mädchen"), .object = A("Ei")},
       "Der Vater gibt dem Mädchen ein Ei.", "The father gives the girl an egg.");
  Says({.subject = Of(The("König", "alt"), The("Hund")), .verb = V("schlafen")}, "Der Hund des alten Königs schläft.",
       "The old king's dog sleeps.");
  Says({.subject = Of(Called("Anna"), Np(of, "Bruder", "klein")), .verb = V("lachen")}, "Annas kleiner Bruder lacht.",
       "Anna's small brother laughs.");
}

TEST(GrammarPairs, AdjectiveEndings) {
  const auto sees = [](NounPhrase object) {
    return Clause{.subject = Pronoun(er), .verb = V("sehen"), .object = std::move(object)};
  };
  Says(sees(The("Bär", "müde")), "Er sieht den müden Bären.", "He sees the tired bear.");
  Says(sees(A("Bär", "alt")), "Er sieht einen alten Bären.", "He sees an old bear.");
  Says(sees(A("Katze", "schwarz")), "Er sieht eine schwarze Katze.", "He sees a black cat.");
  Says(sees(A("Pferd", "weiß")), "Er sieht ein weißes Pferd.", "He sees a white horse.");
  Says(sees(Plural(Np(none, "Maus", "klein"))), "Er sieht kleine Mäuse.", "He sees small mice.");
  Says(sees(Plural(Np(two, "Maus", "klein"))), "Er sieht zwei kleine Mäuse.", "He sees two small mice.");
  Says(sees(Plural(Np(demonstrative, "Maus", "klein"))), "Er sieht diese kleinen Mäuse.", "He sees these small mice.");
  Says(sees(Plural(Of(wir, Np(possessive, "Fuchs", "klug")))), "Er sieht unsere klugen Füchse.",
       "He sees our clever foxes.");
  Says(sees(Of(ihr, Np(possessive, "Boot", "teuer"))), "Er sieht euer teures Boot.", "He sees your expensive boat.");
  Says({.subject = Np(every, "Pirat", "mutig"), .verb = V("lächeln")}, "Jeder mutige Pirat lächelt.",
       "Every brave pirate smiles.");
  Says({.subject = Pronoun(sie), .verb = V("trinken"), .object = Np(none, "Tee", "heiß")}, "Sie trinkt heißen Tee.",
       "She drinks hot tea.");
  Says({.subject = Called("Tom"), .verb = V("sitzen"), .place = In(A("Wald", "dunkel"))},
       "Tom sitzt in einem dunklen Wald.", "Tom sits in a dark forest.");
}

TEST(GrammarPairs, PersonsAndPronouns) {
  Says({.subject = Pronoun(du), .verb = V("lesen"), .object = A("Gedicht")}, "Du liest ein Gedicht.",
       "You read a poem.");
  Says({.subject = Pronoun(du), .verb = V("arbeiten")}, "Du arbeitest.", "You work.");
  Says({.subject = Pronoun(ihr), .verb = V("treffen"), .object = Pronoun(er)}, "Ihr trefft ihn.", "You meet him.");
  Says({.subject = Pronoun(ich), .verb = V("streicheln"), .object = The("Igel")}, "Ich streichle den Igel.",
       "I pet the hedgehog.");
  Says({.subject = Pronoun(sie_alle), .verb = V("abholen"), .object = Pronoun(ich)}, "Sie holen mich ab.",
       "They pick me up.");
  Says({.subject = Pronoun(sie), .verb = V("suchen"), .object = Of(sie, The("Schlüssel"))},
       "Sie sucht ihren Schlüssel.", "She looks for her key.");
  Says({.subject = Pronoun(sie_alle), .verb = V("suchen"), .object = Of(sie_alle, The("Ball"))},
       "Sie suchen ihren Ball.", "They look for their ball.");
  Says({.subject = Plural(Np(many, "Pirat")), .verb = V("zuhören"), .object = Pronoun(sie)},
       "Viele Piraten hören ihr zu.", "Many pirates listen to her.");
}

TEST(GrammarPairs, TheVerbIsSecondAfterAnyConstituent) {
  Says({.subject = The("Hexe"),
        .verb = V("backen"),
        .tense = Tense::progressive,
        .object = A("Kuchen"),
        .time = Adv("heute"),
        .front = Front::time},
       "Heute backt die Hexe einen Kuchen.", "Today the witch is baking a cake.");
  Says({.subject = The("Maus"), .verb = V("fressen"), .object = The("Käse"), .front = Front::object},
       "Den Käse frisst die Maus.", "The mouse eats the cheese.");
  Says({.subject = The("Hund"), .verb = V("schlafen"), .place = In(The("Garten")), .front = Front::place},
       "Im Garten schläft der Hund.", "The dog sleeps in the garden.");
  Says({.subject = The("Buch"), .verb = V("gefallen"), .object = Pronoun(ich), .front = Front::object},
       "Mir gefällt das Buch.", "I like the book.");
  Says({.subject = Plural(The("Rose")), .verb = V("gefallen"), .negated = true, .object = The("Königin")},
       "Die Rosen gefallen der Königin nicht.", "The queen does not like the roses.");
}

TEST(GrammarPairs, TimesAndTenses) {
  Says({.subject = The("Bäcker"), .verb = V("aufstehen"), .tense = Tense::progressive, .time = Adv("gerade")},
       "Der Bäcker steht gerade auf.", "The baker is getting up.");
  Says({.subject = Called("Emma"),
        .verb = V("anrufen"),
        .tense = Tense::future,
        .object = Of(sie, The("Tante")),
        .time = Adv("morgen")},
       "Emma ruft morgen ihre Tante an.", "Emma will call her aunt tomorrow.");
  Says({.subject = The("Affe"), .verb = V("stehlen"), .tense = Tense::past, .object = A("Banane")},
       "Der Affe hat eine Banane gestohlen.", "The monkey stole a banana.");
  Says({.subject = The("Zug"), .verb = V("ankommen"), .tense = Tense::perfect, .negated = true, .time = Adv("noch")},
       "Der Zug ist noch nicht angekommen.", "The train has not arrived yet.");
  Says({.subject = Pronoun(wir),
        .verb = V("lesen"),
        .tense = Tense::perfect,
        .object = The("Brief"),
        .time = Adv("schon")},
       "Wir haben den Brief schon gelesen.", "We have already read the letter.");
  Says({.subject = Pronoun(ich), .verb = V("haben"), .tense = Tense::past, .negated = true, .idiom = &Idioms()[0]},
       "Ich hatte keinen Hunger.", "I was not hungry.");
  Says({.subject = Pronoun(sie), .verb = V("trinken"), .object = Np(none, "Kaffee"), .time = Adv("nie")},
       "Sie trinkt nie Kaffee.", "She never drinks coffee.");
}

TEST(GrammarPairs, ModalsAndGern) {
  Says({.subject = Pronoun(ich), .verb = V("aufräumen"), .modal = V("müssen"), .object = The("Zimmer")},
       "Ich muss das Zimmer aufräumen.", "I have to tidy up the room.");
  Says({.subject = The("Kind"), .verb = V("schwimmen"), .modal = V("können"), .negated = true},
       "Das Kind kann nicht schwimmen.", "The child cannot swim.");
  Says({.subject = Pronoun(du),
        .verb = V("singen"),
        .modal = V("dürfen"),
        .tense = Tense::past,
        .negated = true,
        .object = The("Lied")},
       "Du durftest das Lied nicht singen.", "You were not allowed to sing the song.");
  Asks({.subject = Pronoun(ihr),
        .verb = V("spielen"),
        .modal = V("möchten"),
        .companion = PrepositionPhrase{"mit", "with", Case::dative, Pronoun(wir)}},
       "Möchtet ihr mit uns spielen?", "Would you like to play with us?");
  Says({.subject = The("Katze"),
        .verb = V("schlafen"),
        .gladly = true,
        .place = PrepositionPhrase{"auf", "on", Case::dative, The("Sofa")}},
       "Die Katze schläft gern auf dem Sofa.", "The cat likes to sleep on the sofa.");
}

TEST(GrammarPairs, Negation) {
  Says({.subject = The("Mann"), .verb = V("kaufen"), .negated = true, .object = Np(negative, "Auto")},
       "Der Mann kauft kein Auto.", "The man does not buy a car.");
  Says({.subject = Pronoun(wir), .verb = V("essen"), .negated = true, .object = Np(negative, "Brot", "frisch")},
       "Wir essen kein frisches Brot.", "We do not eat any fresh bread.");
  Says({.subject = Pronoun(wir),
        .verb = V("pflücken"),
        .tense = Tense::past,
        .negated = true,
        .object = Plural(Np(negative, "Rose"))},
       "Wir haben keine Rosen gepflückt.", "We did not pick any roses.");
  Says({.subject = Pronoun(ich), .verb = V("kennen"), .negated = true, .object = The("Arzt")},
       "Ich kenne den Arzt nicht.", "I do not know the doctor.");
  Says({.subject = Np(negative, "Vogel"), .verb = V("schlafen")}, "Kein Vogel schläft.", "No bird sleeps.");
}

TEST(GrammarPairs, Questions) {
  Asks({.subject = The("Frau"),
        .verb = V("lesen"),
        .tense = Tense::past,
        .object = The("Zeitung"),
        .time = Adv("gestern")},
       "Hat die Frau gestern die Zeitung gelesen?", "Did the woman read the newspaper yesterday?");
  Asks({.subject = Pronoun({3, false, Gender::neuter, false}),
        .verb = V("regnen"),
        .tense = Tense::progressive,
        .time = Adv("heute")},
       "Regnet es heute?", "Is it raining today?");
  AsksWh({.subject = who_asked, .verb = V("füttern"), .object = The("Eule")}, "Wer füttert die Eule?",
         "Who feeds the owl?");
  AsksWh({.subject = The("Eule"), .verb = V("hören"), .object = who_asked, .front = Front::object},
         "Wen hört die Eule?", "Whom does the owl hear?");
  AsksWh({.subject = Called("Paul"),
          .verb = V("kochen"),
          .tense = Tense::past,
          .object = what_asked,
          .front = Front::object},
         "Was hat Paul gekocht?", "What did Paul cook?");
  AsksWh({.subject = Pronoun(du),
          .verb = V("zeigen"),
          .recipient = who_asked,
          .object = The("Bild"),
          .front = Front::recipient},
         "Wem zeigst du das Bild?", "To whom do you show the picture?");
  AsksWh({.subject = Pronoun(er), .verb = V("anziehen"), .object = Np(which, "Mantel"), .front = Front::object},
         "Welchen Mantel zieht er an?", "Which coat does he put on?");
  AsksWh({.subject = Pronoun(er),
          .verb = V("tanzen"),
          .companion = PrepositionPhrase{"mit", "with", Case::dative, who_asked},
          .front = Front::companion},
         "Mit wem tanzt er?", "With whom does he dance?");
}

TEST(GrammarPairs, PrepositionsAndTheirCases) {
  Says({.subject = The("Hund"), .verb = V("rennen"), .place = Into(The("Garten"))}, "Der Hund rennt in den Garten.",
       "The dog runs into the garden.");
  Says({.subject = The("Pferd"), .verb = V("gehen"), .place = Into(The("Haus"))}, "Das Pferd geht ins Haus.",
       "The horse goes into the house.");
  Says({.subject = Pronoun(ich),
        .verb = V("gehen"),
        .tense = Tense::past,
        .companion = PrepositionPhrase{"ohne", "without", Case::accusative, Of(ich, The("Bruder"))},
        .place = PrepositionPhrase{"zu", "to", Case::dative, The("See")}},
       "Ich bin ohne meinen Bruder zum See gegangen.", "I went to the lake without my brother.");
  Says({.subject = The("Mutter"),
        .verb = V("legen"),
        .object = The("Brief"),
        .place = PrepositionPhrase{"auf", "onto", Case::accusative, The("Tisch")}},
       "Die Mutter legt den Brief auf den Tisch.", "The mother puts the letter onto the table.");
}

TEST(GrammarPairs, SubordinateClauses) {
  constexpr Conjunction because{"weil", "because", Order::verb_last}, that{"dass", "that", Order::verb_last},
      when{"wenn", "when", Order::verb_last}, to{"um", "", Order::infinitive}, but{"aber", "but", Order::verb_second};
  const Adjective* sweet = &FindAdjective("süß");
  Expect({.main = {.subject = Pronoun(sie), .verb = V("essen"), .object = The("Apfel")},
          .conjunction = &because,
          .second = {.subject = it, .verb = V("sein"), .predicate = sweet}},
         "Sie isst den Apfel, weil er süß ist.", "She eats the apple because it is sweet.");
  Expect({.main = {.subject = Called("Lena"), .verb = V("glauben")},
          .conjunction = &that,
          .second = {.subject = The("Vogel"), .verb = V("aufwachen")}},
         "Lena glaubt, dass der Vogel aufwacht.", "Lena believes that the bird wakes up.");
  Expect({.main = {.subject = it, .verb = V("schlafen")},
          .conjunction = &when,
          .second = {.subject = The("Igel"), .verb = V("sein"), .predicate = &FindAdjective("müde")},
          .second_first = true},
         "Wenn der Igel müde ist, schläft er.", "When the hedgehog is tired, it sleeps.");
  Expect({.main = {.subject = Pronoun(ich), .verb = V("gehen"), .place = Into(The("Küche"))},
          .conjunction = &to,
          .second = {.subject = Pronoun(ich), .verb = V("anrufen"), .object = Of(ich, The("Freund"))}},
         "Ich gehe in die Küche, um meinen Freund anzurufen.", "I go into the kitchen to call my friend.");
  Expect({.main = {.subject = The("Kuh"), .verb = V("warten")},
          .conjunction = &but,
          .second = {.subject = Plural(The("Pferd")), .verb = V("weglaufen")}},
         "Die Kuh wartet, aber die Pferde laufen weg.", "The cow waits, but the horses run away.");
}

TEST(GrammarPairs, RelativeClauses) {
  const NounPhrase who;  // the function With makes this a relative pronoun
  Says({.subject = With(The("Mann"), {.subject = who, .verb = V("füttern"), .object = The("Hund")}),
        .verb = V("lachen")},
       "Der Mann, der den Hund füttert, lacht.", "The man who feeds the dog laughs.");
  Says({.subject = Pronoun(ich),
        .verb = V("kennen"),
        .object =
            With(The("Frau"), {.subject = Pronoun(du), .verb = V("helfen"), .object = who, .front = Front::object})},
       "Ich kenne die Frau, der du hilfst.", "I know the woman whom you help.");
  Says({.subject = Pronoun(wir),
        .verb = V("sehen"),
        .tense = Tense::past,
        .object = With(A("Löwe"), {.subject = who, .verb = V("schlafen")})},
       "Wir haben einen Löwen gesehen, der schläft.", "We saw a lion that sleeps.");
  Says({.subject = Pronoun(er),
        .verb = V("putzen"),
        .object =
            With(The("Haus"), {.subject = Pronoun(wir), .verb = V("wohnen"), .place = In(who), .front = Front::place})},
       "Er putzt das Haus, in dem wir wohnen.", "He cleans the house in which we live.");
  Says({.subject = Pronoun(er),
        .verb = V("besuchen"),
        .object = With(Plural(The("Kind")), {.subject = Pronoun(ihr),
                                             .verb = V("spielen"),
                                             .companion = PrepositionPhrase{"mit", "with", Case::dative, who},
                                             .front = Front::companion})},
       "Er besucht die Kinder, mit denen ihr spielt.", "He visits the children with whom you play.");
}

TEST(GrammarPairs, Comparison) {
  Says({.subject = The("Elefant"), .verb = V("sein"), .predicate = &FindAdjective("groß"), .than = The("Maus")},
       "Der Elefant ist größer als die Maus.", "The elephant is bigger than the mouse.");
}

}  // namespace
}  // namespace headlight::grammar_pairs_test
