// The verbs of the built-in grammar, in the order of `Frame`.
#include "headlight/base/error.h"
#include "headlight/synthetic/lexicon.h"

namespace headlight {
namespace {

using namespace kind;  // the table uses the names of this namespace
using enum Frame;
using enum Aspect;

constexpr Kinds stuff = thing | garment | machine | vehicle;

// clang-format off
constexpr bool haben = false, sein = true;

constexpr Verb verbs[] = {
    {{"schlafen", "schläft", "geschlafen"}, {"sleep", "slept", "slept", "sleeping"}, alone, being, 0, area | surface | landmark},
    {{"lachen", "lacht", "gelacht"}, {"laugh", "laughed", "laughed", "laughing"}, alone, person},
    {{"weinen", "weint", "geweint"}, {"cry", "cried", "cried", "crying"}, alone, person, 0, 0, event},
    {{"tanzen", "tanzt", "getanzt"}, {"dance", "danced", "danced", "dancing"}, alone, person, 0, area},
    {{"lächeln", "lächelt", "gelächelt"}, {"smile", "smiled", "smiled", "smiling"}, alone, person},
    {{"arbeiten", "arbeitet", "gearbeitet"}, {"work", "worked", "worked", "working"}, alone, person, 0, area},
    {{"spielen", "spielt", "gespielt"}, {"play", "played", "played", "playing"}, alone, child | animal, 0, area},
    {{"warten", "wartet", "gewartet"}, {"wait", "waited", "waited", "waiting"}, alone, being, 0, area | landmark},
    {{"schwimmen", "schwimmt", "geschwommen", "", sein}, {"swim", "swam", "swum", "swimming"}, alone, being},
    {{"stehen", "steht", "gestanden", "auf", sein}, {"get", "got", "gotten", "getting", "up"}, alone, being},
    {{"wachen", "wacht", "gewacht", "auf", sein}, {"wake", "woke", "woken", "waking", "up"}, alone, being, 0, 0, event},
    {{"schlafen", "schläft", "geschlafen", "ein", sein}, {"fall", "fell", "fallen", "falling", "asleep"}, alone, being, 0, 0, event},
    {{"kommen", "kommt", "gekommen", "an", sein}, {"arrive", "arrived", "arrived", "arriving"}, alone, person | ride, 0, 0, event},
    {{"kommen", "kommt", "gekommen", "zurück", sein}, {"come", "came", "come", "coming", "back"}, alone, being},
    {{"laufen", "läuft", "gelaufen", "weg", sein}, {"run", "ran", "run", "running", "away"}, alone, being},

    {{"essen", "isst", "gegessen"}, {"eat", "ate", "eaten", "eating"}, accusative, person, food, area},
    {{"fressen", "frisst", "gefressen"}, {"eat", "ate", "eaten", "eating"}, accusative, animal, feed, area},
    {{"trinken", "trinkt", "getrunken"}, {"drink", "drank", "drunk", "drinking"}, accusative, person, drink, area},
    {{"kochen", "kocht", "gekocht"}, {"cook", "cooked", "cooked", "cooking"}, accusative, person, cooked, person},
    {{"backen", "backt", "gebacken"}, {"bake", "baked", "baked", "baking"}, accusative, person, baked, person},
    {{"lesen", "liest", "gelesen"}, {"read", "read", "read", "reading"}, accusative, person, text, area | surface},
    {{"schreiben", "schreibt", "geschrieben"}, {"write", "wrote", "written", "writing"}, accusative, person, letter, person},
    {{"singen", "singt", "gesungen"}, {"sing", "sang", "sung", "singing"}, accusative, person, song, area},
    {{"kaufen", "kauft", "gekauft"}, {"buy", "bought", "bought", "buying"}, accusative, person, stuff | food | plant, person},
    {{"suchen", "sucht", "gesucht"}, {"look", "looked", "looked", "looking", "", "for"}, accusative, person, thing | garment | animal},
    {{"finden", "findet", "gefunden"}, {"find", "found", "found", "finding"}, accusative, person, thing | garment, area | surface | landmark, event},
    {{"verlieren", "verliert", "verloren"}, {"lose", "lost", "lost", "losing"}, accusative, person, thing, 0, event},
    {{"stehlen", "stiehlt", "gestohlen"}, {"steal", "stole", "stolen", "stealing"}, accusative, being, thing | feed},
    {{"tragen", "trägt", "getragen"}, {"wear", "wore", "worn", "wearing"}, accusative, person, garment},
    {{"waschen", "wäscht", "gewaschen"}, {"wash", "washed", "washed", "washing"}, accusative, person, garment | vehicle},
    {{"putzen", "putzt", "geputzt"}, {"clean", "cleaned", "cleaned", "cleaning"}, accusative, person, room | opening},
    {{"reparieren", "repariert", "repariert"}, {"repair", "repaired", "repaired", "repairing"}, accusative, person, machine | vehicle},
    {{"malen", "malt", "gemalt"}, {"paint", "painted", "painted", "painting"}, accusative, person, animal | plant | building, person},
    {{"bauen", "baut", "gebaut"}, {"build", "built", "built", "building"}, accusative, person, building},
    {{"pflücken", "pflückt", "gepflückt"}, {"pick", "picked", "picked", "picking"}, accusative, person, plant, person},
    {{"jagen", "jagt", "gejagt"}, {"chase", "chased", "chased", "chasing"}, accusative, animal, animal},
    {{"füttern", "füttert", "gefüttert"}, {"feed", "fed", "fed", "feeding"}, accusative, person, animal, area},
    {{"streicheln", "streichelt", "gestreichelt"}, {"pet", "petted", "petted", "petting"}, accusative, person, animal},
    {{"besuchen", "besucht", "besucht"}, {"visit", "visited", "visited", "visiting"}, accusative, person, person},
    {{"treffen", "trifft", "getroffen"}, {"meet", "met", "met", "meeting"}, accusative, person, person, area},
    {{"fragen", "fragt", "gefragt"}, {"ask", "asked", "asked", "asking"}, accusative, person, person},
    {{"sehen", "sieht", "gesehen"}, {"see", "saw", "seen", "seeing"}, accusative, person, being | thing | vehicle, 0, state},
    {{"hören", "hört", "gehört"}, {"hear", "heard", "heard", "hearing"}, accusative, being, animal | song, 0, state},
    {{"lieben", "liebt", "geliebt"}, {"love", "loved", "loved", "loving"}, accusative, person, being | baked, 0, state},
    {{"kennen", "kennt", "gekannt"}, {"know", "knew", "known", "knowing"}, accusative, person, person | story | song, 0, state},
    {{"brauchen", "braucht", "gebraucht"}, {"need", "needed", "needed", "needing"}, accusative, person, stuff, 0, state},
    {{"haben", "hat", "gehabt", "", haben, "hatte"}, {"have", "had", "had", "having"}, accusative, person, stuff | animal | baked, 0, state},
    {{"machen", "macht", "gemacht", "auf"}, {"open", "opened", "opened", "opening"}, accusative, person, opening},
    {{"machen", "macht", "gemacht", "zu"}, {"close", "closed", "closed", "closing"}, accusative, person, opening},
    {{"räumen", "räumt", "geräumt", "auf"}, {"tidy", "tidied", "tidied", "tidying", "up"}, accusative, person, room},
    {{"ziehen", "zieht", "gezogen", "an"}, {"put", "put", "put", "putting", "on"}, accusative, person, garment},
    {{"ziehen", "zieht", "gezogen", "aus"}, {"take", "took", "taken", "taking", "off"}, accusative, person, garment},
    {{"bringen", "bringt", "gebracht", "mit"}, {"bring", "brought", "brought", "bringing", "along"}, accusative, person, thing | food},
    {{"rufen", "ruft", "gerufen", "an"}, {"call", "called", "called", "calling"}, accusative, person, person},
    {{"holen", "holt", "geholt", "ab"}, {"pick", "picked", "picked", "picking", "up"}, accusative, person, person},
    {{"laden", "lädt", "geladen", "ein"}, {"invite", "invited", "invited", "inviting"}, accusative, person, person},

    {{"helfen", "hilft", "geholfen"}, {"help", "helped", "helped", "helping"}, dative, person, being},
    {{"folgen", "folgt", "gefolgt", "", sein}, {"follow", "followed", "followed", "following"}, dative, being, being},
    {{"hören", "hört", "gehört", "zu"}, {"listen", "listened", "listened", "listening", "", "to"}, dative, person, person},
    {{"gehören", "gehört", "gehört"}, {"belong", "belonged", "belonged", "belonging", "", "to"}, dative, stuff | building, person, 0, state},
    {{"gefallen", "gefällt", "gefallen"}, {"like", "liked", "liked", "liking"}, liking, stuff | story | song | plant | building | animal, person, 0, state},
    {{"geben", "gibt", "gegeben"}, {"give", "gave", "given", "giving"}, two_objects, person, thing | food | plant},
    {{"zeigen", "zeigt", "gezeigt"}, {"show", "showed", "shown", "showing"}, two_objects, person, stuff | building | animal},
    {{"bringen", "bringt", "gebracht"}, {"bring", "brought", "brought", "bringing"}, two_objects, person, thing | food | drink | plant},
    {{"lesen", "liest", "gelesen", "vor"}, {"read", "read", "read", "reading"}, two_objects, person, story | letter},

    {{"sitzen", "sitzt", "gesessen"}, {"sit", "sat", "sat", "sitting"}, position, being, 0, area | surface | landmark},
    {{"liegen", "liegt", "gelegen"}, {"lie", "lay", "lain", "lying"}, position, animal | thing, 0, surface | landmark, event},
    {{"stehen", "steht", "gestanden"}, {"stand", "stood", "stood", "standing"}, position, being | vehicle, 0, area | landmark | building},
    {{"wohnen", "wohnt", "gewohnt"}, {"live", "lived", "lived", "living"}, position, person, 0, area | city, state},
    {{"gehen", "geht", "gegangen", "", sein}, {"go", "went", "gone", "going"}, motion, being, 0, area | goal},
    {{"rennen", "rennt", "gerannt", "", sein}, {"run", "ran", "run", "running"}, motion, being, 0, area | goal | landmark | building},
    {{"kommen", "kommt", "gekommen", "", sein}, {"come", "came", "come", "coming"}, motion, being, 0, area | goal | building},
    {{"fahren", "fährt", "gefahren", "", sein}, {"travel", "traveled", "traveled", "traveling"}, motion, person, 0, city},
    {{"legen", "legt", "gelegt"}, {"put", "put", "put", "putting"}, putting, person, thing | garment, surface | landmark},

    {{"glauben", "glaubt", "geglaubt"}, {"believe", "believed", "believed", "believing"}, clause, person, 0, 0, state},
    {{"hoffen", "hofft", "gehofft"}, {"hope", "hoped", "hoped", "hoping"}, clause, person, 0, 0, state},
    {{"sagen", "sagt", "gesagt"}, {"say", "said", "said", "saying"}, clause, person, 0, 0, state},
    {{"wissen", "weiß", "gewusst", "", haben, "wusste"}, {"know", "knew", "known", "knowing"}, clause, person, 0, 0, state},
    {{"regnen", "regnet", "geregnet"}, {"rain", "rained", "rained", "raining"}, weather, 0, 0, 0, event},
    {{"schneien", "schneit", "geschneit"}, {"snow", "snowed", "snowed", "snowing"}, weather, 0, 0, 0, event},
    {{"sein", "ist", "gewesen", "", sein, "war"}, {"be", "was", "been", "being"}, copula, 0, 0, 0, state},
    {{"können", "kann", "", "", haben, "konnte"}, {"can", "could"}, modal, 0, 0, 0, state},
    {{"müssen", "muss", "", "", haben, "musste"}, {"have", "had", "", "", "", "to"}, modal, 0, 0, 0, state},
    {{"wollen", "will", "", "", haben, "wollte"}, {"want", "wanted", "", "", "", "to"}, modal, 0, 0, 0, state},
    {{"dürfen", "darf", "", "", haben, "durfte"}, {"be", "was", "", "", "", "allowed to"}, modal, 0, 0, 0, state},
    {{"sollen", "soll", ""}, {"should"}, modal, 0, 0, 0, state},
    {{"möchten", "möchte", ""}, {"would", "", "", "", "", "like to"}, modal, 0, 0, 0, state},
};
// clang-format on

}  // namespace

std::span<const Verb> Verbs() { return verbs; }

const Verb& FindVerb(std::string_view german) {
  for (const Verb& verb : verbs)
    if (fmt::format("{}{}", verb.german.prefix, verb.german.infinitive) == german) return verb;
  Fail("the grammar's lexicon has no verb '{}'", german);
}

}  // namespace headlight
