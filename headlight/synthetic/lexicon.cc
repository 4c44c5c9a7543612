#include "headlight/synthetic/lexicon.h"

namespace headlight {
namespace {

using namespace kind;  // the tables use the names of this namespace

constexpr Gender der = Gender::masculine, die = Gender::feminine, das = Gender::neuter;
constexpr Kinds kid = adult | child, stuff = thing | garment | machine | vehicle;
constexpr Kinds book = thing | text, house = area | building;

// clang-format off
constexpr Noun nouns[] = {
    {der, "Mann", "Männer", "man", "men", adult | unowned},
    {die, "Frau", "Frauen", "woman", "women", adult | unowned},
    {das, "Kind", "Kinder", "child", "children", child},
    {das, "Mädchen", "Mädchen", "girl", "girls", child},
    {der, "Junge", "Jungen", "boy", "boys", child, true},
    {der, "Vater", "Väter", "father", "fathers", adult},
    {die, "Mutter", "Mütter", "mother", "mothers", adult},
    {der, "Bruder", "Brüder", "brother", "brothers", kid},
    {die, "Schwester", "Schwestern", "sister", "sisters", kid},
    {der, "Onkel", "Onkel", "uncle", "uncles", adult},
    {die, "Tante", "Tanten", "aunt", "aunts", adult},
    {der, "Freund", "Freunde", "friend", "friends", kid},
    {die, "Freundin", "Freundinnen", "friend", "friends", kid},
    {der, "Nachbar", "Nachbarn", "neighbor", "neighbors", adult, true},
    {der, "Lehrer", "Lehrer", "teacher", "teachers", adult},
    {die, "Lehrerin", "Lehrerinnen", "teacher", "teachers", adult},
    {der, "Arzt", "Ärzte", "doctor", "doctors", adult},
    {die, "Ärztin", "Ärztinnen", "doctor", "doctors", adult},
    {der, "Bäcker", "Bäcker", "baker", "bakers", adult},
    {der, "Koch", "Köche", "cook", "cooks", adult},
    {die, "Malerin", "Malerinnen", "painter", "painters", adult},
    {der, "König", "Könige", "king", "kings", adult},
    {die, "Königin", "Königinnen", "queen", "queens", adult},
    {der, "Zauberer", "Zauberer", "wizard", "wizards", adult},
    {die, "Hexe", "Hexen", "witch", "witches", adult},
    {der, "Pirat", "Piraten", "pirate", "pirates", adult, true},

    {der, "Hund", "Hunde", "dog", "dogs", animal},
    {die, "Katze", "Katzen", "cat", "cats", animal},
    {die, "Maus", "Mäuse", "mouse", "mice", animal},
    {das, "Pferd", "Pferde", "horse", "horses", animal},
    {die, "Kuh", "Kühe", "cow", "cows", animal},
    {der, "Vogel", "Vögel", "bird", "birds", animal},
    {die, "Eule", "Eulen", "owl", "owls", animal},
    {der, "Igel", "Igel", "hedgehog", "hedgehogs", animal},
    {der, "Fuchs", "Füchse", "fox", "foxes", animal},
    {der, "Bär", "Bären", "bear", "bears", animal, true},
    {der, "Löwe", "Löwen", "lion", "lions", animal, true},
    {der, "Affe", "Affen", "monkey", "monkeys", animal, true},
    {der, "Elefant", "Elefanten", "elephant", "elephants", animal, true},
    {der, "Drache", "Drachen", "dragon", "dragons", animal, true},

    {der, "Apfel", "Äpfel", "apple", "apples", food | feed},
    {die, "Banane", "Bananen", "banana", "bananas", food | feed},
    {die, "Kartoffel", "Kartoffeln", "potato", "potatoes", food | cooked},
    {das, "Ei", "Eier", "egg", "eggs", food | cooked},
    {die, "Suppe", "Suppen", "soup", "soups", food | cooked},
    {der, "Fisch", "Fische", "fish", "fish", food | feed | cooked},
    {der, "Kuchen", "Kuchen", "cake", "cakes", food | baked},
    {die, "Pizza", "Pizzas", "pizza", "pizzas", food | baked},
    {das, "Brot", "", "bread", "", food | feed | baked},
    {der, "Käse", "", "cheese", "", food | feed},
    {das, "Fleisch", "", "meat", "", food | feed | cooked},
    {die, "Schokolade", "", "chocolate", "", food},
    {das, "Wasser", "", "water", "", drink},
    {die, "Milch", "", "milk", "", drink},
    {der, "Kaffee", "", "coffee", "", drink},
    {der, "Tee", "", "tea", "", drink},

    {das, "Buch", "Bücher", "book", "books", book},
    {die, "Zeitung", "Zeitungen", "newspaper", "newspapers", book},
    {der, "Brief", "Briefe", "letter", "letters", book | letter},
    {das, "Gedicht", "Gedichte", "poem", "poems", text | letter | story},
    {die, "Geschichte", "Geschichten", "story", "stories", text | letter | story},
    {das, "Märchen", "Märchen", "fairy tale", "fairy tales", text | letter | story},
    {das, "Lied", "Lieder", "song", "songs", song},
    {das, "Kleid", "Kleider", "dress", "dresses", garment},
    {das, "Hemd", "Hemden", "shirt", "shirts", garment},
    {der, "Mantel", "Mäntel", "coat", "coats", garment},
    {der, "Hut", "Hüte", "hat", "hats", garment},
    {das, "Auto", "Autos", "car", "cars", vehicle},
    {das, "Fahrrad", "Fahrräder", "bicycle", "bicycles", vehicle},
    {das, "Boot", "Boote", "boat", "boats", vehicle | ride},
    {der, "Zug", "Züge", "train", "trains", ride},
    {der, "Computer", "Computer", "computer", "computers", machine},
    {die, "Uhr", "Uhren", "clock", "clocks", machine | thing},
    {die, "Lampe", "Lampen", "lamp", "lamps", machine | thing},
    {die, "Gitarre", "Gitarren", "guitar", "guitars", machine | thing},
    {der, "Ball", "Bälle", "ball", "balls", thing},
    {der, "Schlüssel", "Schlüssel", "key", "keys", thing},
    {die, "Tasche", "Taschen", "bag", "bags", thing | opening},
    {die, "Kiste", "Kisten", "box", "boxes", thing | opening},
    {das, "Geschenk", "Geschenke", "gift", "gifts", thing | opening},
    {das, "Bild", "Bilder", "picture", "pictures", thing},
    {die, "Tasse", "Tassen", "cup", "cups", thing},
    {das, "Messer", "Messer", "knife", "knives", thing},
    {der, "Regenschirm", "Regenschirme", "umbrella", "umbrellas", thing},
    {der, "Ring", "Ringe", "ring", "rings", thing},
    {der, "Schatz", "Schätze", "treasure", "treasures", thing},
    {die, "Blume", "Blumen", "flower", "flowers", plant},
    {die, "Rose", "Rosen", "rose", "roses", plant},

    {die, "Tür", "Türen", "door", "doors", opening},
    {das, "Fenster", "Fenster", "window", "windows", opening},
    {der, "Baum", "Bäume", "tree", "trees", landmark},
    {der, "Tisch", "Tische", "table", "tables", surface | landmark},
    {der, "Stuhl", "Stühle", "chair", "chairs", surface},
    {das, "Sofa", "Sofas", "sofa", "sofas", surface | landmark},
    {das, "Bett", "Betten", "bed", "beds", surface | landmark},
    {das, "Dach", "Dächer", "roof", "roofs", surface},
    {der, "Garten", "Gärten", "garden", "gardens", area},
    {der, "Park", "Parks", "park", "parks", area},
    {der, "Wald", "Wälder", "forest", "forests", area},
    {die, "Stadt", "Städte", "city", "cities", area},
    {das, "Dorf", "Dörfer", "village", "villages", area},
    {die, "Küche", "Küchen", "kitchen", "kitchens", area | room},
    {das, "Zimmer", "Zimmer", "room", "rooms", area | room},
    {das, "Haus", "Häuser", "house", "houses", house | room},
    {das, "Schloss", "Schlösser", "castle", "castles", house},
    {der, "Bahnhof", "Bahnhöfe", "station", "stations", goal},
    {der, "Markt", "Märkte", "market", "markets", goal},
    {der, "See", "Seen", "lake", "lakes", goal},
    {die, "Brücke", "Brücken", "bridge", "bridges", goal | landmark},
};

constexpr Noun idioms[] = {
    {der, "Hunger", "", "hungry", "", 0},     {der, "Durst", "", "thirsty", "", 0},
    {die, "Angst", "", "afraid", "", 0},      {das, "Glück", "", "lucky", "", 0},
    {das, "Heimweh", "", "homesick", "", 0},  {der, "Erfolg", "", "successful", "", 0},
};

constexpr ProperNoun person_names[] = {
    {"Anna", "Anna", die}, {"Lena", "Lena", die}, {"Emma", "Emma", die}, {"Julia", "Julia", die}, {"Maria", "Maria", die},
    {"Peter", "Peter", der}, {"Paul", "Paul", der}, {"David", "David", der}, {"Martin", "Martin", der}, {"Tom", "Tom", der},
};

constexpr ProperNoun city_names[] = {
    {"Berlin", "Berlin", das}, {"Hamburg", "Hamburg", das}, {"München", "Munich", das}, {"Köln", "Cologne", das},
    {"Wien", "Vienna", das}, {"Rom", "Rome", das},
};

constexpr Adjective adjectives[] = {
    {"klein", "small", child | animal | stuff | plant | building | surface, "kleiner", "smaller"},
    {"groß", "big", animal | thing | machine | vehicle | building | surface | landmark, "größer", "bigger"},
    {"alt", "old", adult | animal | stuff | area | building | surface | landmark | text, "älter", "older"},
    {"jung", "young", being, "jünger", "younger"},
    {"neu", "new", stuff | building | text | song},
    {"schön", "beautiful", garment | plant | area | song | story | thing, "schöner", "more beautiful"},
    {"freundlich", "friendly", person, "freundlicher", "friendlier"},
    {"müde", "tired", being, "", "", true},
    {"glücklich", "happy", person, "glücklicher", "happier", true},
    {"traurig", "sad", person | song | story, "", "", true},
    {"hungrig", "hungry", animal, "", "", true},
    {"krank", "sick", being, "", "", true},
    {"klug", "clever", being, "klüger", "cleverer"},
    {"faul", "lazy", being, "fauler", "lazier"},
    {"mutig", "brave", being, "mutiger", "braver"},
    {"neugierig", "curious", being},
    {"stark", "strong", being, "stärker", "stronger"},
    {"reich", "rich", adult, "reicher", "richer"},
    {"schnell", "fast", animal | vehicle | ride, "schneller", "faster"},
    {"rot", "red", garment | vehicle | plant | thing | opening},
    {"blau", "blue", garment | vehicle | thing | opening},
    {"grün", "green", garment | vehicle | thing | opening},
    {"weiß", "white", garment | plant | animal | building},
    {"schwarz", "black", garment | animal | vehicle},
    {"braun", "brown", garment | animal},
    {"teuer", "expensive", stuff, "teurer", "more expensive"},
    {"kaputt", "broken", machine | vehicle},
    {"schwer", "heavy", thing, "schwerer", "heavier"},
    {"schmutzig", "dirty", garment | room | vehicle},
    {"dunkel", "dark", area},
    {"spannend", "exciting", text | story},
    {"lang", "long", text | letter | song, "länger", "longer"},
    {"frisch", "fresh", food | drink},
    {"süß", "sweet", food},
    {"kalt", "cold", drink},
    {"heiß", "hot", drink | cooked},
};

constexpr Adverb time_adverbs[] = {
    {"oft", "often", Tense::present, true, true, false},
    {"manchmal", "sometimes", Tense::present, true, true, false},
    {"immer", "always", Tense::present, true, false, false},
    {"selten", "rarely", Tense::present, true, false, false},
    {"nie", "never", Tense::present, true, false, false},
    {"jeden Tag", "every day", Tense::present, false, true, false},
    {"morgens", "in the morning", Tense::present, false, true, false},
    {"abends", "in the evening", Tense::present, false, true, false},
    {"sonntags", "on Sundays", Tense::present, false, true, false},
    {"im Sommer", "in summer", Tense::present, false, true, false},
    {"im Winter", "in winter", Tense::present, false, true, false},
    {"gerade", "", Tense::progressive, false, false},
    {"jetzt", "now", Tense::progressive},
    {"heute", "today", Tense::progressive},
    {"morgen", "tomorrow", Tense::future},
    {"bald", "soon", Tense::future, false, true, false},
    {"nächste Woche", "next week", Tense::future},
    {"gestern", "yesterday", Tense::past},
    {"letzte Woche", "last week", Tense::past},
    {"am Montag", "on Monday", Tense::past},
    {"letzten Sommer", "last summer", Tense::past},
    {"schon", "already", Tense::perfect, true, false, false},
    {"noch", "yet", Tense::perfect, false, false},  // only with "nicht": noch nicht, not yet
};

constexpr Preposition locations[] = {
    {"in", "in", Case::dative, area | city},
    {"auf", "on", Case::dative, surface},
    {"unter", "under", Case::dative, landmark},
    {"neben", "next to", Case::dative, landmark},
    {"hinter", "behind", Case::dative, landmark | building},
    {"vor", "in front of", Case::dative, building},
};

constexpr Preposition directions[] = {
    {"in", "into", Case::accusative, area},
    {"auf", "onto", Case::accusative, surface},
    {"unter", "under", Case::accusative, landmark},
    {"neben", "next to", Case::accusative, landmark},
    {"hinter", "behind", Case::accusative, building},
    {"um", "around", Case::accusative, building},
    {"durch", "through", Case::accusative, area},
    {"zu", "to", Case::dative, goal},
    {"aus", "out of", Case::dative, building},
    {"nach", "to", Case::dative, city},
};

constexpr Preposition companions[] = {
    {"mit", "with", Case::dative, being},
    {"ohne", "without", Case::accusative, being},
    {"für", "for", Case::accusative, person},
};
// clang-format on

}  // namespace

std::span<const Noun> Nouns() { return nouns; }
std::span<const Noun> Idioms() { return idioms; }
std::span<const ProperNoun> PersonNames() { return person_names; }
std::span<const ProperNoun> CityNames() { return city_names; }
std::span<const Adjective> Adjectives() { return adjectives; }
std::span<const Adverb> TimeAdverbs() { return time_adverbs; }
std::span<const Preposition> Locations() { return locations; }
std::span<const Preposition> Directions() { return directions; }
std::span<const Preposition> Companions() { return companions; }

}  // namespace headlight
