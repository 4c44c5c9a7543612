#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/models/family.h"

namespace headlight::train_texts_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// A folder with a tokenizer and small texts.
struct Setting {
  TemporaryFolder folder;
  std::string tokenizer = folder.File("tokenizer"), texts = folder.File("texts"), classes = folder.File("classes");

  explicit Setting(const char* file) {
    std::filesystem::create_directory(tokenizer);
    std::filesystem::copy(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/" + std::string(file),
                          tokenizer + "/tokenizer.json");
    std::string plain, labeled;
    for (int i = 0; i < 20; ++i) {
      plain += "the dog runs\n\na man and a dog play\n";
      labeled += "the dog runs\tanimal\na man\tplays\thuman\n";
    }
    WriteFile(texts, plain);
    WriteFile(classes, labeled);
  }

  Outcome Train(const char* task, const std::string& data, std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"train",   task, "--train", data,
                                          "--valid", data, "--out",   folder.File("model")};
    for (const char* size :
         {"--layers", "1", "--model-dim", "16", "--heads", "2", "--positions", "16", "--log-every", "1000"})
      arguments.emplace_back(size);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments);
  }
};

// Returns the TensorBoard file of a training run.
std::string ReadEvents(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("events.out")) return ReadFile(entry.path());
  return "";
}

TEST(TrainTexts, ALanguageModelIsTrainedAndGoesOn) {
  const Setting setting("family_gpt2.json");
  for (const char* warmup : {"-1", "0"})
    EXPECT_THAT(
        setting.Train("language-model", setting.texts, {"--tokenizer", setting.tokenizer, "--warmup", warmup}).err,
        HasSubstr("--warmup must be at least"));
  const std::string gguf = HEADLIGHT_SOURCE_DIR "/tests/testdata/gguf/qwen3.gguf";
  EXPECT_THAT(setting.Train("language-model", setting.texts, {"--tokenizer", gguf}).err,
              HasSubstr("qwen3.gguf: is a file, not a folder"));
  EXPECT_THAT(
      setting
          .Train("language-model", setting.texts,
                 {"--tokenizer", setting.tokenizer, "--schedule", "cosine", "--warmup", "5000", "--epochs", "1"})
          .err,
      HasSubstr("--warmup has 5000 steps, and the training only "));
  const Outcome trained = setting.Train(
      "language-model", setting.texts,
      {"--tokenizer", setting.tokenizer, "--epochs", "3", "--batch-tokens", "64", "--compute", "float32"});
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("40 texts"));
  EXPECT_THAT(trained.err, HasSubstr("bits per byte"));
  const Outcome without = RunProgram({"evaluate", setting.folder.File("model"), setting.texts});
  EXPECT_EQ(without.exit_code, 0) << without.err;
  EXPECT_THAT(without.out, HasSubstr(" in 40 texts, their ends not counted\n"));
  // With --end, the loss equals the loss of the last validation.
  const Outcome with = RunProgram({"evaluate", setting.folder.File("model"), setting.texts, "--end", "--json"});
  EXPECT_THAT(trained.err, HasSubstr(fmt::format("loss {:.4f}, perplexity",
                                                 *ParseJson(with.out, "output").Find("loss")->As<double>())));
  EXPECT_GT(LoadModel<LanguageModel>(setting.folder.File("model"))->parameters().count(), 0);
  const Outcome again = setting.Train("language-model", setting.texts, {"--tokenizer", setting.tokenizer});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("holds a training already"));
  // The training can start from the model.
  const Outcome further = RunProgram({"train", "language-model", "--train", setting.texts, "--valid", setting.texts,
                                      "--from", setting.folder.File("model"), "--out", setting.folder.File("further"),
                                      "--epochs", "3", "--warmup", "2", "--batch-tokens", "64"});
  EXPECT_EQ(further.exit_code, 0) << further.err;
}

