#include "headlight/synthetic/word_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "headlight/base/hash.h"

namespace headlight {
namespace {

constexpr int kLargest = 99;             // limit on all numbers
constexpr int kTable = 9;                // limit on factors
constexpr std::uint64_t kHeldOutIn = 5;  // one in five pairs and form sequences is held out

struct Person {
  std::string_view name;
  bool woman;
};

constexpr Person kPeople[] = {{"Anna", true},   {"Ben", false},  {"Clara", true},  {"David", false}, {"Ella", true},
                              {"Felix", false}, {"Grace", true}, {"Henry", false}, {"Ida", true},    {"Jack", false},
                              {"Kate", true},   {"Leo", false},  {"Mia", true},    {"Noah", false},  {"Nora", true},
                              {"Oscar", false}, {"Paula", true}, {"Robin", false}, {"Sara", true},   {"Tom", false}};
constexpr std::string_view kThings[] = {"apples",  "books",   "buttons", "candles", "cards",  "coins", "cups",
                                        "flowers", "keys",    "lemons",  "marbles", "nuts",   "pears", "pencils",
                                        "plums",   "ribbons", "shells",  "spoons",  "stamps", "stones"};
constexpr std::string_view kBoxes[] = {"bags", "baskets", "boxes", "drawers", "jars", "tins"};
constexpr std::string_view kBox[] = {"bag", "basket", "box", "drawer", "jar", "tin"};
constexpr std::string_view kPlaces[] = {"at school",     "in the garden", "in the park",
                                        "near the lake", "on the beach",  "under the bed"};

// The effect of a form on the current number of things. The form's own number is the operand.
enum class Change { none, add, subtract, multiply, divide };

// A sentence form with placeholders. {n} is its number, and {m} the second number of an opening. A problem has an
// opening, events and a question.
struct Form {
  Change change;
  std::string_view text;
};

constexpr Form kOpenings[] = {
    {Change::none, "{A} has {n} {things}."},
    {Change::none, "There are {n} {things} in {A}'s {box}."},
    {Change::none, "{A} begins the day with {n} {things}."},
    {Change::none, "In the morning {A} owns {n} {things}."},
    {Change::none, "{n} {things} lie on {A}'s table."},
    {Change::multiply, "{A} has {n} {boxes} with {m} {things} each."},
    {Change::multiply, "{A} fills {n} {boxes}, each with {m} {things}."},
    {Change::multiply, "Each of {A}'s {n} {boxes} holds {m} {things}."},
    {Change::add, "{A} has {n} old {things} and {m} new ones."},
    {Change::add, "{A} brings {n} {things} from home and {m} from a shop."},
    {Change::add, "{A} owns {n} red {things}, and {m} blue ones as well."},
};
constexpr Form kEvents[] = {
    {Change::add, "Then {he} buys {n} more."},
    {Change::add, "{B} gives {him} {n} {things}."},
    {Change::add, "{A} finds {n} {things} {place}."},
    {Change::add, "Another {n} come from {his} friend {B}."},
    {Change::add, "After lunch {he} gets {n} more from {his} aunt."},
    {Change::subtract, "{He} gives {n} of them to {B}."},
    {Change::subtract, "{A} loses {n} {things} {place}."},
    {Change::subtract, "{B} takes {n} of them away."},
    {Change::subtract, "Later {he} sells {n} {things} at the market."},
    {Change::subtract, "Sadly {n} of the {things} are stolen."},
};
constexpr Form kQuestions[] = {
    {Change::none, "How many {things} does {A} have now?"},
    {Change::none, "How many {things} are there in the end?"},
    {Change::none, "What is the number of {his} {things} now?"},
    {Change::none, "Count the {things}: how many does {he} have?"},
    {Change::add, "{B} has {n} {things} more than {A}. How many {things} does {B} have?"},
    {Change::add, "How many {things} has {B}, who owns {n} more than {A}?"},
    {Change::add, "{B} has {n} {things}. How many {things} do {A} and {B} have together?"},
    {Change::subtract, "{B} has {n} {things} fewer than {A}. How many {things} does {B} have?"},
    {Change::subtract, "How many {things} has {B}, who owns {n} fewer than {A}?"},
    {Change::divide, "{He} shares them fairly among {n} friends. How many {things} does each friend get?"},
    {Change::divide, "{A} puts them into {n} equal heaps. How many {things} are in a heap?"},
    {Change::divide, "How many {things} does each of {n} children get if {A} divides them equally?"},
};
// Forms of sentences with numbers that are irrelevant to the answer.
constexpr std::string_view kAsides[] = {"{A} is {n} years old.", "It is {n} degrees outside.",
                                        "{His} bus has the number {n}.", "{B} also owns {n} {others}.",
                                        "The shop is {n} steps away."};

bool HeldOut(std::string_view what) { return HashOf(what) % kHeldOutIn == 0; }

// Builds a problem from random choices, which may not fit together.
class Story {
 public:
  explicit Story(Random& random) : random_(random) {
    const auto person = random_.Below(std::size(kPeople)), thing = random_.Below(std::size(kThings));
    who_ = kPeople[person];
    // The other person and the other things must differ from the first ones.
    other_ = kPeople[(person + 1 + random_.Below(std::size(kPeople) - 1)) % std::size(kPeople)];
    things_ = kThings[thing];
    others_ = kThings[(thing + 1 + random_.Below(std::size(kThings) - 1)) % std::size(kThings)];
    box_ = random_.Below(std::size(kBoxes));
    place_ = Any(kPlaces);
  }

