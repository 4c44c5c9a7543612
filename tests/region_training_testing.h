// Provides synthetic scenes with questions and captions to train vision-language models.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/parallel.h"
#include "headlight/base/random.h"
#include "headlight/image/box_regions.h"
#include "headlight/synthetic/scene_questions.h"
#include "headlight/train/objectives/image_text_pretraining.h"
#include "headlight/train/objectives/visual_question_answering.h"
#include "headlight/train/trainer.h"
#include "tests/training_testing.h"

namespace headlight {

// A vocabulary with one token per word, and a special first token before each text.
class WordIds {
 public:
  static constexpr std::int32_t kFirst = 1, kMask = 2;

  std::vector<std::int32_t> Of(const std::string& text) {
    std::vector<std::int32_t> ids = {kFirst};
    std::string word;
    for (const char c : text + " ") {
      if (c != ' ' && c != '?' && c != ',') {
        word += c;
        continue;
      }
      if (!word.empty()) ids.push_back(ids_.emplace(std::exchange(word, ""), size()).first->second);
    }
    return ids;
  }
  std::int32_t size() const { return 3 + static_cast<std::int32_t>(ids_.size()); }

 private:
  std::map<std::string, std::int32_t> ids_;
};

inline ImageRegions RegionsOfScene(const ShapeScene& scene, std::int64_t side) {
  std::vector<Box> boxes;
  ImageRegions regions;
  regions.classes = {-1};
  for (const LabeledBox& one : scene.boxes) {
    boxes.push_back(one.box);
    regions.classes.push_back(one.label);
  }
  BoxRegions made = RegionsOfBoxes(scene.image, boxes, side);
  regions.features = std::move(made.features);
  regions.boxes = std::move(made.places);
  return regions;
}

inline std::vector<ShapeScene> DrawScenes(std::uint64_t seed, std::int64_t count, Portion portion,
                                          const ShapeSceneOptions& options) {
  std::vector<ShapeScene> scenes(static_cast<std::size_t>(count));
  ParallelFor(count, [&](std::int64_t i) {
    scenes[static_cast<std::size_t>(i)] = DrawShapeScene(seed, static_cast<std::uint64_t>(i), portion, options);
  });
  return scenes;
}

// One English question of each kind about each scene.
struct SceneQuestions {
  VisualQuestions set;
  std::vector<std::string> questions, answers;  // questions and answers as text

  void Add(std::uint64_t seed, std::int64_t count, Portion portion, const ShapeSceneOptions& options, std::int64_t side,
           WordIds& words) {
    const std::vector<std::string> known = SceneAnswers(SceneLanguage::english);
    for (std::int32_t kind = 0; kind < kQuestionKinds; ++kind)
      set.kinds.push_back(NameOf(static_cast<QuestionKind>(kind)));
    Random random(seed + 100);
    for (const ShapeScene& scene : DrawScenes(seed, count, portion, options)) {
      for (std::int32_t kind = 0; kind < kQuestionKinds; ++kind) {
        const auto asked = AskAbout(random, scene, static_cast<QuestionKind>(kind), SceneLanguage::english);
        if (!asked) continue;
        const std::vector<std::int32_t> ids = words.Of(asked->question);
        set.questions.push_back(
            {.ids = ids,
             .types = std::vector<std::int32_t>(ids.size()),
             .image = set.images.size(),
             .answer = static_cast<std::int32_t>(std::ranges::find(known, asked->answer) - known.begin()),
             .kind = static_cast<std::size_t>(kind)});
        questions.push_back(asked->question);
        answers.push_back(asked->answer);
      }
      set.images.push_back(RegionsOfScene(scene, side));
    }
  }
};

// Returns the accuracy, in per cent, of answering each question with the most frequent answer to the same question. If
// the question is new, the most frequent answer to questions with the same first two words is used.
inline double QuestionOnlyAccuracy(const SceneQuestions& train, const SceneQuestions& valid) {
  const auto begin = [](const std::string& question) {
    return question.substr(0, question.find(' ', question.find(' ') + 1));
  };
  std::map<std::string, std::map<std::string, int>> counts;
  for (std::size_t i = 0; i < train.questions.size(); ++i)
    for (const std::string& key : {train.questions[i], begin(train.questions[i])}) ++counts[key][train.answers[i]];
  std::int64_t right = 0;
  for (std::size_t i = 0; i < valid.questions.size(); ++i) {
    auto found = counts.find(valid.questions[i]);
    if (found == counts.end()) found = counts.find(begin(valid.questions[i]));
    if (found == counts.end()) continue;
    const auto most = std::ranges::max_element(found->second, {}, [](const auto& entry) { return entry.second; });
    right += most->first == valid.answers[i] ? 1 : 0;
  }
  return 100.0 * static_cast<double>(right) / static_cast<double>(valid.questions.size());
}

// Adds the full caption and a random caption of each scene.
inline void AddCaptions(std::uint64_t seed, std::int64_t count, Portion portion, const ShapeSceneOptions& options,
                        std::int64_t side, WordIds& words, ImageTextPairs& pairs) {
  Random random(seed + 100);
  for (const ShapeScene& scene : DrawScenes(seed, count, portion, options)) {
    for (const SceneCaption& caption : {FullCaption(scene), RandomCaption(random, scene)}) {
      ImageText pair;
      pair.image = pairs.images.size();
      pair.text.ids = words.Of(Say(caption, SceneLanguage::english));
      pair.text.types.resize(pair.text.ids.size());
      for (std::size_t i = 0; i < pair.text.ids.size(); ++i)
        pair.text.words.push_back(static_cast<std::int32_t>(i) - 1);  // the first token is not a word
      pairs.pairs.push_back(std::move(pair));
    }
    pairs.images.push_back(RegionsOfScene(scene, side));
  }
}

inline ValidationReport LastReport(const TrainingTask& task, std::int64_t epochs, double rate,
                                   const std::string& checkpoint) {
  TrainingOptions options;
  const std::int64_t steps = epochs * task.batches({})().batches_in_epoch;
  options.schedule = {.kind = ScheduleKind::cosine, .warmup = steps / 10 + 1, .peak = rate, .total = steps};
  options.adam.clip_norm = 1;
  options.epochs = epochs;
  options.log_every = 0;
  return LastReport(task, options, checkpoint);
}

}  // namespace headlight
