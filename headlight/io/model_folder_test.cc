#include "headlight/io/model_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "headlight/base/test_support.h"

namespace headlight::model_folder_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Writes a model with the same number in all its files, so that a mixture of two models is detected.
void FillModel(const std::string& folder, int number) {
  const Tensor weight = Tensor::Empty({1000});
  weight.Fill(number);
  WriteFile(folder + "/config.json", Json(Json::Object{{"model_type", "marian"}, {"number", number}}).Text());
  WriteSafetensors(folder + "/model.safetensors", {Stored("weight", weight)});
}
void SaveModel(const std::string& path, int number) {
  SaveModelFolder(path, [&](const std::string& folder) { FillModel(folder, number); });
}
int LoadModel(const std::string& path) {
  const ModelFolder model = OpenModelFolder(path);
  const auto number = static_cast<int>(model.config["number"].Integer());
  for (const float value : model.weights.Read("weight").ToVector<float>()) EXPECT_EQ(value, static_cast<float>(number));
  return number;
}

TEST(ModelFolder, IsSavedAndOpened) {
  const TemporaryFolder folder;
  const std::string path = folder.File("new/model");
  SaveModel(path, 1);
  EXPECT_EQ(LoadModel(path), 1);
  SaveModel(path, 2);
  EXPECT_EQ(LoadModel(path + "/"), 2);

  EXPECT_EQ(OpenModelFolder(path).generation_config.Get("num_beams", 4).Integer(), 4);
  WriteFile(path + "/generation_config.json", R"({"num_beams": 6})");
  const ModelFolder model = OpenModelFolder(path);
  EXPECT_EQ(model.generation_config.Get("num_beams", 4).Integer(), 6);
  EXPECT_EQ(model.File("source.spm"), path + "/source.spm");
}

TEST(ModelFolder, NamesMissingAndUnsupportedFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.File("model");
  const auto error = [&] { return ErrorOf([&] { OpenModelFolder(path); }); };
  EXPECT_THAT(error(), HasSubstr("model: no such folder"));
  WriteFile(path, "");
  EXPECT_THAT(error(), HasSubstr("model: is a file"));
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_THAT(error(), HasSubstr("there is no config.json"));
  for (const std::string name : {"a", "b", "c\n", "d"}) WriteFile(path + "/" + name, "");
  EXPECT_THAT(error(), HasSubstr("'a', 'b', 'c\\x0a' and more"));

  WriteFile(path + "/config.json", "{}");
  EXPECT_THAT(error(), HasSubstr("config.json: key 'model_type'"));
  WriteFile(path + "/config.json", "");
  EXPECT_THAT(error(), HasSubstr("config.json: byte 1"));
  WriteFile(path + "/config.json", "[]");
  EXPECT_THAT(error(), HasSubstr("config.json: expected an object"));
  fs::remove(path + "/config.json");
  fs::create_directory(path + "/config.json");
  EXPECT_THAT(error(), HasSubstr("config.json: is a folder"));
  fs::remove(path + "/config.json");
  WriteFile(path + "/config.json", R"({"model_type": "marian"})");
  EXPECT_THAT(error(), HasSubstr("neither model.safetensors nor pytorch_model.bin"));

  const std::pair<std::string, std::string> weights[] = {
      {"pytorch_model.bin", "pytorch_model.bin: neither"},
      {"pytorch_model.bin.index.json", "pytorch_model.bin.index.json: byte 1"},
      {"model.ckpt", "model.ckpt: weights in this format"},
      {"finetuning_ptm_2.pt", "rename a file of torch.save to pytorch_model.bin"},
      {"model.gguf", "model.gguf: weights in this format"},
      {"model.safetensors.index.json", "model.safetensors.index.json: byte 1"}};
  for (const auto& [name, message] : weights) {
    WriteFile(path + "/" + name, "");
    EXPECT_THAT(error(), HasSubstr(message));
    fs::remove(path + "/" + name);
  }

  WriteFile(path + "/model.safetensors", "PK\3\4 a zip file");
  EXPECT_THAT(error(), HasSubstr("model.safetensors: a header of"));
  FillModel(path, 3);
  EXPECT_EQ(error(), "");
  WriteFile(path + "/generation_config.json", "{");
  EXPECT_THAT(error(), HasSubstr("generation_config.json: byte 1"));
}

