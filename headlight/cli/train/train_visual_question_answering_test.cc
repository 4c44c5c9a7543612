#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/models/lxmert.h"
#include "headlight/models/visual_bert.h"
#include "headlight/pipelines/object_detector.h"
#include "headlight/pipelines/region_answerer.h"
#include "headlight/synthetic/scene_files.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight::train_visual_question_answering_test {
namespace {

using testing::HasSubstr;

// Synthetic scenes of 32 x 32 pixels with questions, and a tokenizer.
struct Setting {
  TemporaryFolder folder;
  std::string train = folder.File("train/questions.en.jsonl"), valid = folder.File("valid/questions.en.jsonl");
  std::string tokenizer = folder.File("tokenizer");
  std::vector<std::string> boxes = {"--boxes", folder.File("train/annotations.json"),
                                    folder.File("valid/annotations.json")};

  Setting() {
    WriteShapeScenes(folder.File("train"), 80, 1, Portion::training, {.side = 32, .most = 2});
    WriteShapeScenes(folder.File("valid"), 20, 2, Portion::held_out, {.side = 32, .most = 2});
    std::filesystem::create_directory(tokenizer);
    std::filesystem::copy(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_bert_uncased.json",
                          tokenizer + "/tokenizer.json");
  }

  Outcome Train(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"train",       "visual-question-answering",
                                          "--train",     train,
                                          "--valid",     valid,
                                          "--out",       folder.File(out),
                                          "--log-every", "1000"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments);
  }
  // Trains a small model from scratch.
  Outcome TrainSmall(const std::string& out, std::vector<std::string> more) const {
    more.insert(more.end(), boxes.begin(), boxes.end());
    for (const char* option : {"--layers", "2", "--model-dim", "16", "--heads", "2", "--region-size", "6",
                               "--batch-size", "32", "--compute", "float32"})
      more.emplace_back(option);
    more.insert(more.end(), {"--tokenizer", tokenizer});
    return Train(out, more);
  }
};

