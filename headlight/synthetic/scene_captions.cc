#include "headlight/synthetic/scene_captions.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {

std::string Say(const SceneCaption& caption, SceneLanguage language) {
  const bool english = language == SceneLanguage::english;
  std::string text;
  for (std::size_t i = 0; i < caption.size(); ++i) {
    if (i > 0) text += i + 1 < caption.size() ? ", " : english ? " and " : " und ";
    const SceneStatement& statement = caption[i];
    text += MentionPhrase(statement.subject, Article::indefinite, language);
    if (!statement.relation) continue;
    text += fmt::format(" {} ", RelationWords(*statement.relation, language));
    text += MentionPhrase(statement.object, Article::indefinite, language, TakesDative(*statement.relation));
  }
  return text;
}

SceneCaption ParseCaption(std::string_view text, SceneLanguage language) {
  SceneWords words(text);
  SceneCaption caption;
  do {
    SceneStatement& statement = caption.emplace_back();
    statement.subject = words.TakeMention(language);
    statement.relation = words.TakeRelation(language);
    if (statement.relation) statement.object = words.TakeMention(language);
  } while (words.Take(",") || words.Take(language == SceneLanguage::english ? "and" : "und"));
  words.Take(".");
  if (!words.at_end()) words.FailHere(language == SceneLanguage::english ? "a comma or \"and\"" : "a comma or \"und\"");
  return caption;
}

bool Fits(const SceneMention& mention, const SceneShape& shape) {
  const auto fits = [](const std::optional<std::int32_t>& said, std::int32_t is) { return said.value_or(is) == is; };
  return fits(mention.size, shape.size) && fits(mention.color, shape.color) && fits(mention.kind, shape.kind) &&
         fits(mention.place, shape.place);
}

bool Holds(SceneRelation relation, const SceneContent& scene, std::size_t a, std::size_t b) {
  const SceneShape &first = scene.shapes[a], &second = scene.shapes[b];
  switch (relation) {
    case SceneRelation::left_of:
      return first.column() < second.column();
    case SceneRelation::above:
      return first.row() < second.row();
    case SceneRelation::larger_than:
      return first.size > second.size;
    case SceneRelation::before:
      return scene.hides[a][b];
    default:
      return Holds(Opposite(relation), scene, b, a);
  }
}

namespace {

using Shapes = unsigned;  // a set of a scene's shapes, one bit per shape

// Returns the sets of shapes that a mention can refer to.
std::vector<Shapes> Candidates(const SceneMention& mention, const SceneContent& scene) {
  std::vector<Shapes> candidates;
  Shapes all = 0;
  for (std::size_t i = 0; i < scene.shapes.size(); ++i) {
    if (!Fits(mention, scene.shapes[i])) continue;
    all |= 1U << i;
    if (mention.count == 1) candidates.push_back(1U << i);
  }
  if (mention.count > 1 && std::popcount(all) == mention.count) candidates.push_back(all);
  return candidates;
}

bool HoldsForAll(SceneRelation relation, const SceneContent& scene, Shapes subjects, Shapes objects) {
  for (std::size_t a = 0; a < scene.shapes.size(); ++a)
    for (std::size_t b = 0; b < scene.shapes.size(); ++b)
      if ((subjects >> a & 1U) != 0 && (objects >> b & 1U) != 0 && !Holds(relation, scene, a, b)) return false;
  return true;
}

// Returns true if the statements can be assigned to distinct shapes outside `taken` for which they are true.
bool HoldOfOthers(std::span<const SceneStatement> statements, const SceneContent& scene, Shapes taken) {
  if (statements.empty()) return true;
  const SceneStatement& first = statements.front();
  for (const Shapes subjects : Candidates(first.subject, scene)) {
    if ((subjects & taken) != 0) continue;
    if (!first.relation) {
      if (HoldOfOthers(statements.subspan(1), scene, taken | subjects)) return true;
      continue;
    }
    for (const Shapes objects : Candidates(first.object, scene))
      if ((objects & (taken | subjects)) == 0 && HoldsForAll(*first.relation, scene, subjects, objects) &&
          HoldOfOthers(statements.subspan(1), scene, taken | subjects | objects))
        return true;
  }
  return false;
}

}  // namespace

bool IsTrue(const SceneCaption& caption, const SceneContent& scene) { return HoldOfOthers(caption, scene, 0); }

SceneCaption FullCaption(const SceneContent& scene) {
  std::vector<SceneShape> shapes = scene.shapes;
  std::ranges::sort(shapes, {}, &SceneShape::place);
  SceneCaption caption;
  for (const SceneShape& shape : shapes)
    caption.push_back(
        {.subject = {.size = shape.size, .color = shape.color, .kind = shape.kind, .place = shape.place}});
  return caption;
}

namespace {

bool OneIn(Random& random, std::uint64_t count) { return random.Below(count) == 0; }

template <typename T>
void Shuffle(Random& random, std::vector<T>& items) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.Below(i)]);
}

// Merges equal mentions and counts them.
SceneCaption Counted(const std::vector<SceneMention>& mentions) {
  SceneCaption caption;
  for (const SceneMention& mention : mentions) {
    const auto same = std::ranges::find_if(caption, [&](const SceneStatement& statement) {
      SceneMention one = statement.subject;
      one.count = 1;
      return one == mention;
    });
    if (same == caption.end())
      caption.push_back({.subject = mention});
    else
      ++same->subject.count;
  }
  return caption;
}