// Writes weights in two files, with one tensor of each supported type.
void FillSharded(const std::string& folder) {
  static const std::vector<float> floats = {1.5F, -2};
  static const std::vector<std::uint16_t> half = {0x3E00, 0xC000}, bfloat = {0x3FC0, 0xC000};
  const auto stored = [](const char* name, StoredType type, const auto& values) {
    return StoredTensor{name, type, {2}, std::as_bytes(std::span(values))};
  };
  WriteFile(folder + "/config.json", R"({"model_type": "t5"})");
  WriteSafetensors(folder + "/model-00001-of-00002.safetensors",
                   {stored("a", StoredType::f32, floats), stored("b", StoredType::f16, half)});
  WriteSafetensors(folder + "/model-00002-of-00002.safetensors", {stored("c", StoredType::bf16, bfloat)});
  WriteFile(folder + "/model.safetensors.index.json",
            R"({"metadata": {"total_size": 16}, "weight_map": {"a": "model-00001-of-00002.safetensors",
                "b": "model-00001-of-00002.safetensors", "c": "model-00002-of-00002.safetensors"}})");
}

TEST(ModelFolder, JoinsWeightsOfSeveralFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.File("model"), to = folder.File("to");
  SaveModelFolder(path, FillSharded);
  {
    const ModelFolder model = OpenModelFolder(path);
    EXPECT_EQ(model.weights.path(), path + "/model.safetensors.index.json");
    EXPECT_EQ(model.weights.tensors().size(), 3u);
    for (const char* name : {"a", "b", "c"})
      EXPECT_THAT(model.weights.Read(name).ToVector<float>(), testing::ElementsAre(1.5F, -2)) << name;
    EXPECT_THAT(ErrorOf([&] { model.weights.Read("d"); }), HasSubstr("index.json: there is no tensor 'd'"));
    EXPECT_THAT(ErrorOf([&] { model.weights.Read("c", DType::int32); }),
                HasSubstr("/model-00002-of-00002.safetensors: tensor 'c': holds BF16"));
  }
  // The index may list files with any names.
  for (const char* name : {"shortlist.safetensors", "spiece.model", "metrics.jsonl"}) WriteFile(path + "/" + name, "");
  fs::rename(path + "/model-00002-of-00002.safetensors", path + "/rest.safetensors");
  const std::string index = ReadFile(path + "/model.safetensors.index.json");
  WriteFile(path + "/model.safetensors.index.json",
            fmt::format("{}{}", index.substr(0, index.rfind("model-")), "rest.safetensors\"}}"));
  EXPECT_EQ(OpenModelFolder(path).weights.tensors().size(), 3u);
  fs::create_directory(to);
  WriteFile(to + "/config.json", R"({"model_type": "t5"})");
  CopyBesideModel(path, to);
  EXPECT_EQ(std::distance(fs::directory_iterator(to), {}), 3);
  EXPECT_TRUE(fs::exists(to + "/shortlist.safetensors") && fs::exists(to + "/spiece.model"));
  EXPECT_EQ(ErrorOf([&] { CheckReplaceable(path); }), "");
  // A single file takes precedence over an index.
  FillModel(path, 4);
  EXPECT_EQ(LoadModel(path), 4);
  SaveModel(path, 5);
  EXPECT_FALSE(fs::exists(path + "/model.safetensors.index.json"));
}

// Checks files written by tools/make_torch_goldens.py.
TEST(ModelFolder, ReadsWeightsOfPyTorch) {
  const TemporaryFolder folder;
  const std::string path = folder.File("model"), data = HEADLIGHT_SOURCE_DIR "/headlight/io/testdata/";
  fs::create_directory(path);
  WriteFile(path + "/config.json", R"({"model_type": "bert", "number": 3})");
  fs::copy_file(data + "archive.bin", path + "/pytorch_model.bin");
  const ModelFolder model = OpenModelFolder(path);
  EXPECT_EQ(model.weights.path(), path + "/pytorch_model.bin");
  EXPECT_THAT(model.weights.Read("bf16").ToVector<float>()[0], 1.5F);
  EXPECT_EQ(ErrorOf([&] { CheckReplaceable(path); }), "");
  EXPECT_TRUE(model.ignored.empty());

  // The file also has values that are not tensors.
  fs::copy_file(data + "values.bin", path + "/pytorch_model.bin", fs::copy_options::overwrite_existing);
  const ModelFolder with_values = OpenModelFolder(path);
  EXPECT_EQ(with_values.weights.tensors().size(), 1U);
  ASSERT_EQ(with_values.ignored.size(), 6U);
  EXPECT_EQ(with_values.ignored[0].name, "epoch");
  EXPECT_EQ(with_values.ignored[0].reason, "is not a tensor");
  fs::copy_file(data + "archive.bin", path + "/pytorch_model.bin", fs::copy_options::overwrite_existing);

  // The weights are in several files.
  fs::rename(path + "/pytorch_model.bin", path + "/pytorch_model-00001-of-00002.bin");
  fs::copy_file(data + "python_2.bin", path + "/pytorch_model-00002-of-00002.bin");
  Json map = Json::Object{{"a", "pytorch_model-00002-of-00002.bin"}};
  for (const auto& [name, tensor] : model.weights.tensors()) map.Set(name, "pytorch_model-00001-of-00002.bin");
  const auto write_index = [&] {
    WriteFile(path + "/pytorch_model.bin.index.json", Json(Json::Object{{"weight_map", map}}).Text());
  };
  write_index();
  const ModelFolder sharded = OpenModelFolder(path);
  EXPECT_EQ(sharded.weights.tensors().size(), model.weights.tensors().size() + 1);
  EXPECT_THAT(sharded.weights.Read("a").ToVector<float>(), testing::ElementsAre(1, 2));
  EXPECT_THAT(sharded.weights.Read("tied.transposed").ToVector<float>(), testing::ElementsAre(0, 2, 4, 1, 3, 5));
  const std::string to = folder.File("to");
  fs::create_directory(to);
  WriteFile(to + "/config.json", R"({"model_type": "bert"})");
  CopyBesideModel(path, to);
  EXPECT_EQ(std::distance(fs::directory_iterator(to), {}), 1);  // weights are not copied
  map.Set("a", "model.safetensors");
  write_index();
  EXPECT_THAT(ErrorOf([&] { OpenModelFolder(path); }), HasSubstr("'model.safetensors' is not the name"));
  map.Set("a", "pytorch_model-00001-of-00002.bin");
  write_index();
  EXPECT_THAT(ErrorOf([&] { OpenModelFolder(path); }), HasSubstr("there is no tensor 'a'"));
  // If both formats exist, safetensors are read.
  FillModel(path, 3);
  EXPECT_EQ(LoadModel(path), 3);
}

