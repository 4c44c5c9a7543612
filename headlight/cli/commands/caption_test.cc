// Tests commands with captioning models. tools/make_caption_goldens.py describes the model folders.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/decoding/encode.h"
#include "headlight/io/safetensors.h"
#include "headlight/pipelines/image_captioner.h"
#include "headlight/pipelines/image_testing.h"
#include "headlight/pipelines/visual_question_answerer.h"

namespace headlight::caption_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kImages = HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/";
const std::string kFolders = HEADLIGHT_SOURCE_DIR "/tests/testdata/captions/";

struct CaptionCommand : testing::Test {
  CaptionCommand() : photos(folder.File("photos")) {
    std::filesystem::create_directories(photos + "/more");
    std::filesystem::copy(kImages + "rgb.png", photos + "/a.png");
    std::filesystem::copy(kImages + "full_chroma.jpg", photos + "/b.jpg");
    std::filesystem::copy(kImages + "lossy.webp", photos + "/more/c.webp");
  }

  const TemporaryFolder folder;
  const std::string photos;
  const std::string model = kFolders + "vit_gpt2_text", blip = kFolders + "blip_text",
                    answers = kFolders + "blip_answers_text";
  const std::vector<std::string> files = {photos + "/a.png", photos + "/b.jpg", photos + "/more/c.webp"};
};

TEST_F(CaptionCommand, PrintsALineForEachCaption) {
  for (const std::string& of : {model, blip}) {
    const ImageCaptioner captioner = ImageCaptioner::Load(of);
    std::string expected, best;
    for (const std::string& file : files) {
      const Image image = ReadImage(file);
      expected += file + "\t" + captioner.Caption(image).text + "\n";
      const auto several = captioner.Caption({image}, {.prompt = "two", .beam_size = 3, .n_best = 2});
      for (const ImageCaption& caption : several[0]) best += file + "\t" + caption.text + "\n";
    }
    EXPECT_EQ(RunProgram({"caption", of, photos}).out, expected);
    EXPECT_EQ(RunProgram({"caption", of, files[0], photos + "/b*", photos + "/more"}).out, expected);
    EXPECT_EQ(RunProgram({"caption", of, photos, "--prompt", "two", "--beam-size", "3", "--n-best", "2"}).out, best);
    EXPECT_THAT(RunProgram({"caption", of}, ReadFile(files[0])).out, StartsWith("standard input\t"));
  }
}

// Checks that the captions of an image do not depend on the batch, with beam search and with sampling.
TEST_F(CaptionCommand, WritesTheSameAloneAndInABatch) {
  std::string alone;
  for (const std::string& file : files) alone += RunProgram({"caption", model, file, "--beam-size", "4"}).out;
  EXPECT_EQ(RunProgram({"caption", model, photos, "--beam-size", "4"}).out, alone);
  const std::vector<std::string> sampled = {"--temperature", "2", "--n-best", "3", "--seed", "7"};
  const auto sample = [&](std::vector<std::string> inputs) {
    inputs.insert(inputs.begin(), {"caption", model});
    inputs.insert(inputs.end(), sampled.begin(), sampled.end());
    return RunProgram(inputs).out;
  };
  const std::string all = sample(files);
  EXPECT_EQ(Lines(all).size(), 9U);
  EXPECT_EQ(all, sample(files));
  EXPECT_THAT(all, StartsWith(sample({files[0]})));
  EXPECT_THAT(all, StartsWith(sample({files[0], files[1]})));
}

