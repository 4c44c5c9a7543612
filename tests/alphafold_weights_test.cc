// Loads AlphaFold's weights in the published layouts. tools/make_alphafold_weight_goldens.py describes the files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/io/npz.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/alphafold.h"
#include "headlight/models/family.h"
#include "headlight/models/files/alphafold_names.h"

namespace headlight::alphafold_weights_test {
namespace {

using testing::HasSubstr;

const std::string kPublished = HEADLIGHT_SOURCE_DIR "/tests/testdata/alphafold/published/";
const std::string kNpz = kPublished + "params_model_3_ptm.npz", kOpenFold = kPublished + "openfold";
// The folders and files of a model without templates, and of one with templates.
const std::vector<std::pair<std::string, std::string>> kFolders = {
    {kPublished, "params_model_3_ptm.npz"}, {kPublished + "templates/", "params_model_1_ptm.npz"}};

// Returns the name and the bytes of each tensor of a file.
std::vector<std::pair<std::string, std::string>> TensorsOf(const std::string& path) {
  const Safetensors file(path);
  std::vector<std::pair<std::string, std::string>> tensors;
  for (const auto& [name, stored] : file.tensors())
    tensors.emplace_back(name, ToString(stored.shape) + std::string(reinterpret_cast<const char*>(stored.bytes.data()),
                                                                    stored.bytes.size()));
  return tensors;
}

std::string Save(const Model& model, const TemporaryFolder& folder, const std::string& name) {
  std::filesystem::create_directory(folder.File(name));
  model.Save(folder.File(name), Compute::float32);
  return folder.File(name);
}

TEST(AlphaFoldWeights, DeepMindsAndOpenFoldsGiveTheSameModel) {
  for (const auto& [published, npz] : kFolders) {
    const std::unique_ptr<AlphaFold> deepmind = LoadModel<AlphaFold>(published + npz),
                                     openfold = LoadModel<AlphaFold>(published + "openfold");
    const TemporaryFolder folder;
    const std::string first = Save(*deepmind, folder, "deepmind"), second = Save(*openfold, folder, "openfold");
    EXPECT_EQ(TensorsOf(first + "/model.safetensors"), TensorsOf(second + "/model.safetensors"));
    EXPECT_EQ(TensorsOf(first + "/model.safetensors"), TensorsOf(published + "openfold/model.safetensors"));
    EXPECT_EQ(ReadFile(first + "/config.json"), ReadFile(second + "/config.json"));
    EXPECT_EQ(deepmind->plan().extra, 5120);
    EXPECT_EQ(deepmind->plan().templates, published == kPublished ? 0 : 4);
    EXPECT_EQ(deepmind->plan().rows, 512 - deepmind->plan().templates);
  }
}

TEST(AlphaFoldWeights, ReadsOldNamesAndPrefixes) {
  for (const auto& [published, npz] : kFolders) {
    const std::string openfold = published + "openfold/";
    const Safetensors file(openfold + "model.safetensors");
    const Json old = ReadJson(published + "old_names.json").value();
    for (const std::string prefix : {"", "model.", "module.model."}) {
      std::vector<StoredTensor> tensors;
      for (const auto& [name, stored] : file.tensors()) {
        tensors.push_back(stored);
        if (const Json* const before = old.Find(name)) tensors.back().name = *before->As<std::string>();
        tensors.back().name.insert(0, prefix);
      }
      const TemporaryFolder folder;
      WriteSafetensors(folder.File("model.safetensors"), tensors);
      std::filesystem::copy_file(openfold + "config.json", folder.File("config.json"));
      const std::unique_ptr<AlphaFold> model = LoadModel<AlphaFold>(folder.path());
      EXPECT_EQ(TensorsOf(Save(*model, folder, "saved") + "/model.safetensors"),
                TensorsOf(openfold + "model.safetensors"));
    }
  }
}

TEST(AlphaFoldWeights, PublishedNamesAreDistinct) {
  const std::unique_ptr<AlphaFold> model = LoadModel<AlphaFold>(kPublished + "templates/openfold");
  std::set<std::string> names;
  std::size_t count = 0;
  for (const Parameter& parameter : model->parameters().all()) {
    for (const std::string& name : parameter.names) {
      const PublishedName published = PublishedNameOf(name);
      EXPECT_TRUE(names.insert(fmt::format("{} {}", published.name, published.block)).second) << name;
      ++count;
    }
  }
  EXPECT_EQ(names.size(), count);
  EXPECT_EQ(PublishedNameOf("evoformer.blocks.1.pair_stack.tri_mul_in.linear_a_p.weight").name,
            "alphafold/alphafold_iteration/evoformer/evoformer_iteration/triangle_multiplication_incoming/"
            "right_projection//weights");
  for (const char* const name :
       {"", "evoformer", "evoformer.blocks.1", "evoformer.blocks.x.msa_att_row.mha.linear_q.weight",
        "evoformer.blocks.0.unknown.weight", "aux_heads.unknown.linear.weight"})
    EXPECT_EQ(PublishedNameOf(name).name, "") << name;
}

TEST(AlphaFoldWeights, RefusesInvalidInput) {
  const Safetensors good = ReadNpz(kNpz);
  const auto error_of = [&](const std::string& name,
                            const std::function<void(std::vector<StoredTensor>&, StoredTensor&)>& spoil) {
    std::vector<StoredTensor> tensors;
    for (const auto& [its, stored] : good.tensors()) tensors.push_back(stored);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (!tensors[i].name.ends_with(name)) continue;
      spoil(tensors, tensors[i]);
      break;
    }
    const Safetensors file = Safetensors::Of("m.npz", tensors);
    const std::unique_ptr<AlphaFold> model = LoadModel<AlphaFold>(kOpenFold);
    return ErrorOf([&] {
      LoadParameters(model->parameters(), FromPublished(file, model->parameters()), [](auto) { return false; });
    });
  };
  using All = std::vector<StoredTensor>;
  const std::string query = "evoformer_iteration/msa_column_attention/attention//query_w";
  EXPECT_EQ(error_of(query, [](All&, StoredTensor&) {}), "");
  EXPECT_THAT(error_of(query, [](All&, StoredTensor& one) { one.name += "x"; }),
              HasSubstr("missing: evoformer.blocks.0.msa_att_col._msa_att.mha.linear_q.weight"));
  EXPECT_THAT(error_of(query,
                       [](All& all, StoredTensor& one) {
                         StoredTensor other = one;
                         other.name = "alphafold/alphafold_iteration/other//w";
                         all.push_back(other);
                       }),
              HasSubstr("does not have: alphafold/alphafold_iteration/other//w"));
  EXPECT_THAT(error_of(query,
                       [](All&, StoredTensor& one) {
                         one.shape = {2, 4, 4, 3};
                       }),
              HasSubstr("which is not that of"));
  EXPECT_THAT(error_of(query, [](All&, StoredTensor& one) { one.shape = {1, 8, 2, 3}; }), HasSubstr("and no block 1"));
  EXPECT_THAT(error_of("left_single//bias", [](All&, StoredTensor& one) { one.shape = {5}; }),
              HasSubstr("which is not that of"));

  // Files of other models and of an AlphaFold with another configuration are rejected.
  EXPECT_THAT(ErrorOf([] { LoadModel<AlphaFold>(HEADLIGHT_SOURCE_DIR "/headlight/io/testdata/versions.npz"); }),
              HasSubstr("is not a known family"));
  EXPECT_THAT(ErrorOf([] { LoadModel<AlphaFold>(HEADLIGHT_SOURCE_DIR "/headlight/io/testdata/stored.npz"); }),
              HasSubstr("there is no tensor 'alphafold/alphafold_iteration/evoformer/preprocess_1d//weights'"));
}

}  // namespace
}  // namespace headlight::alphafold_weights_test