TEST(ModelFolder, DropsPrefixesAndTensorsOfOtherPrograms) {
  const TemporaryFolder folder;
  const std::string path = folder.File("model");
  SaveModel(path, 3);
  const Tensor weight = Tensor::Empty({2});
  weight.Fill(3);
  const auto names_of = [&](const std::vector<std::string>& names, std::vector<std::string>* ignored = nullptr) {
    std::vector<StoredTensor> tensors;
    for (const std::string& name : names) tensors.push_back(Stored(name, weight));
    WriteSafetensors(path + "/model.safetensors", tensors);
    const ModelFolder model = OpenModelFolder(path);
    std::vector<std::string> read;
    for (const auto& [name, tensor] : model.weights.tensors()) {
      read.push_back(name);
      EXPECT_THAT(model.weights.Read(name).ToVector<float>(), testing::ElementsAre(3, 3));
    }
    if (ignored != nullptr)
      for (const IgnoredTensor& tensor : model.ignored) ignored->push_back(tensor.name);
    return read;
  };
  using testing::ElementsAre;
  EXPECT_THAT(names_of({"module.a", "module.b"}), ElementsAre("a", "b"));
  EXPECT_THAT(names_of({"_orig_mod.module.a", "_orig_mod.module.b"}), ElementsAre("a", "b"));
  EXPECT_THAT(names_of({"module._orig_mod.module.a"}), ElementsAre("a"));
  EXPECT_THAT(names_of({"module.a", "b"}), ElementsAre("b", "module.a"));
  EXPECT_THAT(names_of({"module.a", "modules.b"}), ElementsAre("module.a", "modules.b"));
  std::vector<std::string> ignored;
  EXPECT_THAT(names_of({"module.a", "module.v_head.summary.bias", "module.model.encoder.version",
                        "module.decoder.version", "module.embed_positions._float_tensor"},
                       &ignored),
              ElementsAre("a"));
  EXPECT_THAT(ignored, ElementsAre("decoder.version", "embed_positions._float_tensor", "model.encoder.version",
                                   "v_head.summary.bias"));
  ignored.clear();
  EXPECT_THAT(names_of({"a.v_head.b", "a.version"}, &ignored), ElementsAre("a.v_head.b", "a.version"));
  EXPECT_THAT(ignored, ElementsAre());
}