TEST(TrainTexts, EncodersAreTrainedOnMaskedWordsAndClasses) {
  const Setting setting("family_bert_uncased.json");
  const Outcome words =
      setting.Train("masked-language-model", setting.texts,
                    {"--tokenizer", setting.tokenizer, "--whole-words", "--epochs", "2", "--batch-tokens", "64"});
  EXPECT_EQ(words.exit_code, 0) << words.err;
  EXPECT_THAT(words.err, HasSubstr("accuracy"));
  std::filesystem::remove_all(setting.folder.File("model"));
  const Outcome classes = setting.Train(
      "classification", setting.classes,
      {"--tokenizer", setting.tokenizer, "--epochs", "8", "--batch-tokens", "64", "--class-weights", "balanced"});
  EXPECT_EQ(classes.exit_code, 0) << classes.err;
  EXPECT_THAT(classes.err, HasSubstr("classes:2: 'plays' is read as"));
  EXPECT_THAT(classes.err, HasSubstr(", macro_f1 "));
  EXPECT_THAT(LoadModel<TextEncoder>(setting.folder.File("model"))->heads().labels,
              testing::ElementsAre("animal", "human"));
}

// Trains a masked language model, fine-tunes it for tagging, and then fine-tunes it for question answering.
TEST(TrainTexts, AnEncoderIsGivenTheHeadThatATaskNeeds) {
  const Setting setting("family_bert_uncased.json");
  const auto path = [&](const char* name) { return setting.folder.File(name); };
  const Outcome words = setting.Train("masked-language-model", setting.texts,
                                      {"--tokenizer", setting.tokenizer, "--epochs", "1", "--batch-tokens", "32"});
  EXPECT_EQ(words.exit_code, 0) << words.err;
  std::string conll, stories, texts;
  for (int i = 0; i < 20; ++i) {
    conll += "-DOCSTART- O\n\nthe\tO\ndog\tB-ANIMAL\nruns\tO\n\na\tO\nman\tB-HUMAN\nplays\tO\n\n";
    stories += R"({"question": "who", "context": "the dog runs", "answers": [{"text": "dog", "start": 4}]})"
               "\n"
               R"({"question": "who", "context": "a man plays", "answers": {"text": ["man"], "answer_start": [2]}})"
               "\n";
    texts += R"({"text": "the dog runs", "text_pair": "a man", "label": 1})"
             "\n"
             R"({"text": "a man plays", "label": "human"})"
             "\n";
  }
  WriteFile(path("names.conll"), conll);
  WriteFile(path("stories.jsonl"), stories);
  WriteFile(path("classes.jsonl"), texts);
  const auto train = [&](const char* task, const char* data, const char* from, const char* to) {
    const Outcome trained = RunProgram(
        {"train",           task,     "--train",     path(data), "--valid",        path(data), "--from",   path(from),
         "--out",           path(to), "--epochs",    "16",       "--batch-tokens", "64",       "--warmup", "5",
         "--learning-rate", "1e-2",   "--log-every", "1000"});
    EXPECT_EQ(trained.exit_code, 0) << trained.err;
    return trained.err;
  };
  const std::string tagging = train("tagging", "names.conll", "model", "tagger");
  EXPECT_THAT(tagging, HasSubstr("head for classes of tokens"));
  EXPECT_THAT(tagging, HasSubstr(", f1 100.00, precision 100.00, recall 100.00"));
  for (const char* score : {"f1", "precision", "recall"})
    EXPECT_THAT(ReadEvents(path("tagger")), HasSubstr(std::string("validation/") + score));
  EXPECT_THAT(ReadFile(path("tagger/training.svg")), HasSubstr("height=\"1128"));  // five panels of loss and scores
  EXPECT_THAT(RunProgram({"tag", path("tagger")}, "A dog plays.\n").out, HasSubstr("1\t2\t5\tANIMAL\t"));
  EXPECT_THAT(train("tagging", "names.conll", "tagger", "further"), Not(HasSubstr("initialized")));

  const auto evaluate = [&](const char* model, const char* data) {
    const Outcome outcome = RunProgram({"evaluate", path(model), path(data)});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  EXPECT_THAT(evaluate("tagger", "names.conll"),
              HasSubstr("F1 100.00, precision 100.00, recall 100.00, accuracy 100.00 of 40 sentences\nloss "));
  EXPECT_THAT(evaluate("tagger", "names.conll"),
              HasSubstr("\nANIMAL: precision 100.00, recall 100.00, F1 100.00, of 20\nHUMAN: "));
  EXPECT_THAT(evaluate("model", "texts"),
              testing::ContainsRegex("^accuracy [0-9.]+, bits per mask [0-9.]+ of [0-9]+ masked tokens\nloss "));

  const std::string answering = train("question-answering", "stories.jsonl", "model", "answerer");
  EXPECT_THAT(answering, HasSubstr("no head for answers"));
  EXPECT_THAT(answering, HasSubstr(", f1 100.00, exact_match 100.00"));
  EXPECT_THAT(RunProgram({"answer", path("answerer"), "--always"}, "who\tthe dog runs\n").out,
              HasSubstr("\t4\t7\tdog\n"));
  EXPECT_THAT(evaluate("answerer", "stories.jsonl"), HasSubstr("F1 100.00, exact match 100.00 of 40 questions\n"));
  EXPECT_THAT(train("classification", "classes.jsonl", "answerer", "classifier"), HasSubstr("accuracy 100.00"));
  EXPECT_THAT(evaluate("classifier", "classes.jsonl"),
              HasSubstr("\nhuman: precision 100.00, recall 100.00, F1 100.00, of 20\n"));
  const Outcome json = RunProgram({"evaluate", path("classifier"), path("classes.jsonl"), "--json"});
  EXPECT_THAT(json.out, testing::StartsWith(R"({"task":"classification","accuracy":100.0,"macro_f1":100.0,"loss":0.)"));
  EXPECT_THAT(json.out, HasSubstr(R"("texts":40,"classes":[{"label":"1","precision":100.0,)"));
  EXPECT_THAT(RefusalOf({"evaluate", path("classifier"), path("classes.jsonl"), "--beam-size", "2"}),
              HasSubstr("--beam-size is not for this"));
  EXPECT_THAT(RefusalOf({"evaluate", path("classifier")}), HasSubstr("the texts to evaluate on"));
  EXPECT_THAT(RefusalOf({"evaluate", path("classifier"), path("texts")}), HasSubstr("texts:1: expected a text, a"));
  EXPECT_THAT(LoadModel<TextEncoder>(path("classifier"))->heads().labels, testing::ElementsAre("1", "human"));
}

// Trains a classifier on several labels per text, from files with other column names.
TEST(TrainTexts, AClassifierIsTrainedOnSeveralLabels) {
  const Setting setting("family_bert_uncased.json");
  const std::string records = setting.folder.File("records.jsonl"), rows = setting.folder.File("rows.csv");
  std::string json, csv = "words,kinds\n";
  for (int i = 0; i < 20; ++i) {
    json += R"({"words": "the dog runs", "kinds": ["animal", "moves"]})"
            "\n"
            R"({"words": "a man", "kinds": ["human"]})"
            "\n"
            R"({"words": "the meadow", "kinds": []})"
            "\n";
    csv += "the dog runs,\"moves,animal\"\na man,human\nthe meadow,\n";
  }
  WriteFile(records, json);
  WriteFile(rows, csv);
  const Outcome trained =
      setting.Train("classification", records,
                    {"--tokenizer", setting.tokenizer, "--problem-type", "multi_label_classification", "--text-column",
                     "words", "--label-column", "kinds", "--epochs", "30", "--batch-tokens", "64", "--learning-rate",
                     "1e-2", "--warmup", "5"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const std::string model = setting.folder.File("model");
  EXPECT_THAT(trained.err, HasSubstr("duplicates of an earlier row"));
  EXPECT_THAT(ReadFile(model + "/config.json"), HasSubstr(R"("problem_type": "multi_label_classification")"));
  EXPECT_THAT(LoadModel<TextEncoder>(model)->heads().labels, testing::ElementsAre("animal", "human", "moves"));
  for (const std::string& file : {records, rows}) {
    const Outcome evaluated =
        RunProgram({"evaluate", model, file, "--text-column", "words", "--label-column", "kinds"});
    EXPECT_THAT(evaluated.out, testing::StartsWith("micro F1 100.00, macro F1 100.00 of 60 texts\nloss 0."))
        << evaluated.err;
    EXPECT_THAT(evaluated.out, HasSubstr("\nmoves: precision 100.00, recall 100.00, F1 100.00, of 20\n"));
  }
  EXPECT_THAT(RunProgram({"classify", model}, "the dog runs\n").out,
              testing::ContainsRegex("animal.*moves|moves.*animal"));
  EXPECT_EQ(RunProgram({"classify", model}, "the meadow\n").out, "\n");
  EXPECT_THAT(RefusalOf({"evaluate", model, setting.classes, "--text-column", "words"}),
              HasSubstr("classes: it has no header"));
  EXPECT_THAT(RefusalOf({"evaluate", model, records}), HasSubstr("records.jsonl:1"));
}

TEST(TrainTexts, ARegressionIsTrained) {
  const Setting setting("family_bert_uncased.json");
  const std::string scored = setting.folder.File("scored.tsv"), records = setting.folder.File("scored.jsonl");
  std::string lines, json;
  for (int i = 0; i < 20; ++i) {
    lines += "the dog runs\t2.5\na man\t-1\nthe meadow\t0.25\n";
    json += R"({"text": "the dog runs", "label": 2.5})"
            "\n"
            R"({"text": "a man", "label": -1})"
            "\n"
            R"({"text": "the meadow", "label": "0.25"})"
            "\n";
  }
  WriteFile(scored, lines);
  WriteFile(records, json);
  const std::vector<std::string> how = {
      "--tokenizer", setting.tokenizer, "--problem-type", "regression", "--epochs", "60", "--batch-tokens",
      "64",          "--learning-rate", "1e-2",           "--warmup",   "5"};
  const Outcome trained = setting.Train("classification", scored, how);
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const std::string model = setting.folder.File("model");
  const std::string config = ReadFile(model + "/config.json");
  EXPECT_THAT(config, HasSubstr(R"("problem_type": "regression")"));
  EXPECT_THAT(config, HasSubstr(R"("LABEL_0")"));
  for (const std::string& file : {scored, records}) {
    const Outcome evaluated = RunProgram({"evaluate", model, file, "--json"});
    ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
    const Json scores = ParseJson(evaluated.out, "scores");
    EXPECT_EQ(*scores.Find("task")->As<std::string>(), "classification");
    EXPECT_GT(*scores.Find("pearson")->As<double>(), 0.99);
    EXPECT_NEAR(*scores.Find("spearman")->As<double>(), 1, 1e-6);
    EXPECT_LT(*scores.Find("loss")->As<double>(), 0.05);
  }
  const Json best = ParseJson(RunProgram({"classify", model, "--json"}, "the dog runs\n").out, "row");
  EXPECT_NEAR(*best.Find("classes")->As<Json::Array>()->front().Find("score")->As<double>(), 2.5, 0.5);
  WriteFile(scored, "the dog runs\t2.5\na man\tmany\n");
  EXPECT_THAT(RefusalOf({"evaluate", model, scored}), HasSubstr("scored.tsv:2: 'many' is not a"));
  WriteFile(scored, "the dog runs\t1,2\n");
  EXPECT_THAT(RefusalOf({"evaluate", model, scored}), HasSubstr("scored.tsv:1: 2 numbers, and the"));
  WriteFile(scored, "the dog runs\t1e99\n");
  EXPECT_THAT(RefusalOf({"evaluate", model, scored}), HasSubstr("that a float holds"));

  // A different problem type initializes a new head.
  const Outcome classes = RunProgram({"train", "classification", "--train", setting.classes, "--valid", setting.classes,
                                      "--from", model, "--problem-type", "single_label_classification", "--out",
                                      setting.folder.File("classes_model"), "--epochs", "1", "--batch-tokens", "64"});
  EXPECT_EQ(classes.exit_code, 0) << classes.err;
  EXPECT_THAT(classes.err, HasSubstr("a new one is initialized"));
  EXPECT_THAT(RefusalOf({"train", "classification", "--train", setting.classes, "--valid", setting.classes, "--from",
                         model, "--class-weights", "balanced", "--out", setting.folder.File("other")}),
              HasSubstr("--class-weights are for texts that"));
}

TEST(TrainTexts, OffersNoOptionThatTheTaskDoesNotUse) {
  const Setting setting("family_bert_uncased.json");
  for (const char* task : {"masked-language-model", "classification", "tagging", "question-answering"}) {
    const Outcome outcome =
        setting.Train(task, setting.texts, {"--tokenizer", setting.tokenizer, "--label-smoothing", "0.1"});
    EXPECT_EQ(outcome.exit_code, 2) << task;
    EXPECT_THAT(outcome.err, HasSubstr("--label-smoothing")) << task;
  }
  const Outcome sizes = setting.Train("classification", setting.classes, {"--from", setting.tokenizer});
  EXPECT_EQ(sizes.exit_code, 2);
  EXPECT_THAT(sizes.err, HasSubstr("--from cannot be given"));
}

TEST(TrainTexts, ALanguageModelOfAnotherFamilyIsTrained) {
  const Setting setting("family_gpt2.json");
  const auto train = [&](std::vector<std::string> more) {
    for (const char* one : {"--epochs", "2", "--warmup", "2", "--batch-tokens", "64", "--tokenizer"})
      more.emplace_back(one);
    more.push_back(setting.tokenizer);
    return setting.Train("language-model", setting.texts, more);
  };
  EXPECT_THAT(train({"--family", "llama", "--key-heads", "3"}).err, HasSubstr("--key-heads 3 does not divide"));
  EXPECT_THAT(train({"--family", "llama", "--dropout", "0.1"}).err, HasSubstr("--dropout: a llama only has"));
  EXPECT_THAT(train({"--key-heads", "1"}).err, HasSubstr("--key-heads: a gpt2 has as"));
  EXPECT_THAT(train({"--family", "lama"}).err, HasSubstr("--family must be "));
  EXPECT_THAT(train({"--family", "llama", "--experts-per-token", "1"}).err,
              HasSubstr("--experts-per-token: a llama has no experts"));
  EXPECT_THAT(train({"--family", "mixtral", "--experts", "1"}).err,
              HasSubstr("--experts-per-token 2 is more than --experts 1"));
  EXPECT_EQ(train({"--family", "qwen3_moe", "--experts", "3", "--epochs", "1"}).exit_code, 0);
  EXPECT_EQ(ReadJson(setting.folder.File("model") + "/config.json")["num_local_experts"].Integer(), 3);
  std::filesystem::remove_all(setting.folder.File("model"));
  const Outcome trained = train({"--family", "llama", "--key-heads", "1"});
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
  const JsonView config = ReadJson(setting.folder.File("model") + "/config.json");
  EXPECT_EQ(config["model_type"].String(), "llama");
  EXPECT_EQ(config["num_key_value_heads"].Integer(), 1);
  EXPECT_EQ(config["intermediate_size"].Integer(), 64);  // 8/3 of 16, rounded up to a multiple of 32
  const Outcome written = RunProgram({"generate", setting.folder.File("model"), "the dog", "--max-new-tokens", "3"});
  EXPECT_EQ(written.exit_code, 0) << written.err;
  const Outcome look = RunProgram(
      {"look", setting.folder.File("model"), "--text", "the dog runs", "--out", setting.folder.File("look.html")});
  EXPECT_EQ(look.exit_code, 0) << look.err;
}

TEST(TrainTexts, SaysWhatIsWrongBeforeItBegins) {
  const Setting setting("family_bert_uncased.json");
  const auto refused = [&](const char* task, const std::string& data, std::vector<std::string> more) {
    const Outcome outcome = setting.Train(task, data, std::move(more));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_FALSE(std::filesystem::exists(setting.folder.File("model")));
    return outcome.err;
  };
  EXPECT_THAT(refused("language-model", setting.texts, {}), HasSubstr("--tokenizer"));
  EXPECT_THAT(refused("classification", setting.texts, {"--tokenizer", setting.tokenizer}),
              HasSubstr("texts:1: expected a text, a"));
  EXPECT_THAT(
      refused("masked-language-model", setting.texts, {"--tokenizer", setting.tokenizer, "--mask-share", "1.5"}),
      HasSubstr("--mask-share must be above 0"));
  EXPECT_THAT(refused("tagging", setting.texts, {"--tokenizer", setting.tokenizer}),
              HasSubstr("texts:3: 6 columns, and the"));
  EXPECT_THAT(refused("question-answering", setting.texts, {"--tokenizer", setting.tokenizer}),
              HasSubstr("texts: questions are in"));
  EXPECT_THAT(
      refused("classification", setting.classes, {"--tokenizer", setting.tokenizer, "--class-weights", "dog=2"}),
      HasSubstr("--class-weights: 'dog'"));
  EXPECT_THAT(
      refused("classification", setting.classes, {"--tokenizer", setting.tokenizer, "--steps", "5", "--warmup", "6"}),
      HasSubstr("--warmup 6: the learning rate"));
}

}  // namespace
}  // namespace headlight::train_texts_test