TEST_F(CaptionCommand, PrintsAnObjectForEachCaption) {
  WriteFile(photos + "/bad.png", "no image");
  EXPECT_THAT(RunProgram({"caption", model, photos}).err, HasSubstr("/bad.png: "));
  const Outcome outcome = RunProgram({"caption", model, photos, "--json", "--skip-errors", "--max-length", "2"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("1 of 4 images"));
  const std::vector<std::string> rows = Lines(outcome.out);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_THAT(rows[2], StartsWith(R"({"image":")" + photos + R"(/bad.png","error":)"));
  const ImageCaption caption = ImageCaptioner::Load(model).Caption(ReadImage(files[1]), {.max_length = 2});
  EXPECT_EQ(
      rows[1],
      Json(Json::Object{
               {"image", files[1]}, {"text", caption.text}, {"score", caption.score}, {"complete", caption.complete}})
          .Line());
  EXPECT_THAT(ReadFile(HEADLIGHT_SOURCE_DIR "/docs/reference/files.md"),
              HasSubstr("| `caption` | `image`, `text`, `score`"));
}

TEST_F(CaptionCommand, RefusesWhatCannotBe) {
  const auto refusal = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"caption", model, files[0]};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RefusalOf(arguments);
  };
  EXPECT_THAT(refusal({"--beam-size", "2", "--n-best", "3"}), HasSubstr("--n-best must be from 1"));
  EXPECT_THAT(refusal({"--max-length", "41"}), HasSubstr("40 positions"));
  EXPECT_THAT(refusal({"--length-penalty", "2", "--beam-size", "1"}), HasSubstr("--length-penalty is for"));
  EXPECT_THAT(refusal({"--seed", "2", "--no-sample"}), HasSubstr("seed"));
  EXPECT_THAT(refusal({"--prompt", "\xff"}), HasSubstr("the prompt"));
  EXPECT_THAT(RefusalOf({"caption", model, photos + "/none.png"}), HasSubstr("none.png"));
  EXPECT_THAT(RefusalOf({"caption", answers, files[0]}), HasSubstr("writes captions"));
  const TemporaryFolder vit;
  SaveTinyVit(vit.path());
  EXPECT_THAT(RefusalOf({"caption", vit.path(), files[0]}), HasSubstr("vision-encoder-decoder"));
  EXPECT_THAT(RefusalOf({"classify", model, files[0]}), HasSubstr("vision-encoder-decoder"));
}