TEST(ModelFolder, RejectsBadIndices) {
  const TemporaryFolder folder;
  FillSharded(folder.path());
  const std::string good = ReadFile(folder.File("model.safetensors.index.json"));
  const std::string first = "\"a\": \"model-00001-of-00002.safetensors\"";
  const struct {
    std::string from, to, error;
  } cases[] = {
      {good, "[]", "index.json: expected an object"},
      {good, "{}", "there is none"},
      {good, R"({"weight_map": {}})", "key 'weight_map': names no tensor"},
      {good, R"({"weight_map": ["a"]})", "key 'weight_map': expected an object"},
      {good, good.substr(0, good.size() / 2), "not valid JSON"},
      {first, "\"a\": 1", "key 'weight_map.a': expected a string"},
      {first, first + ", " + first, "key 'a'"},
      {first, R"("a": "model-00002-of-00002.safetensors")",
       "model-00001-of-00002.safetensors: tensor 'a': " + folder.File("model.safetensors.index.json") +
           " does not list it"},
      {first + ",", "", "model-00001-of-00002.safetensors: tensor 'a':"},
      {first, first + R"(, "d": "model-00002-of-00002.safetensors")", "there is no tensor 'd'"},
      {R"("c": "model-00002-of-00002.safetensors")", R"("c": "other.safetensors")", "other.safetensors: cannot open"},
      {first, R"("a": "../model.safetensors")", "'../model.safetensors'"},
      {first, R"("a": "/etc/model.safetensors")", "is not the name"},
      {first, R"("a": ".safetensors")", "is not the name"},
      {first, R"("a": "config.json")", "key 'weight_map.a': 'config.json'"},
      {first, R"("a": "x\u0000.safetensors")", "is not the name"},
  };
  const auto error = [&] { return ErrorOf([&] { OpenModelFolder(folder.path()); }); };
  EXPECT_EQ(error(), "");
  for (const auto& [from, to, message] : cases) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    WriteFile(folder.File("model.safetensors.index.json"), text);
    EXPECT_THAT(error(), HasSubstr(message)) << text;
  }
  WriteFile(folder.File("model.safetensors.index.json"), good);
  fs::resize_file(folder.File("model-00002-of-00002.safetensors"), 20);
  EXPECT_THAT(error(), HasSubstr("model-00002-of-00002.safetensors: a header of"));
  fs::remove(folder.File("model-00002-of-00002.safetensors"));
  EXPECT_THAT(error(), HasSubstr("model-00002-of-00002.safetensors: "));
}

TEST(ModelFolder, ReplacesOnlyModels) {
  const TemporaryFolder folder;
  const std::string path = folder.File("model");
  const auto error = [&] { return ErrorOf([&] { CheckReplaceable(path); }); };
  EXPECT_EQ(error(), "");
  WriteFile(path, "notes");
  EXPECT_THAT(error(), HasSubstr("model: is a file"));
  EXPECT_THAT(ErrorOf([&] { SaveModel(path, 1); }), HasSubstr("model: is a file"));
  EXPECT_THAT(ErrorOf([&] { SaveModel(path + "/below", 1); }), HasSubstr("cannot create"));
  EXPECT_EQ(ReadFile(path), "notes");
  fs::remove(path);

  fs::create_directory(path);
  EXPECT_EQ(error(), "");
  SaveModel(path, 1);
  EXPECT_EQ(error(), "");
  for (const std::string name :
       {"generation_config.json", "source.spm", "vocab.json", "tokenizer.json", "model.safetensors.headlight-new-0"}) {
    WriteFile(path + "/" + name, "");
  }
  EXPECT_EQ(error(), "");

  // Other files are never removed.
  for (const std::string name : {"thesis.tex", "README.md", ".git", "safetensors"}) {
    WriteFile(path + "/" + name, "precious");
    EXPECT_THAT(error(), HasSubstr("model: holds '" + name + "'"));
    EXPECT_THAT(ErrorOf([&] { SaveModel(path, 2); }), HasSubstr(name));
    EXPECT_EQ(ReadFile(path + "/" + name), "precious");
    fs::remove(path + "/" + name);
  }
  fs::create_directory(path + "/more.safetensors");
  EXPECT_THAT(error(), HasSubstr("holds 'more.safetensors'"));
  fs::remove(path + "/more.safetensors");

  // This config.json belongs to another program.
  WriteFile(path + "/config.json", R"({"port": 8080})");
  EXPECT_THAT(error(), HasSubstr("no config.json of a model"));
  fs::remove(path + "/config.json");
  EXPECT_THAT(error(), HasSubstr("holds 'generation_config.json'"));
}

TEST(ModelFolder, KeepsTheOldModelIfTheDiskIsFull) {
  const TemporaryFolder folder;
  const std::string path = folder.File("model");
  SaveModel(path, 1);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{2048, 2048};  // bytes; less than the weights require
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(ErrorOf([&] { SaveModel(path, 2); }).find("cannot write: File too large") != std::string::npos ? 9 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 9);
  EXPECT_EQ(LoadModel(path), 1);
}

TEST(ModelFolder, KeepsACompleteModelIfKilled) {
  const TemporaryFolder folder;
  const std::string path = folder.File("model");
  SaveModel(path, 0);
  for (int microseconds = 0; microseconds < 5000; microseconds += 250) {
    const pid_t child = fork();
    if (child == 0) {
      for (int number = 1;; ++number) SaveModel(path, number);
    }
    usleep(static_cast<useconds_t>(microseconds));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    LoadModel(path);
  }
  SaveModel(path, -1);
  EXPECT_EQ(LoadModel(path), -1);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);  // no temporary files remain
}

}  // namespace
}  // namespace headlight::model_folder_test