TEST(TrainVisualQuestionAnswering, AModelIsTrainedAndAnswersAndGoesOn) {
  const Setting setting;
  const Outcome trained = setting.TrainSmall("model", {"--epochs", "2"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr(" questions about 80 images to train on"));
  EXPECT_THAT(trained.err, HasSubstr(" questions about 20 images to validate on"));
  EXPECT_THAT(trained.err, testing::ContainsRegex("validation: loss [0-9.]+, perplexity [0-9.]+, accuracy [0-9.]+"));
  EXPECT_THAT(trained.err, HasSubstr("accuracy_how_many"));
  const std::string model = setting.folder.File("model");
  const RegionAnswerer answerer = RegionAnswerer::Load(model);
  const Image image = ReadImage(setting.folder.File("valid/0.png"));
  const std::vector<Box> boxes = {{2, 3, 20, 21}, {40, 40, 50, 50}};
  const std::vector<VisualAnswer> answers = answerer.Answer(image, boxes, "How many circles are there?", 3);
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_GE(answers[0].score, answers[1].score);
  EXPECT_GT(answers[2].score, 0);
  EXPECT_THAT(ErrorOf([&] { answerer.Answer({}, {}, "What is it?"); }), HasSubstr("0 x 0"));
  EXPECT_THAT(ErrorOf([&] { RegionAnswerer::Load(model, {.draft = true}); }), HasSubstr("draft"));

  EXPECT_THAT(RunProgram({"info", model}).out, testing::ContainsRegex("image_layers +2\n"));
  const std::string int8 = setting.folder.File("int8");
  MustRun({"convert", model, "--out", int8, "--compute", "int8"});
  EXPECT_EQ(RegionAnswerer::Load(int8).Answer(image, boxes, "How many circles are there?", 3).size(), 3U);

  // `answer` uses the boxes that a detector finds.
  const std::string detector = HEADLIGHT_SOURCE_DIR "/tests/testdata/detectors/detr";
  const std::string path = setting.folder.File("valid/0.png"), question = "How many circles are there?";
  std::vector<Box> found;
  for (const DetectedObject& one : ObjectDetector::Load(detector).Detect(image)) found.push_back(one.box);
  const VisualAnswer best = answerer.Answer(image, found, question).front();
  const std::string row = fmt::format("{:.3f}\t{}\n", best.score, best.answer);
  const std::vector<std::string> answer = {"answer", model, "--detector", detector};
  const auto with = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), answer.begin(), answer.end());
    return arguments;
  };
  EXPECT_EQ(RunProgram(with({"--question", question, "--image", path})).out, row);
  const std::string line = question + "\t" + path + "\n";
  EXPECT_EQ(RunProgram(answer, line + line).out, row + row);
  const Json object = ParseJson(Lines(RunProgram(with({"--json"}), line + line).out).at(1), "row");
  EXPECT_EQ(*object.Find("answer")->As<std::string>(), best.answer);
  std::vector<std::string> fields;
  for (const Json::Member& member : *object.As<Json::Object>()) fields.push_back(member.name);
  EXPECT_EQ(fields, (std::vector<std::string>{"line", "answer", "score"}));
  EXPECT_THAT(RunProgram(answer, line + question + "\n").err, HasSubstr("line 2: a line is"));
  EXPECT_THAT(RunProgram(answer, question + "\tnone.png\n").err, HasSubstr("line 1: none.png: "));
  EXPECT_THAT(RefusalOf({"answer", model, "--question", question, "--image", path}), HasSubstr("--detector DIR"));
  EXPECT_THAT(RefusalOf(with({"--question", question, "--context", path})), HasSubstr("--context is for"));

  // `look` shows the co-attention with all boxes that the detector finds.
  const std::string page = setting.folder.File("page.html"), drawing = setting.folder.File("page.pdf");
  const std::vector<std::string> look = {"look",       model,    "--image", path, "--question", question,
                                         "--detector", detector, "--layer", "1",  "--out",      page};
  std::vector<std::string> both = look;
  both.insert(both.end(), {"--out", drawing});
  MustRun(both);
  EXPECT_THAT(ReadFile(page), testing::AllOf(HasSubstr("Attention from text to image"), HasSubstr("whole image"),
                                             HasSubstr("Attention from image to text"), HasSubstr("##cle")));
  EXPECT_THAT(ReadFile(drawing), testing::StartsWith("%PDF"));
  const auto refusal = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = look;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RefusalOf(arguments);
  };
  EXPECT_THAT(refusal({"--layer", "2"}), HasSubstr("layer 2: the model has"));
  EXPECT_THAT(refusal({"--patch", "1:1"}), HasSubstr("--patch: the model reads regions"));
  EXPECT_THAT(RefusalOf({"look", model, "--image", path, "--question", question, "--out", page}),
              HasSubstr("with --detector a model"));
  EXPECT_THAT(RefusalOf({"look", detector, "--image", path, "--detector", detector, "--out", page}),
              HasSubstr("--detector is for models that"));

  // `evaluate` reports scores with the given boxes or with a detector's boxes, and baselines without images.
  const auto evaluated = [&](const std::vector<std::string>& how) {
    std::vector<std::string> arguments = {"evaluate", model, setting.valid, "--json"};
    arguments.insert(arguments.end(), how.begin(), how.end());
    const Outcome outcome = RunProgram(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return JsonView(ParseJson(outcome.out, "evaluate"), "evaluate");
  };
  const JsonView score = evaluated({"--boxes", setting.boxes[2]});
  EXPECT_EQ(score["task"].String(), "visual-question-answering");
  EXPECT_EQ(score["images"].Integer(), 20);
  const std::string last = trained.err.substr(trained.err.rfind(", accuracy ") + 11);
  EXPECT_NEAR(score["accuracy"].Number(), std::stod(last), 0.01);
  const double blind = score["question_accuracy"].Number();
  EXPECT_GE(blind, score["kind_accuracy"].Number());
  EXPECT_LE(evaluated({"--boxes", setting.boxes[2], "--train", setting.train})["question_accuracy"].Number(), blind);
  double sum = 0;
  const std::string manual = ReadFile(HEADLIGHT_SOURCE_DIR "/docs/reference/files.md");
  for (const JsonView& kind : score["kinds"].Items()) {
    sum += kind["accuracy"].Number() * static_cast<double>(kind["questions"].Integer());
    for (const char* name : {"kind", "question_accuracy", "kind_accuracy"})
      EXPECT_THAT(manual, HasSubstr("`" + std::string(name) + "`"));
  }
  EXPECT_NEAR(sum / static_cast<double>(score["questions"].Integer()), score["accuracy"].Number(), 1e-6);
  EXPECT_GE(evaluated({"--detector", detector})["accuracy"].Number(), 0);
  EXPECT_THAT(RunProgram({"evaluate", model, setting.valid, "--boxes", setting.boxes[2]}).out,
              testing::ContainsRegex("how many: accuracy [0-9.]+, question accuracy [0-9.]+, kind accuracy [0-9.]+"));
  EXPECT_THAT(RefusalOf({"evaluate", model, setting.valid}), HasSubstr("either --boxes FILE"));
  EXPECT_THAT(RefusalOf({"evaluate", model, "--boxes", setting.boxes[2]}), HasSubstr("FILE, the questions"));
  EXPECT_THAT(RefusalOf({"evaluate", model, setting.valid, "--boxes", setting.boxes[1]}),
              HasSubstr("no file of --boxes has"));
  EXPECT_THAT(RefusalOf({"evaluate", detector, setting.boxes[2], "--boxes", setting.boxes[2]}),
              HasSubstr("--boxes is not for this"));

  // A training run that starts from the model keeps the model's answers.
  std::vector<std::string> more = {"--from", model, "--epochs", "1", "--warmup", "2"};
  more.insert(more.end(), setting.boxes.begin(), setting.boxes.end());
  const Outcome further = setting.Train("further", more);
  EXPECT_EQ(further.exit_code, 0) << further.err;
  EXPECT_THAT(further.err, testing::Not(HasSubstr("is initialized")));
  EXPECT_THAT(setting.TrainSmall("model", {}).err, HasSubstr("holds a training already"));
}

