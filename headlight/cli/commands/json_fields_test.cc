// Checks that docs/reference/files.md, "JSON output", documents the --json fields of images and evaluations.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/pipelines/drawing_testing.h"
#include "headlight/pipelines/dual_testing.h"
#include "headlight/pipelines/image_testing.h"
#include "headlight/pipelines/protein_testing.h"
#include "headlight/protein/files/structure_files.h"
#include "tests/folding_testing.h"

namespace headlight::json_fields_test {
namespace {

using testing::HasSubstr;

const std::string kTestdata = HEADLIGHT_SOURCE_DIR "/tests/testdata/";
const std::string kImage = HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/rgb.png";

std::vector<std::string> NamesOf(const Json& object) {
  std::vector<std::string> names;
  for (const Json::Member& member : *object.As<Json::Object>()) names.push_back(member.name);
  return names;
}

struct JsonFields : ProgramTest {
  JsonFields() {
    std::filesystem::create_directory(vit);
    SaveTinyVit(vit);
  }

  // Returns the row of the documentation that begins with this name.
  std::string RowOf(const std::string& name) const {
    const std::string start = "| `" + name + "` |";
    const auto row = std::ranges::find_if(manual, [&](const std::string& line) { return line.starts_with(start); });
    return row == manual.end() ? "" : *row;
  }