TEST_F(CaptionCommand, AnswersQuestionsAboutImages) {
  const VisualQuestionAnswerer answerer = VisualQuestionAnswerer::Load(answers);
  const auto answer = [&](const std::string& file, const std::string& question) {
    return answerer.Answer(ReadImage(file), question);
  };
  EXPECT_EQ(RunProgram({"answer", answers, "--image", files[0], "--question", "Two men?"}).out,
            answer(files[0], "Two men?").answer + "\n");
  EXPECT_EQ(RunProgram({"answer", answers, "--image", "-", "--question", "Two men?"}, ReadFile(files[0])).out,
            answer(files[0], "Two men?").answer + "\n");
  const std::string lines = "Two men?\t" + files[0] + "\nWho runs?\t" + files[1] + "\nWho runs?\t" + files[0] + "\n";
  std::string expected;
  for (const auto& [file, question] :
       {std::pair(0, "Two men?"), std::pair(1, "Who runs?"), std::pair(0, "Who runs?")}) {
    const VisualAnswer own = answer(files[static_cast<std::size_t>(file)], question);
    expected +=
        Json(Json::Object{{"line", std::ssize(Lines(expected)) + 1}, {"answer", own.answer}, {"score", own.score}})
            .Line() +
        "\n";
  }
  EXPECT_EQ(RunProgram({"answer", answers, "--json"}, lines).out, expected);

  const Outcome skipped = RunProgram({"answer", answers, "--json", "--skip-errors"},
                                     "Two men?\nTwo men?\t" + photos + "/none.png\n\t" + files[0] + "\n" + lines);
  EXPECT_EQ(skipped.exit_code, 0) << skipped.err;
  const std::vector<std::string> rows = Lines(skipped.out);
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_THAT(rows[0], AllOf(StartsWith(R"({"line":1,"error":")"), HasSubstr("a tab between them")));
  EXPECT_THAT(rows[1], AllOf(StartsWith(R"({"line":2,"error":")"), HasSubstr("none.png")));
  EXPECT_THAT(rows[2], AllOf(StartsWith(R"({"line":3,"error":")"), HasSubstr("no words")));
}

TEST_F(CaptionCommand, AnswersRefuseWhatCannotBe) {
  const std::string text = folder.File("text");
  WriteFile(text, "Two men.\n");
  EXPECT_THAT(RefusalOf({"answer", answers, "--question", "a"}), HasSubstr("--question needs --context or --image"));
  EXPECT_THAT(RefusalOf({"answer", answers, "--question", "a", "--context", text}), HasSubstr("--context is for"));
  EXPECT_THAT(RefusalOf({"answer", answers, "--question", "a", "--image", files[0], "--always"}),
              HasSubstr("--always is for"));
  EXPECT_THAT(RefusalOf({"answer", answers, "--question", "a", "--image", files[0], "--top-k", "2"}),
              HasSubstr("--top-k is for"));
  EXPECT_THAT(RefusalOf({"answer", answers, "--question", "a", "--image", files[0], "--no-align-words"}),
              HasSubstr("--no-align-words is for"));
  EXPECT_THAT(RefusalOf({"answer", answers, "--question", "", "--image", files[0]}), HasSubstr("no words"));
  EXPECT_THAT(RefusalOf({"answer", answers, "--question", "a", "--image", files[0], "--max-length", "41"}),
              HasSubstr("at most 40 tokens"));
  EXPECT_THAT(RefusalOf({"answer", model, "--question", "a", "--image", files[0]}), HasSubstr("answers questions"));
  const std::string finds = HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/answer";
  EXPECT_THAT(RefusalOf({"answer", finds, "--question", "a", "--image", files[0]}),
              HasSubstr("for models that read images"));
}

TEST_F(CaptionCommand, ShowsWhereWordsLook) {
  const std::string page = folder.File("page.html"), drawing = folder.File("drawing.svg");
  for (const std::string& of : {model, blip}) {
    const Outcome shown = RunProgram({"look", of, "--image", files[0], "--out", page, "--out", drawing, "--out",
                                      folder.File("a.png"), "--out", folder.File("a.pdf")});
    EXPECT_THAT(shown.err, AllOf(HasSubstr("page.html shows 4 attentions of 5 source"),
                                 HasSubstr("drawing.svg shows 2 attentions of 5 source")));
    EXPECT_THAT(ReadFile(page), HasSubstr("\"boxes\":[]"));
    const std::string words = ReadFile(drawing);
    EXPECT_THAT(
        RunProgram({"look", of, "--image", files[0], "--target", "two men", "--layer", "2", "--out", drawing}).err,
        HasSubstr("shows 1 attention of"));
    MustRun({"look", of, "--image", files[0], "--patch", "1:2", "--out", drawing});
    EXPECT_LT(ReadFile(drawing).size(), words.size() / 2);  // one page, instead of one page for each word
  }
  EXPECT_THAT(
      RunProgram({"look", answers, "--image", files[0], "--question", "two men", "--out", page, "--out", drawing}).err,
      HasSubstr("drawing.svg shows 2 attentions of 5 source and 5 target tokens"));

  const auto refusal = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "look");
    arguments.insert(arguments.end(), {"--out", page});
    return RefusalOf(arguments);
  };
  EXPECT_THAT(refusal({model, "--source", "a"}), HasSubstr("give it with --image"));
  EXPECT_THAT(refusal({model, "--image", files[0], "--question", "a"}), HasSubstr("answers questions"));
  EXPECT_THAT(refusal({answers, "--image", files[0]}), HasSubstr("writes captions"));
  EXPECT_THAT(refusal({answers, "--image", files[0], "--question", "a", "--target", "b"}),
              HasSubstr("and a --question has none"));
  EXPECT_THAT(refusal({model, "--image", files[0], "--attention", "decoder"}), HasSubstr("decoder"));
  EXPECT_THAT(refusal({model, "--image", files[0], "--patch", "3:1"}), HasSubstr("--patch must be"));
  EXPECT_THAT(refusal({model, "--target", "a"}), HasSubstr("--target needs --source or --image"));
  const TemporaryFolder vit;
  SaveTinyVit(vit.path());
  EXPECT_THAT(refusal({vit.path(), "--image", files[0], "--target", "a"}), HasSubstr("--target is for"));
  EXPECT_THAT(refusal({vit.path(), "--image", files[0], "--question", "a"}), HasSubstr("--question is for"));
}

// Transposes [images, height, width, channels] to [images, channels, height, width].
Tensor ChannelsFirst(const Tensor& pixels) {
  const Shape& shape = pixels.shape();
  const Tensor result = Tensor::Empty({shape[0], shape[3], shape[1], shape[2]});
  const std::int64_t cells = shape[1] * shape[2];
  for (std::int64_t i = 0; i < pixels.elements(); ++i) {
    const std::int64_t channel = i % shape[3], cell = i / shape[3] % cells, image = i / shape[3] / cells;
    result.data<float>()[(image * shape[3] + channel) * cells + cell] = pixels.data<float>()[i];
  }
  return result;
}

// Checks that the loss of the model's own captions is lower than the loss of other captions.
TEST_F(CaptionCommand, AreEvaluated) {
  const std::string pairs = folder.File("pairs.tsv");
  const auto evaluated = [&](const std::string& of, const std::string& text) {
    WriteFile(pairs, "photos/a.png\t" + text + "\nphotos/a.png\tmen\n");
    const Outcome outcome = RunProgram({"evaluate", of, pairs, "--json"});
    return ParseJson(outcome.out, outcome.err);
  };
  for (const std::string& of : {model, blip}) {
    const Json own =
        evaluated(of, ImageCaptioner::Load(of).Caption(ReadImage(files[0]), {.beam_size = 1, .max_length = 8}).text);
    EXPECT_EQ(*own.Find("task")->As<std::string>(), "captions");
    EXPECT_EQ(*own.Find("images")->As<std::int64_t>(), 1);
    EXPECT_EQ(*own.Find("captions")->As<std::int64_t>(), 2);
    EXPECT_GT(*own.Find("bleu")->As<double>(), 40);
    EXPECT_EQ(*own.Find("exact")->As<double>(), 0);  // with random weights, captions do not end
    const Json other = evaluated(of, "two men sleep over two dogs with two men");
    EXPECT_LT(*other.Find("bleu")->As<double>(), 10);
    EXPECT_GT(*other.Find("loss")->As<double>(), *own.Find("loss")->As<double>());
  }
  EXPECT_THAT(RefusalOf({"evaluate", answers, pairs}), HasSubstr("captions"));
  WriteFile(pairs, "photos/a.png\t\n");
  EXPECT_THAT(RefusalOf({"evaluate", model, pairs}), HasSubstr("pairs.tsv:1"));
}

TEST_F(CaptionCommand, RunsTheModelOnTensors) {
  const std::string in = folder.File("in.safetensors"), out = folder.File("out.safetensors");
  for (const std::string name : {"vit_gpt2", "blip", "blip_answers", "blip_matching", "blip_vectors"}) {
    const Safetensors golden(kFolders + name + "/golden.safetensors");
    std::vector<Tensor> values = {ChannelsFirst(golden.Read("pixel_values"))};
    std::vector<StoredTensor> inputs = {Stored("pixel_values", values.front())};
    for (const char* input : {"input_ids", "attention_mask", "decoder_input_ids", "decoder_attention_mask"})
      if (golden.contains(input)) inputs.push_back(golden.At(input)), inputs.back().name = input;
    WriteSafetensors(in, inputs);
    MustRun({"forward", kFolders + name, in, "--out", out});
    const Safetensors result(out);
    const auto compare = [&](const char* theirs, const char* ours) {
      if (!golden.contains(theirs)) return;
      const std::vector<float> expected = golden.Read(theirs).ToVector<float>(),
                               actual = result.Read(ours).ToVector<float>();
      ASSERT_EQ(actual.size(), expected.size()) << name << " " << ours;
      float scale = 0;
      for (const float value : expected) scale = std::max(scale, std::abs(value));
      std::size_t compared = 0;
      for (std::size_t i = 0; i < actual.size(); ++i) {
        if (actual[i] == 0) continue;  // outputs at padding are 0
        EXPECT_NEAR(actual[i], expected[i], 1e-4 * scale) << name << " " << ours;
        ++compared;
      }
      EXPECT_GT(compared, actual.size() / 8) << name << " " << ours;
    };
    if (name == std::string("vit_gpt2") || name == std::string("blip")) {  // models without embeddings
      const std::vector<float> logits = result.Read("logits").ToVector<float>();
      std::vector<StoredTensor> renamed;
      for (StoredTensor input : inputs) {
        if (input.name.starts_with("decoder_")) input.name = input.name.substr(8);
        renamed.push_back(input);
      }
      const std::string other = in + ".renamed";
      WriteSafetensors(other, renamed);
      MustRun({"forward", kFolders + name, other, "--out", out + ".renamed"});
      EXPECT_EQ(Safetensors(out + ".renamed").Read("logits").ToVector<float>(), logits) << name;
    }
    compare("image_hidden", "encoder_last_hidden_state");
    compare("image_attentions.0", "encoder_attentions.0");
    compare("logits", "logits");
    compare("cross_attentions.1", "cross_attentions.1");
    compare("decoder_attentions.1", "decoder_attentions.1");
    compare("read_hidden", "last_hidden_state");
    compare("read_cross_attentions.1", "text_cross_attentions.1");
    compare("match_logits", "itm_score");
    EXPECT_EQ(result.contains("text_embeds"), name == "blip_matching" || name == "blip_vectors");
    compare("logits_per_image", "logits_per_image");
    EXPECT_EQ(result.contains("logits_per_text"), name == "blip_vectors");  // blip_matching has no logit scale
    if (name == "blip_vectors") {
      const Tensor of_images = result.Read("logits_per_image"), of_texts = result.Read("logits_per_text");
      ASSERT_EQ(of_texts.shape(), (Shape{3, 3}));
      for (std::int64_t i = 0; i < 9; ++i)
        EXPECT_NEAR(of_texts.data<float>()[i], of_images.data<float>()[i % 3 * 3 + i / 3], 1e-6F);
    }
    if (name == "vit_gpt2") {
      inputs.erase(inputs.begin() + 1, inputs.end());
      WriteSafetensors(in, inputs);
      MustRun({"forward", kFolders + name, in, "--out", out});
      EXPECT_FALSE(Safetensors(out).contains("logits"));
    }
  }
  EXPECT_THAT(RefusalOf({"forward", kFolders + "blip", in, "--out", in}), HasSubstr("this command reads the same"));
}

TEST_F(CaptionCommand, AreDescribedAndConverted) {
  const Outcome info = RunProgram({"info", model, "--json"});
  EXPECT_THAT(info.out,
              AllOf(HasSubstr(R"("family":"vision-encoder-decoder")"), HasSubstr(R"("uses":["captions"])"),
                    HasSubstr(R"("image_layers":2)"), HasSubstr(R"("text_layers":2)"), HasSubstr(R"("vocabulary":)")))
      << info.err;
  EXPECT_THAT(RunProgram({"info", answers}).out, HasSubstr("uses              answers\n"));
  for (const std::string& of : {model, blip, answers})
    for (const char* type : {"int8", "int4"}) {
      const std::string to = folder.File(type);
      MustRun({"convert", of, "--out", to, "--overwrite", "--compute", type});
      const std::vector<std::string> use =
          of == answers ? std::vector<std::string>{"answer", to, "--image", files[0], "--question", "Two men?"}
                        : std::vector<std::string>{"caption", to, files[0]};
      const Outcome converted = RunProgram(use);
      EXPECT_EQ(converted.exit_code, 0) << converted.err;
      std::vector<std::string> asked = use;
      asked[1] = of;
      asked.insert(asked.end(), {"--compute", type});
      EXPECT_EQ(RunProgram(asked).out, converted.out);
    }
}

}  // namespace
}  // namespace headlight::caption_test