  // Returns nothing if the choices do not fit: a number is too large, nothing is left, or a division has a remainder.
  std::optional<WordProblem> Tell(int steps) {
    const Form& opening = Any(kOpenings);
    const Form& question = Any(kQuestions);
    const int events = steps - (opening.change != Change::none) - (question.change != Change::none);
    if (events < 0) return {};
    const bool product = opening.change == Change::multiply;
    have_ = product ? Number(2, kTable) : Number(2, 60);
    const int first = have_;
    // The irrelevant sentence follows the sentence with this index. About half of the problems have no such sentence.
    const int aside = Number(0, 2 * events + 1);
    for (int i = 0; i <= events; ++i) {
      if (!Go(i == 0 ? opening : Any(kEvents), i == 0 ? first : 0)) return {};
      if (i == aside) Say(Any(kAsides), Number(2, kLargest), 0);
    }
    if (!Go(question)) return {};
    return WordProblem{.text = fmt::format("{}", fmt::join(sentences_, " ")),
                       .working = fmt::format("{}; answer {}", fmt::join(equations_, "; "), have_),
                       .answer = have_,
                       .steps = steps};
  }

  // Returns true if the problem is in the portion. The portion depends on the pairs that are added or subtracted, and
  // on the sequence of forms.
  bool IsOf(Portion portion) const {
    const bool held_out = portion == Portion::held_out;
    if (HeldOut(forms_) != held_out || (held_out && pairs_.empty())) return false;
    return std::ranges::all_of(pairs_, [&](const std::string& pair) { return HeldOut(pair) == held_out; });
  }

 private:
  int Number(int least, int most) {
    return least + static_cast<int>(random_.Below(static_cast<std::uint64_t>(most - least + 1)));
  }
  template <typename Item, std::size_t size>
  const Item& Any(const Item (&items)[size]) {
    return items[random_.Below(size)];
  }

  void Say(std::string_view form, int n, int m) {
    using fmt::arg;
    const bool woman = who_.woman;
    sentences_.push_back(
        fmt::format(fmt::runtime(form), arg("n", n), arg("m", m), arg("A", who_.name), arg("B", other_.name),
                    arg("he", woman ? "she" : "he"), arg("He", woman ? "She" : "He"), arg("him", woman ? "her" : "him"),
                    arg("his", woman ? "her" : "his"), arg("His", woman ? "Her" : "His"), arg("things", things_),
                    arg("others", others_), arg("box", kBox[box_]), arg("boxes", kBoxes[box_]), arg("place", place_)));
  }