// Checks other model families, with pixels as region features.
TEST(TrainVisualQuestionAnswering, GoesOnFromLxmertAndVisualBert) {
  const Setting setting;
  const BertConfig bert = {.model = 16,
                           .layers = 1,
                           .heads = 2,
                           .ffn = 20,
                           .vocabulary = PipelineTokenizer::Load(setting.tokenizer).size(),
                           .positions = 64,
                           .on_top = {}};
  const auto goes_on = [&](RegionTextEncoder& model, const std::string& name) {
    const std::string from = setting.folder.File(name + "_from"), path = setting.folder.File("valid/0.png");
    model.parameters().Initialize(3);
    std::filesystem::create_directory(from);
    model.Save(from);
    std::filesystem::copy(setting.tokenizer + "/tokenizer.json", from + "/tokenizer.json");
    std::vector<std::string> more = {"--from", from, "--epochs", "1", "--warmup", "2"};
    more.insert(more.end(), setting.boxes.begin(), setting.boxes.end());
    const Outcome trained = setting.Train(name, more);
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
    EXPECT_THAT(trained.err, HasSubstr("no head for answers"));
    const Outcome answered = RunProgram({"answer", setting.folder.File(name), "--detector",
                                         HEADLIGHT_SOURCE_DIR "/tests/testdata/detectors/detr", "--image", path,
                                         "--question", "What is it?"});
    EXPECT_EQ(answered.exit_code, 0) << answered.err;
    EXPECT_THAT(answered.out, testing::MatchesRegex("[01]\\.[0-9]+\t[a-z0-9 ]+\n"));
  };
  LxmertConfig lxmert;
  lxmert.bert = bert;
  lxmert.bert.scope = "lxmert";
  lxmert.image_layers = lxmert.cross_layers = 1;
  lxmert.features = 3 * 6 * 6;
  VisualBertConfig visual_bert;
  visual_bert.bert = bert;
  visual_bert.bert.scope = "visual_bert";
  visual_bert.features = 3 * 6 * 6;
  Lxmert first(lxmert);
  VisualBert second(visual_bert);
  goes_on(first, "lxmert");
  goes_on(second, "visual_bert");
}

TEST(TrainImageText, AModelIsPreTrainedAndThenAnswers) {
  const Setting setting;
  const std::string model = setting.folder.File("pretrained");
  std::vector<std::string> arguments = {"train",         "image-text-pretraining",
                                        "--train",       setting.folder.File("train/captions.en.jsonl"),
                                        "--valid",       setting.folder.File("valid/captions.en.jsonl"),
                                        "--out",         model,
                                        "--tokenizer",   setting.tokenizer,
                                        "--layers",      "2",
                                        "--model-dim",   "16",
                                        "--heads",       "2",
                                        "--region-size", "6",
                                        "--epochs",      "1",
                                        "--log-every",   "1000"};
  arguments.insert(arguments.end(), setting.boxes.begin(), setting.boxes.end());
  const Outcome trained = RunProgram(arguments);
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr(" texts of 80 images to train on"));
  EXPECT_THAT(trained.err, testing::ContainsRegex("accuracy_words [0-9.]+, accuracy_regions [0-9.]+"));
  std::vector<std::string> more = {"--from", model, "--epochs", "1", "--warmup", "2"};
  more.insert(more.end(), setting.boxes.begin(), setting.boxes.end());
  const Outcome further = setting.Train("model", more);
  ASSERT_EQ(further.exit_code, 0) << further.err;
  EXPECT_THAT(further.err, HasSubstr("no head for answers"));
  const Outcome refused =
      RunProgram({"train", "image-text-pretraining", "--train", setting.folder.File("train/captions.en.jsonl"),
                  "--valid", setting.folder.File("valid/captions.en.jsonl"), "--from", model, "--detector",
                  HEADLIGHT_SOURCE_DIR "/tests/testdata/detectors/detr", "--out", setting.folder.File("again")});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("48 classes of boxes"));
}

