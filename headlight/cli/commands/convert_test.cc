#include <gmock/gmock.h>

#include <filesystem>
#include <numeric>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/io/model_folder.h"
#include "headlight/kinds/caption_model.h"
#include "headlight/kinds/detection_model.h"
#include "headlight/kinds/dual_encoder.h"
#include "headlight/kinds/folding_model.h"
#include "headlight/kinds/image_coder.h"
#include "headlight/kinds/image_encoder.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/kinds/text_to_image_model.h"
#include "headlight/models/family.h"
#include "headlight/models/imagegpt.h"
#include "headlight/models/vqgan.h"

namespace headlight::convert_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kData = HEADLIGHT_SOURCE_DIR "/tests/testdata/";

struct ConvertTest : ProgramTest {
  const std::string out = folder.File("int8");
};

TEST_F(ConvertTest, TranslatesAsTheModelDoesInThatType) {
  const Outcome outcome = RunProgram({"convert", model, "--out", out, "--compute", "int8"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  const std::string input = "Ein Hund läuft.\nZwei Kinder spielen.\n";
  const std::string expected = RunProgram({"translate", model, "--compute", "int8"}, input).out;
  EXPECT_NE(expected, "");
  EXPECT_EQ(RunProgram({"translate", out}, input).out, expected);
  EXPECT_EQ(RunProgram({"translate", out, "--compute", "int8"}, input).out, expected);
  EXPECT_EQ(RunProgram({"translate", out, "--compute", "float32"}, input).exit_code, 0);
  EXPECT_LT(ReadFile(out + "/model.safetensors").size(), ReadFile(model + "/model.safetensors").size());
  EXPECT_EQ(ReadFile(out + "/tokenizer.json"), ReadFile(model + "/tokenizer.json"));
  EXPECT_THAT(RunProgram({"info", out}).out, HasSubstr("int8"));
  // An existing model is replaced only with --overwrite.
  EXPECT_THAT(RefusalOf({"convert", model, "--out", out, "--compute", "int4"}),
              HasSubstr("exists already; --overwrite replaces"));
  EXPECT_EQ(RunProgram({"translate", out}, input).out, expected);
  EXPECT_EQ(RunProgram({"convert", model, "--out", out, "--overwrite", "--compute", "int8"}).exit_code, 0);
  EXPECT_EQ(RunProgram({"convert", model, "--out", out, "--overwrite", "--compute", "int4"}).exit_code, 0);
  EXPECT_EQ(RunProgram({"translate", out}, input).out,
            RunProgram({"translate", model, "--compute", "int4"}, input).out);
  EXPECT_THAT(RunProgram({"info", out}).out, HasSubstr("int4"));
}

TEST_F(ConvertTest, ReadsWeightsInSeveralFilesAndReportsTheirSum) {
  const std::string one = RunProgram({"convert", model, "--out", folder.File("from_one"), "--compute", "int8"}).err;
  {
    const Safetensors weights(model + "/model.safetensors");
    std::vector<StoredTensor> parts[2];
    Json::Object map;
    for (const auto& [name, tensor] : weights.tensors()) {
      const std::size_t part = map.size() % 2;
      map.push_back({name, fmt::format("model-{}.safetensors", part)});
      parts[part].push_back(tensor);
    }
    for (const std::size_t part : {0, 1})
      WriteSafetensors(fmt::format("{}/model-{}.safetensors", model, part), parts[part]);
    WriteFile(model + "/model.safetensors.index.json", Json(Json::Object{{"weight_map", std::move(map)}}).Text());
  }
  std::filesystem::remove(model + "/model.safetensors");
  const Outcome outcome = RunProgram({"convert", model, "--out", out, "--compute", "int8"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err.substr(out.size()), one.substr(folder.File("from_one").size()));
  EXPECT_EQ(ReadFile(out + "/model.safetensors"), ReadFile(folder.File("from_one/model.safetensors")));
}

TEST_F(ConvertTest, NeverOverwritesOtherFiles) {
  EXPECT_THAT(RefusalOf({"convert", model, "--out", model, "--compute", "int8"}), HasSubstr("must not be the folder"));
  EXPECT_THAT(RefusalOf({"convert", model, "--out", folder.path(), "--overwrite", "--compute", "int8"}),
              HasSubstr("is not part of a"));
  EXPECT_THAT(RefusalOf({"convert", model, "--out", out, "--compute", "bfloat16"}), HasSubstr("--compute"));
  EXPECT_THAT(RefusalOf({"convert", folder.File("nothing"), "--out", out, "--compute", "int8"}),
              HasSubstr("no such folder"));
  EXPECT_EQ(RunProgram({"translate", model}, "Hund\n").exit_code, 0);
}

TEST_F(ConvertTest, WritesPublishedWeightsAsAFolderOfTheFamily) {
  const std::string published = HEADLIGHT_SOURCE_DIR "/tests/testdata/alphafold/published/",
                    npz = published + "params_model_3_ptm.npz";
  const Outcome outcome = RunProgram({"convert", npz, "--out", out, "--overwrite", "--compute", "float32"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Safetensors made(out + "/model.safetensors"), wanted(published + "openfold/model.safetensors");
  EXPECT_EQ(made.tensors().size(), wanted.tensors().size());
  for (const auto& [name, tensor] : wanted.tensors())
    EXPECT_EQ(made.Read(name).ToVector<float>(), wanted.Read(name).ToVector<float>()) << name;
  const auto fold = [&](const std::string& from) {
    EXPECT_EQ(RunProgram({"fold", from, "--sequence", "MKV", "--out", folder.File("a.pdb")}).exit_code, 0);
    return ReadFile(folder.File("a.pdb"));
  };
  EXPECT_EQ(fold(npz), fold(out));
  EXPECT_THAT(RefusalOf({"convert", folder.File("no.npz"), "--out", out, "--overwrite", "--compute", "float32"}),
              HasSubstr("no.npz: no such file"));
}

TEST_F(ConvertTest, Float32UndoesNothingButTheTypeOfInt8) {
  const std::string again = folder.File("again");
  ASSERT_EQ(RunProgram({"convert", model, "--out", out, "--compute", "int8"}).exit_code, 0);
  const Outcome outcome = RunProgram({"convert", out, "--out", again, "--compute", "float32"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(ReadFile(again + "/config.json").find("quantization_config"), std::string::npos);
  EXPECT_EQ(RunProgram({"translate", again}, "Hund\n").exit_code, 0);
}

TEST_F(ConvertTest, WritesGgufFiles) {
  const std::string decoder = kData + "decoders/llama_grouped_tied", file = folder.File("a.gguf"),
                    again = folder.File("b.gguf");
  const Outcome outcome = RunProgram({"convert", decoder, "--out", file, "--type", "q8_0"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("a.gguf: tensors: "));
  EXPECT_THAT(RunProgram({"info", file}).out, HasSubstr("llama"));  // the file has no tokenizer
  EXPECT_THAT(RefusalOf({"convert", kData + "decoders/opt", "--out", again}), HasSubstr("no architecture in GGUF"));
  EXPECT_EQ(RunProgram({"convert", file, "--out", again}).exit_code, 0);
  EXPECT_EQ(ReadFile(again), ReadFile(file));
  EXPECT_THAT(RefusalOf({"convert", decoder, "--out", file}), HasSubstr("--overwrite"));
  EXPECT_THAT(RefusalOf({"convert", file, "--out", again, "--overwrite", "--importance", file}), HasSubstr("--type"));
  EXPECT_THAT(RefusalOf({"convert", file, "--out", folder.File("c"), "--type", "Q8_0"}), HasSubstr("NAME.gguf"));
  EXPECT_THAT(RefusalOf({"train", "language-model", "--from", file, "--train", file, "--valid", file, "--out",
                         folder.File("tuned")}),
              HasSubstr("cannot be trained"));
  EXPECT_THAT(RefusalOf({"convert", file, "--out", file, "--overwrite"}), HasSubstr("--out"));
  EXPECT_THAT(RefusalOf({"convert", model, "--out", again, "--overwrite"}), HasSubstr("'marian'"));
  EXPECT_EQ(ReadFile(again), ReadFile(file));
}

// Returns all folders of weights in the test data: all families, with all heads. AlphaFold in int8 has a separate test.
std::vector<std::string> Folders() {
  std::vector<std::string> folders;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kData))
    if (entry.path().filename() == "model.safetensors" &&
        entry.path().string().find("/alphafold/") == std::string::npos)
      folders.push_back(entry.path().parent_path());
  std::ranges::sort(folders);
  return folders;
}

struct ConvertedFolder : testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(All, ConvertedFolder, testing::ValuesIn(Folders()), [](const auto& test) {
  return fmt::format("{}_{}", fs::path(test.param).parent_path().filename().string(),
                     fs::path(test.param).filename().string());
});

void Append(std::vector<float>& numbers, const Tensor& more) {
  const std::vector<float> values = more.ToVector<float>();
  numbers.insert(numbers.end(), values.begin(), values.end());
}

Tensor SomeImage(const Grid& size, std::int64_t channels) {
  std::vector<float> pixels;
  for (std::int64_t i = 0; i < size.cells() * channels; ++i) pixels.push_back(static_cast<float>(i * i % 23) / 10 - 1);
  return Tensor::From(std::span<const float>(pixels), {size.height, size.width, channels});
}

std::vector<float> OutputsOf(const Model& model) {
  const std::vector<std::int32_t> ids = {5, 9, 3, 2}, targets = {2, 7, 11};
  const Sequences text = {{0, 4}}, target = {{0, 3}};
  Context context;
  std::vector<float> outputs;
  if (const auto* encoder = dynamic_cast<const TextEncoder*>(&model)) {
    const Tensor hidden = encoder->Encode(context, ids, {}, text);
    const TextHeadsConfig& heads = encoder->heads();
    Append(outputs, hidden);
    if (heads.pooler) Append(outputs, encoder->Pool(context, hidden, text));
    if (heads.masked_words) Append(outputs, encoder->MaskedTokenLogits(context, hidden));
    if (heads.sequence_classes) Append(outputs, encoder->SequenceClassLogits(context, hidden, text));
    if (heads.token_classes) Append(outputs, encoder->TokenClassLogits(context, hidden));
    if (heads.question_spans) Append(outputs, encoder->SpanLogits(context, hidden));
  } else if (const auto* pair = dynamic_cast<const EncoderDecoder*>(&model)) {
    const Tensor memory = pair->Encode(context, ids, text);
    Append(outputs, pair->Logits(context, pair->Decode(context, targets, target, {memory, text})));
  } else if (const auto* images = dynamic_cast<const ImageEncoder*>(&model)) {
    const ImageEncoder::Limits& limits = images->limits();
    const Tensor image = SomeImage(limits.image, limits.channels);
    const EncodedImages encoded = images->Encode(context, {&image, 1});
    Append(outputs, encoded.hidden);
    if (!images->labels().empty()) Append(outputs, images->ClassLogits(context, encoded));
  } else if (const auto* detector = dynamic_cast<const DetectionModel*>(&model)) {
    const Tensor image = SomeImage({40, 33}, detector->limits().channels);
    const DetectedImages found = detector->Detect(context, {&image, 1});
    Append(outputs, found.memory);
    Append(outputs, found.layers.back().logits);
    Append(outputs, found.layers.back().boxes);
  } else if (const auto* towers = dynamic_cast<const DualEncoder*>(&model)) {
    const DualEncoder::Limits& limits = towers->limits();
    if (limits.has_texts()) {
      std::vector<std::int32_t> words = ids;
      words.resize(std::max<std::size_t>(words.size(), static_cast<std::size_t>(limits.filled)), 1);
      Append(outputs, towers->TextVectors(context, words, {{0, static_cast<std::int32_t>(words.size())}}));
    }
    const Tensor image = limits.has_images() ? SomeImage(limits.images.image, 3) : Tensor();
    if (limits.has_images()) Append(outputs, towers->ImageVectors(context, {&image, 1}));
  } else if (const auto* captions = dynamic_cast<const CaptionModel*>(&model)) {
    const ImageEncoder::Limits& limits = captions->image_limits();
    const Tensor image = SomeImage(limits.image, limits.channels);
    const EncodedImages encoded = captions->EncodeImages(context, {&image, 1});
    Append(outputs, encoded.hidden);
    const CaptionModel::Uses& uses = captions->uses();
    const Memory memory = captions->MemoryOf(context, encoded);
    if (uses.captions) Append(outputs, captions->Logits(context, captions->Decode(context, targets, target, memory)));
    if (uses.answers || uses.matches) Append(outputs, captions->ReadTexts(context, ids, text, &memory));
    if (uses.vectors) Append(outputs, captions->ImageVectors(context, encoded));
  } else if (const auto* regions = dynamic_cast<const RegionTextEncoder*>(&model)) {
    const RegionTextEncoder::Limits& limits = regions->limits();
    const Grid features = {2, limits.features}, boxes = {2, limits.box_numbers};
    const Regions seen = limits.patch.cells() > 0
                             ? PatchRegions(std::vector{SomeImage({2 * limits.patch.height, limits.patch.width}, 3)},
                                            limits.patch, limits.channels)
                             : Regions{SomeImage(features, 1).ViewAs({2, limits.features}),
                                       SomeImage(boxes, 1).ViewAs({2, limits.box_numbers}),
                                       {{0, 2}}};
    const EncodedPairs pairs = regions->Encode(
        context, ids, {}, text, seen, limits.tasks > 0 ? std::vector<std::int32_t>{0} : std::vector<std::int32_t>{});
    Append(outputs, pairs.text);
    Append(outputs, pairs.regions);
  } else if (const auto* coder = dynamic_cast<const ImageCoder*>(&model)) {
    const Grid size = {coder->limits().image, coder->limits().image}, grid = coder->limits().grid();
    std::vector<std::int32_t> codes(static_cast<std::size_t>(grid.cells()));
    std::iota(codes.begin(), codes.end(), 0);
    for (std::int32_t& code : codes) code %= static_cast<std::int32_t>(coder->limits().codes);
    if (dynamic_cast<const Vqgan*>(&model) == nullptr) {  // a Vqgan has no encoder
      const Tensor scores = coder->Encode(context, {SomeImage(size, 3).ViewAs({size.cells(), 3}), {size}}).rows;
      Append(outputs, scores);
      codes = LikeliestCodes(*coder, scores);
    }
    Append(outputs, coder->Decode(context, WeightsOf(*coder, codes, {grid})).rows);
  } else if (const auto* folds = dynamic_cast<const FoldingModel*>(&model)) {
    FoldingFeatures features;
    features.types = ids;
    features.positions = {0, 1, 2, 3};
    const FoldingOutputs folded = folds->Pass(context, features, nullptr);
    Append(outputs, folded.pair);
    Append(outputs, folded.lddt);
  } else if (const auto* drawer = dynamic_cast<const TextToImageModel*>(&model)) {
    const std::vector<std::int32_t> prompt = drawer->Prompt(std::vector<std::int32_t>{3, 4});
    Append(outputs,
           drawer->Logits(context, drawer->Decode(context, prompt, {{0, static_cast<std::int32_t>(prompt.size())}})));
  } else {
    const auto& words = dynamic_cast<const LanguageModel&>(model);
    const Tensor hidden = words.Decode(context, ids, text);
    if (words.outputs() > 0) Append(outputs, words.Logits(context, hidden));
    if (const auto* colors = dynamic_cast<const ImageGpt*>(&model); colors != nullptr && colors->config().classes)
      Append(outputs, colors->ClassLogits(context, hidden, text));
  }
  return outputs;
}

TEST_P(ConvertedFolder, ComputesAsTheFolderDoesInThatType) {
  const TemporaryFolder temporary;
  const std::string out = temporary.File("out");
  const std::unique_ptr<Model> model = LoadModel(GetParam());
  for (const Compute compute : {Compute::int8, Compute::int4}) {
    SaveModelFolder(out, [&](const std::string& folder) {
      model->Save(folder, compute);
      CopyBesideModel(GetParam(), folder);
    });
    const auto loaded = [&](const std::string& folder, std::optional<Compute> as) {
      return OutputsOf(*LoadModel(folder, {.compute = as, .purpose = LoadFor::computing}));
    };
    const std::vector<float> expected = loaded(GetParam(), compute);
    EXPECT_EQ(loaded(out, {}), expected) << Name(compute);
    EXPECT_NE(expected, loaded(GetParam(), {})) << Name(compute);
    // Large matrices must not stay float32. Exceptions are embeddings of positions, types and tasks, and the structure
    // module.
    const ModelFolder files = OpenModelFolder(out);
    const auto is_of_places = [](const std::string& name) {
      const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
      return has("position") || has("type") || has("task_embeddings") || has("wpe") || has("rel_embeddings") ||
             has("structure_module");
    };
    for (const auto& [name, tensor] : files.weights.tensors()) {
      const bool large = tensor.shape.rank() == 2 && tensor.shape[0] > 16;
      EXPECT_TRUE(tensor.type != StoredType::f32 || !large || is_of_places(name)) << name;
    }
  }
  for (const char* file : {"tokenizer.json", "generation_config.json", "modules.json", "1_Pooling/config.json"})
    EXPECT_EQ(fs::exists(out + "/" + file), fs::exists(GetParam() + "/" + file)) << file;
  const Json converted = ReadJson(out + "/config.json").value();
  for (const auto& [key, value] : ReadJson(GetParam() + "/config.json").Members())
    EXPECT_TRUE(converted.Find(key) != nullptr || key == "torch_dtype" || key.ends_with("label") ||
                key.starts_with("label"))
        << key;
}

// Checks that a command prints the same output with --compute int8 and with a folder that was converted to int8.
struct ConvertCommandTest : ConvertTest {
  void ExpectSame(const std::string& from, std::vector<std::string> command, const std::string& input) {
    const Outcome converted = RunProgram({"convert", from, "--out", out, "--overwrite", "--compute", "int8"});
    ASSERT_EQ(converted.exit_code, 0) << converted.err;
    command.insert(command.begin() + 1, from);
    std::vector<std::string> with_type = command;
    with_type.insert(with_type.end(), {"--compute", "int8"});
    const Outcome expected = RunProgram(with_type, input);
    ASSERT_EQ(expected.exit_code, 0) << expected.err;
    EXPECT_NE(expected.out, "");
    command[1] = out;
    EXPECT_EQ(RunProgram(command, input).out, expected.out) << from << ' ' << command[0];
  }
};

TEST_F(ConvertCommandTest, EveryTaskAnswersAsBefore) {
  const std::string text = "Two small dogs.\nA man runs.\n";
  ExpectSame(kData + "bert/sentences", {"embed"}, text);
  ExpectSame(kData + "encoders/classify", {"classify", "--json"}, text);
  ExpectSame(kData + "encoders/tag", {"tag", "--json"}, text);
  ExpectSame(kData + "encoders/answer", {"answer", "--json"}, "dogs?\tTwo men, two dogs.\n");
  ExpectSame(kData + "encoders/fill_mask", {"fill-mask", "--json"}, "A small <mask> runs.\n");
  for (const char* family : {"t5_text", "bart_text", "mbart_text"})
    ExpectSame(kData + "encoder_decoders/" + family, {"translate", "--n-best", "2"}, text);
  const std::string gpt = folder.File("gpt");
  fs::create_directory(gpt);
  SaveTinyGpt(gpt);
  ExpectSame(gpt, {"generate", "--json"}, text);
  // If generation_config.json is missing, the generation settings are in config.json.
  fs::remove(model + "/generation_config.json");
  Json config = ReadJson(model + "/config.json").value();
  config.Set("num_beams", 1);
  config.Set("max_length", 7);
  WriteFile(model + "/config.json", config.Text());
  ExpectSame(model, {"translate"}, "Ein Hund.\n");
}

TEST_F(ConvertCommandTest, SentencesKeepPoolingPromptAndLength) {
  const std::string sentences = folder.File("sentences");
  fs::copy(kData + "bert/sentences", sentences, fs::copy_options::recursive);
  const std::string text = "Two small dogs.\nA man runs.\n";
  for (const char* mode :
       {"mean_tokens", "cls_token", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken"}) {
    WriteFile(sentences + "/1_Pooling/config.json", fmt::format(R"({{"pooling_mode_{}": true}})", mode));
    ExpectSame(sentences, {"embed"}, text);
  }
  WriteFile(sentences + "/config_sentence_transformers.json",
            R"({"prompts": {"query": "A dog: "}, "default_prompt_name": "query"})");
  fs::create_directory(sentences + "/2_Normalize");
  ExpectSame(sentences, {"embed"}, text);
  const std::string longer = "Two dogs, two men, two dogs, two men, two dogs, two dogs.\n";
  EXPECT_THAT(RefusalOf({"embed", out}, longer), HasSubstr("reads at most 20"));
  ExpectSame(sentences, {"embed", "--truncate"}, longer);
  fs::rename(sentences + "/sentence_bert_config.json", sentences + "/sentence_distilbert_config.json");
  ExpectSame(sentences, {"embed", "--truncate"}, longer);
}

TEST_F(ConvertTest, NamesTheSettingsThatGgufLeavesOut) {
  const std::string sentences = folder.File("sentences"), file = folder.File("a.gguf");
  fs::copy(kData + "bert/sentences", sentences, fs::copy_options::recursive);
  WriteFile(sentences + "/config_sentence_transformers.json",
            R"({"prompts": {"query": "A dog: ", "document": ""}, "similarity_fn_name": "dot"})");
  const Outcome all = RunProgram({"convert", sentences, "--out", file});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.err, HasSubstr("the normalization of vectors, the prompts, the longest text of 20 tokens, the "
                                 "similarity dot"));
  WriteFile(sentences + "/config_sentence_transformers.json", R"({"prompts": {"query": ""}})");
  WriteFile(sentences + "/sentence_bert_config.json", R"({"max_seq_length": 512})");
  WriteFile(sentences + "/modules.json", R"([{"type": "x.Transformer", "path": ""},
                                             {"type": "x.Pooling", "path": "1_Pooling"}])");
  const Outcome none = RunProgram({"convert", sentences, "--out", file, "--overwrite"});
  EXPECT_EQ(none.exit_code, 0) << none.err;
  EXPECT_EQ(none.err.find("left out"), std::string::npos) << none.err;
}

TEST_F(ConvertTest, SaysAndStoresWhatItQuantized) {
  const std::string from = kData + "bert/sentences";
  EXPECT_THAT(
      RunProgram({"convert", from, "--out", out, "--overwrite", "--compute", "int8"}).err,
      testing::MatchesRegex(".*: 1[0-9] matrices and tables in int8, [0-9]+ other tensors in float32; 0.0 MB of "
                            "weights, where .*/sentences has 0.0\n"));
  const JsonView stored = ReadJson(out + "/config.json")["quantization_config"];
  EXPECT_EQ(stored["bits"].Integer(), 8);
  EXPECT_THAT(stored["tensors"].Strings(), testing::Contains("embeddings.word_embeddings.weight"));
  EXPECT_EQ(OpenModelFolder(out).weights.At("embeddings.word_embeddings.weight").type, StoredType::i8);
  EXPECT_THAT(RunProgram({"convert", from, "--out", out, "--overwrite", "--compute", "int4"}).err,
              HasSubstr("in int4, 1 table in int8"));
}

}  // namespace
}  // namespace headlight::convert_test