SceneMention RandomMention(Random& random, const SceneShape& shape, bool with_place) {
  SceneMention mention = {.kind = shape.kind};
  if (OneIn(random, 2)) mention.size = shape.size;
  if (!OneIn(random, 4)) mention.color = shape.color;
  if (with_place && OneIn(random, 2)) mention.place = shape.place;
  return mention;
}

// Returns a statement with a true relation of shapes `a` and `b`, or nothing if there is none.
std::optional<SceneStatement> RandomRelation(Random& random, const SceneContent& scene, std::size_t a, std::size_t b) {
  std::vector<SceneRelation> true_ones;
  for (std::int32_t i = 0; i < kSceneRelations; ++i)
    if (Holds(static_cast<SceneRelation>(i), scene, a, b)) true_ones.push_back(static_cast<SceneRelation>(i));
  if (true_ones.empty()) return std::nullopt;
  return SceneStatement{.subject = RandomMention(random, scene.shapes[a], false),
                        .relation = true_ones[random.Below(true_ones.size())],
                        .object = RandomMention(random, scene.shapes[b], false)};
}

}  // namespace

SceneCaption RandomCaption(Random& random, const SceneContent& scene) {
  std::vector<std::size_t> order(scene.shapes.size());
  std::iota(order.begin(), order.end(), 0);
  Shuffle(random, order);
  const std::uint64_t form = random.Below(5);
  SceneCaption caption;
  std::vector<SceneMention> mentions;
  std::size_t told = 0;
  if (form < 2 && order.size() > 1)
    if (const auto relation = RandomRelation(random, scene, order[0], order[1])) {
      caption.push_back(*relation);
      told = OneIn(random, 2) ? order.size() : 2;  // half of these captions describe only two shapes
    }
  if (form == 4) {  // counts shapes of a kind or of a color
    const bool kinds = OneIn(random, 2);
    for (const std::size_t i : order) {
      const SceneShape& shape = scene.shapes[i];
      mentions.push_back(kinds ? SceneMention{.kind = shape.kind} : SceneMention{.color = shape.color});
    }
  } else {
    for (; told < order.size(); ++told) mentions.push_back(RandomMention(random, scene.shapes[order[told]], true));
  }
  for (SceneStatement& statement : Counted(mentions)) caption.push_back(std::move(statement));
  // "Two circles" is false if there is a third circle, even if it is described separately by its color.
  return IsTrue(caption, scene) ? caption : FullCaption(scene);
}

namespace {

// Returns the captions that differ in one attribute, number or relation, grouped by the changed element.
std::vector<std::vector<SceneCaption>> Changes(const SceneCaption& caption) {
  std::vector<std::vector<SceneCaption>> groups;
  // Calls change(copy) with every other value of a member.
  const auto add = [&](auto&& member, std::int32_t least, std::int32_t most) {
    SceneCaption changed = caption;
    auto& value = member(changed);
    const auto was = value;
    groups.emplace_back();
    for (std::int32_t other = least; other <= most; ++other)
      if (value = other; value != was) groups.back().push_back(changed);
  };
  for (std::size_t i = 0; i < caption.size(); ++i) {
    for (const bool object : {false, true}) {
      if (object && !caption[i].relation) continue;
      const auto mention = [&](SceneCaption& in) -> SceneMention& { return object ? in[i].object : in[i].subject; };
      const SceneMention& said = object ? caption[i].object : caption[i].subject;
      const auto attribute = [&](std::optional<std::int32_t> SceneMention::*which, std::int32_t count) {
        if (said.*which)
          add(
              [&](SceneCaption & in) -> auto& { return mention(in).*which; }, 0, count - 1);
      };
      attribute(&SceneMention::size, kSceneSizes);
      attribute(&SceneMention::color, kSceneColors);
      attribute(&SceneMention::kind, kSceneKinds);
      attribute(&SceneMention::place, kScenePlaces);
      if (said.count > 1)
        add(
            [&](SceneCaption & in) -> auto& { return mention(in).count; }, std::max(2, said.count - 1), said.count + 1);
    }
    if (!caption[i].relation) continue;
    SceneCaption changed = caption;
    changed[i].relation = Opposite(*caption[i].relation);
    groups.push_back({changed});
  }
  return groups;
}

}  // namespace

SceneCaption HardNegative(Random& random, const SceneCaption& caption, const SceneContent& scene) {
  Check(IsTrue(caption, scene), "a hard negative is made from a true caption, but '{}' is false",
        Say(caption, SceneLanguage::english));
  std::vector<std::vector<SceneCaption>> groups = Changes(caption);
  for (auto& group : groups) std::erase_if(group, [&](const SceneCaption& changed) { return IsTrue(changed, scene); });
  std::erase_if(groups, [](const auto& group) { return group.empty(); });
  Ensure(!groups.empty(), "no change makes '{}' false", Say(caption, SceneLanguage::english));
  const std::vector<SceneCaption>& group = groups[random.Below(groups.size())];
  return group[random.Below(group.size())];
}

}  // namespace headlight