TEST(TrainVisualQuestionAnswering, NamesAllDamagedImagesOrLeavesThemOut) {
  const Setting setting;
  for (const char* name : {"train/0.png", "train/7.png"}) WriteFile(setting.folder.File(name), "no image");
  const Outcome refused = setting.TrainSmall("model", {"--steps", "1"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, testing::ContainsRegex("train/0.png: .*train/7.png: "));
  const Outcome trained = setting.TrainSmall("model", {"--steps", "1", "--skip-errors"});
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("warning: left out: " + setting.folder.File("train/7.png")));
  EXPECT_THAT(trained.err, HasSubstr(" questions about 78 images to train on"));
  std::vector<std::string> texts = {"train",         "image-text-pretraining",
                                    "--train",       setting.folder.File("train/captions.en.jsonl"),
                                    "--valid",       setting.folder.File("valid/captions.en.jsonl"),
                                    "--out",         setting.folder.File("texts"),
                                    "--tokenizer",   setting.tokenizer,
                                    "--layers",      "2",
                                    "--model-dim",   "16",
                                    "--heads",       "2",
                                    "--region-size", "6",
                                    "--steps",       "1"};
  texts.insert(texts.end(), setting.boxes.begin(), setting.boxes.end());
  EXPECT_THAT(RunProgram(texts).err, testing::ContainsRegex("train/0.png: .*train/7.png: "));
  texts.emplace_back("--skip-errors");
  const Outcome pretrained = RunProgram(texts);
  EXPECT_EQ(pretrained.exit_code, 0) << pretrained.err;
  EXPECT_THAT(pretrained.err, HasSubstr(" texts of 78 images to train on"));
}

TEST(TrainVisualQuestionAnswering, ResumesOnlyWithTheSameData) {
  const Setting setting;
  ASSERT_EQ(setting.TrainSmall("model", {"--epochs", "1"}).exit_code, 0);
  const Outcome resumed = setting.TrainSmall("model", {"--epochs", "2", "--resume"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("resumed after step"));
  // A training run cannot be resumed with other boxes.
  std::string boxes = ReadFile(setting.folder.File("train/annotations.json"));
  const std::size_t at = boxes.find("\"bbox\":[") + 8;
  boxes.insert(at, "1");
  WriteFile(setting.folder.File("train/annotations.json"), boxes);
  EXPECT_THAT(setting.TrainSmall("model", {"--epochs", "3", "--resume"}).err, HasSubstr("another --train"));
}

TEST(TrainVisualQuestionAnswering, RefusesWhatDoesNotFit) {
  const Setting setting;
  const auto refusal = [&](const std::vector<std::string>& more) {
    const Outcome outcome = setting.Train("model", more);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(setting.folder.File("model")));
    return outcome.err;
  };
  EXPECT_THAT(refusal({"--tokenizer", setting.tokenizer}), HasSubstr("either --boxes FILE"));
  EXPECT_THAT(refusal({"--boxes", setting.boxes[1], "--detector", setting.tokenizer, "--tokenizer", setting.tokenizer}),
              HasSubstr("either --boxes FILE"));
  EXPECT_THAT(refusal({"--boxes", setting.boxes[1]}), HasSubstr("either --from DIR"));
  EXPECT_THAT(refusal({"--boxes", setting.boxes[1], "--tokenizer", setting.tokenizer}),
              HasSubstr("valid/0.png: no file of --boxes"));
  EXPECT_THAT(refusal({"--boxes", setting.boxes[1], setting.boxes[1], "--tokenizer", setting.tokenizer}),
              HasSubstr("train/0.png: the files of --boxes"));
  EXPECT_THAT(refusal({"--detector", setting.tokenizer, "--tokenizer", setting.tokenizer}), HasSubstr("config.json"));
  EXPECT_THAT(
      refusal({"--boxes", setting.boxes[1], setting.boxes[2], "--tokenizer", setting.tokenizer, "--positions", "4"}),
      HasSubstr("reads at most 4"));
}

}  // namespace
}  // namespace headlight::train_visual_question_answering_test