  const std::vector<std::string> manual = Lines(ReadFile(HEADLIGHT_SOURCE_DIR "/docs/reference/files.md"));
  const std::string vit = folder.File("vit");
};

TEST_F(JsonFields, OfImagesAreDocumented) {
  const std::string clip = folder.File("clip"), index = folder.File("index");
  std::filesystem::create_directory(clip);
  SaveTinyClip(clip);
  MustRun({"embed", clip, Write("texts", "two dogs\n"), "--index", index});
  const struct {
    std::vector<std::string> arguments, fields;
    std::string items = {};  // a field that contains an array of objects with the fields `item_fields`
    std::vector<std::string> item_fields = {};
  } commands[] = {
      {{"classify", vit}, {"image", "classes"}, "classes", {"label", "score"}},
      {{"embed", vit}, {"image", "vector"}},
      {{"embed", vit, "--search", kImage}, {"image", "score"}},
      {{"detect", kTestdata + "detectors/detr", "--threshold", "0"},
       {"image", "boxes"},
       "boxes",
       {"label", "score", "box"}},
      {{"segment", kTestdata + "detectors/detr_masks", "--threshold", "0"},
       {"image", "segments"},
       "segments",
       {"id", "label", "score", "area"}},
      {{"caption", kTestdata + "captions/vit_gpt2_text"}, {"image", "text", "score", "complete"}},
      {{"answer", kTestdata + "captions/blip_answers_text", "--question", "Two men?", "--image"},
       {"line", "answer", "score"}},
      {{"search", index}, {"text", "score"}},
  };
  for (const auto& [arguments, fields, items, item_fields] : commands) {
    std::vector<std::string> command = arguments;
    command.insert(command.end(), {kImage, "--json"});
    const Outcome outcome = RunProgram(command);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Json object = ParseJson(Lines(outcome.out)[0], "row");
    EXPECT_EQ(NamesOf(object), fields) << command[0];
    if (!items.empty()) {
      EXPECT_EQ(NamesOf(object.Find(items)->As<Json::Array>()->front()), item_fields) << command[0];
    }
    for (const std::vector<std::string>& names : {fields, item_fields})
      for (const std::string& name : names) EXPECT_THAT(RowOf(command[0]), HasSubstr("`" + name + "`"));
  }
}

TEST_F(JsonFields, OfProteinsAreDocumented) {
  const std::string esm = folder.File("esm"), fasta = Write("a.fasta", ">a\nMKVLAGMK\n");
  const std::string structure = Write("a.pdb", StrandAsPdb());
  SaveTinyEsm(esm);
  const auto fields_of = [&](std::vector<std::string> command) {
    command.emplace_back("--json");
    const Outcome outcome = RunProgram(command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return NamesOf(ParseJson(Lines(outcome.out)[0], "row"));
  };
  const std::vector<std::string> contacts = fields_of({"contacts", esm, fasta}),
                                 variants = fields_of({"score", esm, fasta, "--variant", "K2R"});
  EXPECT_EQ(contacts, (std::vector<std::string>{"name", "residues", "contacts"}));
  EXPECT_EQ(variants, (std::vector<std::string>{"name", "variant", "score"}));
  for (const std::string& name : contacts) EXPECT_THAT(RowOf("contacts"), HasSubstr("`" + name + "`"));
  for (const std::string& name : variants) EXPECT_THAT(RowOf("score --variant"), HasSubstr("`" + name + "`"));
  const std::string text = ReadFile(HEADLIGHT_SOURCE_DIR "/docs/reference/files.md");
  for (const std::string& name : fields_of({"compare", structure, structure}))
    EXPECT_THAT(text, HasSubstr("`" + name + "`"));
}

TEST_F(JsonFields, OfDrawingsAreDocumented) {
  const std::string dalle = folder.File("dalle"), clip = folder.File("clip");
  for (const std::string& path : {dalle, clip}) std::filesystem::create_directory(path);
  SaveTinyDalle(dalle);
  SaveTinyClip(clip);
  std::vector<std::string> command = {"draw", dalle, "dog", "--json"}, fields = {"text", "index", "codes"};
  for (const bool ranked : {false, true}) {
    if (ranked) {
      command.insert(command.end(), {"--reranker", clip});
      fields.push_back("score");
    }
    const Outcome outcome = RunProgram(command);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(NamesOf(ParseJson(outcome.out, "row")), fields);
    for (const std::string& name : fields) EXPECT_THAT(RowOf("draw"), HasSubstr("`" + name + "`"));
  }
}

TEST_F(JsonFields, OfStructuresAreDocumented) {
  const Outcome outcome = RunProgram({"fold", kTestdata + "alphafold/model", "--sequence", "MK", "--out",
                                      folder.File("a.cif"), "--recycles", "0", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> fields = {"query", "rank", "model", "seed", "residues", "passes", "mean_plddt", "ptm"};
  EXPECT_EQ(NamesOf(ParseJson(outcome.out, "row")), fields);
  for (const std::string& name : fields) EXPECT_THAT(RowOf("fold"), HasSubstr("`" + name + "`"));
}

// Checks that each field of an evaluation is in the documentation, in the row for its task.
TEST_F(JsonFields, OfEvaluationsAreDocumented) {
  const std::string gpt = folder.File("gpt"), imagegpt = folder.File("imagegpt"), photos = folder.File("photos"),
                    clip = folder.File("clip"), dalle = folder.File("dalle");
  for (const std::string& path : {gpt, imagegpt, clip, dalle, photos, photos + "/cat", photos + "/dog"})
    std::filesystem::create_directory(path);
  SaveTinyGpt(gpt);
  SaveTinyImageGpt(imagegpt);
  SaveTinyDalle(dalle);
  SaveTinyClip(clip);
  std::filesystem::copy(kImage, photos + "/cat/a.png");
  std::filesystem::copy(kImage, photos + "/dog/a.png");
  const std::string coco = Write("coco.json", R"({"images": [{"id": 1, "file_name": "photos/cat/a.png"}],
                             "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 4, 4]}],
                             "categories": [{"id": 1, "name": "LABEL_0"}]})");
  const std::string letters = "MARNDCQEGHILKFPSTWYVGSTFYWKRHDEAVL";
  WriteFile(folder.File("made.cif"), WriteMmcif({"made", {MadeChain(letters, 1)}}));
  Write("made.a3m", ">made\n" + letters + "\n>other\n" + std::string(letters.rbegin(), letters.rend()) + "\n");
  const std::string chains = Write("chains.tsv", "made.cif\tA\tmade.a3m\n");
  const std::string encoders = kTestdata + "encoders/";
  const std::string text = Write("text", "A dog runs over a meadow.\nTwo men and a dog run.\nA man sleeps.\n");
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"classification", {encoders + "classify", Write("classes", "dog\tno\nA dog\tyes\n")}},
      {"question-answering",
       {encoders + "answer",
        Write("q.jsonl", R"({"question": "who", "context": "Two men.", "answers": [{"text": "Two", "start": 0}]})")}},
      {"masked-language-model", {encoders + "fill_mask", text, "--train", text}},
      {"language-model", {gpt, text}},
      {"seq2seq", {model, Write("pairs", "Hund\tdog\n")}},
      {"seq2seq", {model, Write("pairs", "Hund\tdog\n"), "--rouge"}},
      {"image-classification", {vit, photos}},
      {"image-features", {vit, photos, "--train", photos, "--knn", "1", "--linear-probe"}},
      {"image-features", {vit, photos, "--train", photos, "--knn", "1", "--pixels"}},
      {"image-generation", {imagegpt, photos}},
      {"detection", {kTestdata + "detectors/detr", coco}},
      {"text-to-image", {dalle, Write("pairs.tsv", "photos/cat/a.png\tA dog\nphotos/dog/a.png\tTwo dogs\n")}},
      {"image-codes", {dalle + "/vae", photos}},
      {"captions",
       {kTestdata + "captions/vit_gpt2_text",
        Write("pairs.tsv", "photos/cat/a.png\ta dog\nphotos/cat/a.png\ttwo dogs\nphotos/dog/a.png\ttwo\n")}},
      {"folding", {kTestdata + "alphafold/model", chains, "--train", chains}},
      {"contrastive", {clip, Write("pairs.tsv", "photos/cat/a.png\ta cat\nphotos/dog/a.png\ttwo dogs\n")}},
  };
  for (const auto& [task, arguments] : cases) {
    std::vector<std::string> command = {"evaluate", "--json"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const Outcome outcome = RunProgram(command);
    ASSERT_EQ(outcome.exit_code, 0) << task << outcome.err;
    const Json object = ParseJson(outcome.out, "evaluate");
    EXPECT_EQ(*object.Find("task")->As<std::string>(), task);
    ASSERT_NE(RowOf(task), "") << task;
    for (const std::string& name : NamesOf(object))
      if (name != "task") {
        EXPECT_THAT(RowOf(task), HasSubstr("`" + name + "`")) << task;
      }
  }
}

}  // namespace
}  // namespace headlight::json_fields_test