  // Applies a form to the number of things. An opening starts with the number `first`.
  bool Go(const Form& form, int first = 0) {
    int n = 0;
    if (form.change == Change::add) n = have_ < kLargest - 1 ? Number(2, kLargest - have_) : 0;
    if (form.change == Change::subtract) n = have_ > 3 ? Number(2, have_ - 1) : 0;
    if (form.change == Change::multiply) n = Number(2, kTable);
    if (form.change == Change::divide) {
      // Only divisors without a remainder are candidates, so that divisions are not rejected too often.
      std::vector<int> fitting;
      for (int divisor = 2; divisor <= kTable; ++divisor)
        if (have_ % divisor == 0 && have_ / divisor >= 2 && have_ / divisor <= kTable) fitting.push_back(divisor);
      if (!fitting.empty()) n = fitting[random_.Below(fitting.size())];
    }
    if (form.change != Change::none && n == 0) return false;
    Calculate(form.change, n);
    forms_ += form.text;
    first > 0 ? Say(form.text, first, n) : Say(form.text, n, 0);
    return true;
  }

  void Calculate(Change change, int n) {
    const int before = have_;
    switch (change) {
      case Change::none:
        return;
      case Change::add:
        have_ += n;
        pairs_.push_back(fmt::format("{}+{}", std::min(before, n), std::max(before, n)));
        equations_.push_back(fmt::format("{}+{}: {} {}", before, n, Columns(before, n), have_));
        return;
      case Change::subtract:
        have_ -= n;
        pairs_.push_back(fmt::format("{}-{}", before, n));
        equations_.push_back(fmt::format("{}-{}: {} {}", before, n, Columns(before, -n), have_));
        return;
      case Change::multiply:
        have_ *= n;
        equations_.push_back(fmt::format("{}*{}={}", before, n, have_));
        return;
      case Change::divide:
        have_ /= n;
        equations_.push_back(fmt::format("{}/{}={}", before, n, have_));
        return;
    }
  }

  // Returns the column arithmetic: the ones, then the tens with the carry or borrow.
  static std::string Columns(int a, int b) {
    const char sign = b < 0 ? '-' : '+';
    const int tens = a / 10, other_tens = std::abs(b) / 10, ones = a % 10, other_ones = std::abs(b) % 10;
    const bool borrow = b < 0 && ones<other_ones, carry = b> 0 && ones + other_ones > 9;
    const int ones_sum = b < 0 ? ones + (borrow ? 10 : 0) - other_ones : ones + other_ones;
    const int tens_sum = b < 0 ? tens - other_tens - (borrow ? 1 : 0) : tens + other_tens + (carry ? 1 : 0);
    return fmt::format("{}{}{}={} {}{}{}{}={}", ones + (borrow ? 10 : 0), sign, other_ones, ones_sum, tens, sign,
                       other_tens,
                       borrow  ? "-1"
                       : carry ? "+1"
                               : "",
                       tens_sum);
  }

  Random& random_;
  Person who_{}, other_{};
  std::string_view things_, others_, place_;
  std::size_t box_ = 0;
  int have_ = 0;
  std::vector<std::string> sentences_, equations_, pairs_;
  std::string forms_;
};

}  // namespace

WordProblem SampleWordProblem(Random& random, Portion portion) {
  while (true) {
    // The number of steps is fixed before rejection sampling, so that 1, 2 and 3 steps are equally frequent.
    const int steps = 1 + static_cast<int>(random.Below(3));
    while (true) {
      Story story(random);
      const std::optional<WordProblem> problem = story.Tell(steps);
      if (problem && story.IsOf(portion)) return *problem;
    }
  }
}

}  // namespace headlight
