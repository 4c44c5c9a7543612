#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/io/safetensors.h"
#include "headlight/pipelines/structure_predictor.h"
#include "headlight/protein/alignment_table.h"
#include "headlight/protein/files/structure_files.h"
#include "tests/folding_testing.h"

namespace headlight::fold_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kAlignment = HEADLIGHT_SOURCE_DIR "/headlight/protein/testdata/alignment.a3m";
const std::string kPublished = HEADLIGHT_SOURCE_DIR "/tests/testdata/alphafold/published/";
constexpr const char* kQuery = "MKVLAEYTWGRD";

struct FoldCommand : testing::Test {
  Outcome Run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"fold", model});
    return RunProgram(arguments);
  }
  std::string RefusalOf(const std::vector<std::string>& arguments) const {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
    return outcome.err;
  }
  PredictedStructure Predict(const AlignmentTable& table, const PredictOptions& options = {}) const {
    return StructurePredictor::Load(model).Predict(table, options);
  }
  AlignmentTable Table() const { return ReadAlignmentTable({&kAlignment, 1}); }

  const TemporaryFolder folder;
  const std::string model = HEADLIGHT_SOURCE_DIR "/tests/testdata/alphafold/model";
  const std::string out = folder.File("query.cif");
};

TEST_F(FoldCommand, WritesTheStructureOfAnAlignment) {
  const Outcome outcome = Run({"--msa", kAlignment, "--out", out, "--seed", "4", "--recycles", "1", "--rows", "5",
                               "--extra-rows", "4", "--pae", "--plot", "svg", "--embeddings"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const PredictedStructure predicted = Predict(Table(), {.seed = 4, .recycles = 1, .rows = 5, .extra = 4});
  EXPECT_EQ(outcome.out,
            fmt::format("query\t1\t{}\t4\t12\t2\t{:.2f}\t{:.4f}\n", model, predicted.mean_plddt, *predicted.ptm));
  EXPECT_THAT(outcome.err, HasSubstr("query: 12 residues, 19 rows, 17 distinct, 17 held"));
  const Structure read = ReadStructure(out);
  const ProteinChain &chain = ChainOf(read), &wanted = predicted.structure.chains[0];
  ASSERT_EQ(chain.residues.size(), 12U);
  EXPECT_EQ(chain.Letters(), kQuery);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(chain.residues[i].known, wanted.residues[i].known);
    EXPECT_NEAR(chain.residues[i].atoms[1].x, wanted.residues[i].atoms[1].x, 1e-3);
    EXPECT_NEAR(chain.residues[i].b_factors[1], predicted.plddt[i], 6e-3);
  }
  EXPECT_THAT(ReadFile(out), AllOf(HasSubstr("_ma_qa_metric"), HasSubstr("pTM"), HasSubstr("headlight")));
  const Json errors = ReadJson(folder.File("query.pae.json")).value();
  EXPECT_EQ(errors.As<Json::Array>()->at(0).Find("predicted_aligned_error")->As<Json::Array>()->size(), 12U);
  EXPECT_THAT(ReadFile(folder.File("query.svg")), HasSubstr("<svg"));
  const Safetensors embeddings(folder.File("query.safetensors"));
  EXPECT_EQ(embeddings.Read("single").ToVector<float>(), predicted.single.ToVector<float>());
  EXPECT_EQ(embeddings.At("pair").shape, (Shape{12, 12, 6}));
}

TEST_F(FoldCommand, FoldsASequenceAloneAndWritesPdb) {
  const std::string pdb = folder.File("a.pdb");
  const Outcome outcome = Run({"--sequence", "MKVL", "--out", pdb, "--json", "--recycles", "0"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json row = ParseJson(outcome.out, "row");
  EXPECT_EQ(*row.Find("query"), Json("a"));
  EXPECT_EQ(*row.Find("passes"), Json(1));
  EXPECT_EQ(*row.Find("residues"), Json(4));
  EXPECT_THAT(ReadFile(pdb), HasSubstr("ATOM"));
  EXPECT_EQ(ChainOf(ReadStructure(pdb)).Letters(), "MKVL");
}

TEST_F(FoldCommand, FoldsWithEsmFoldThatReadsNoAlignment) {
  const std::string esmfold = HEADLIGHT_SOURCE_DIR "/tests/testdata/esmfold";
  const Outcome outcome = RunProgram({"fold", esmfold, "--sequence", kQuery, "--out", out, "--pae", "--embeddings"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const PredictedStructure predicted = StructurePredictor::Load(esmfold).Predict(TableOfSequence(kQuery));
  EXPECT_EQ(outcome.out, fmt::format("query\t1\t{}\t1\t12\t{}\t{:.2f}\t{:.4f}\n", esmfold, predicted.passes,
                                     predicted.mean_plddt, *predicted.ptm));
  EXPECT_EQ(ChainOf(ReadStructure(out)).Letters(), kQuery);
  const Outcome refused = RunProgram({"fold", esmfold, "--msa", kAlignment, "--out", out});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("this model reads no alignment"));
}

// Checks the ranking of predictions from two models with two seeds each, by both scores.
TEST_F(FoldCommand, RanksModelsAndSeeds) {
  for (const std::string rank : {"plddt", "ptm"}) {
    const Outcome outcome = Run({kPublished + "params_model_3_ptm.npz", "--msa", kAlignment, "--out", out,
                                 "--num-seeds", "2", "--recycles", "0", "--rank", rank, "--all", "--json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::vector<std::string> rows = Lines(outcome.out);
    ASSERT_EQ(rows.size(), 4U);
    double before = 1e9;
    for (std::size_t i = 0; i < 4; ++i) {
      const Json row = ParseJson(rows[i], "row");
      EXPECT_EQ(*row.Find("rank"), Json(static_cast<std::int64_t>(i) + 1));
      const double score = *row.Find(rank == "ptm" ? "ptm" : "mean_plddt")->As<double>();
      EXPECT_LE(score, before);
      before = score;
      const std::string path = folder.File(i == 0 ? "query.cif" : fmt::format("query.{}.cif", i + 1));
      double sum = 0;
      const Structure read = ReadStructure(path);
      for (const Residue& residue : ChainOf(read).residues) sum += static_cast<double>(residue.b_factors[1]);
      EXPECT_NEAR(sum / 12, *row.Find("mean_plddt")->As<double>(), 0.01);
    }
  }
}

TEST_F(FoldCommand, FoldsManyQueriesAndContinues) {
  const std::string queries = folder.File("queries.fasta"), structures = folder.File("structures"),
                    alignments = folder.File("alignments");
  WriteFile(queries, std::string(">one first\nMKVL\n>bad\nM1\n>two/2\n") + kQuery + "\n>three\nMKVLA\n");
  fs::create_directory(alignments);
  fs::copy(kAlignment, alignments + "/two_2.a3m");
  WriteFile(alignments + "/three.a3m", ">q\nMKVLL\n");  // a different query sequence
  const std::vector<std::string> command = {"--file", queries,    "--msa-dir",  alignments,
                                            "--out",  structures, "--recycles", "0"};
  const Outcome outcome = Run(command);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("query 2 of 4: "), HasSubstr("line 4: '1' is not"), HasSubstr("query 4 of 4, three: "),
                    HasSubstr("three.a3m"), HasSubstr("2 of 4 queries could")));
  const std::vector<std::string> rows = Lines(outcome.out);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_THAT(rows[0], StartsWith("one\t1\t"));
  EXPECT_THAT(rows[1], StartsWith("two_2\t1\t"));
  EXPECT_EQ(ChainOf(ReadStructure(structures + "/two_2.cif")).Letters(), kQuery);
  const PredictedStructure alone = Predict(TableOfSequence("MKVL"), {.recycles = 0});
  EXPECT_NEAR(ChainOf(ReadStructure(structures + "/one.cif")).residues[2].atoms[1].z,
              alone.structure.chains[0].residues[2].atoms[1].z, 1e-3);

  fs::remove(alignments + "/three.a3m");
  const std::string before = ReadFile(structures + "/one.cif");
  const Outcome again = Run(command);
  EXPECT_EQ(again.exit_code, 2) << again.err;
  EXPECT_THAT(again.out, StartsWith("three\t1\t"));
  EXPECT_EQ(Lines(again.out).size(), 1U);
  EXPECT_THAT(again.err, AllOf(HasSubstr("2 of 4 queries are skipped"), HasSubstr("1 of 4 queries could")));
  EXPECT_EQ(ReadFile(structures + "/one.cif"), before);
}

TEST_F(FoldCommand, FoldsAShardOfTheQueries) {
  const std::string queries = folder.File("queries.fasta"), structures = folder.File("structures");
  WriteFile(queries, ">one\nMKVL\n>two\nMKV\n>three\nMKVLA\n");
  const auto names = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command = {"--file", queries, "--out", structures, "--recycles", "0"};
    command.insert(command.end(), more.begin(), more.end());
    std::vector<std::string> found;
    for (const std::string& row : Lines(Run(command).out)) found.push_back(row.substr(0, row.find('\t')));
    return found;
  };
  EXPECT_EQ(names({"--shard", "1/2"}), std::vector<std::string>{"one"});
  EXPECT_EQ(names({"--shard", "2/2"}), (std::vector<std::string>{"two", "three"}));
  EXPECT_EQ(names({}), std::vector<std::string>{});
  EXPECT_THAT(RefusalOf({"--sequence", "MK", "--shard", "1/2", "--out", folder.File("d.cif")}),
              HasSubstr("--shard divides the sequences of"));
}

// Checks database search with scripts instead of the real programs.
TEST_F(FoldCommand, SearchesADatabase) {
  const std::string programs = folder.File("programs"), database = folder.File("db");
  fs::create_directory(programs);
  const std::string path = std::getenv("PATH");
  setenv("PATH", (programs + ":" + path).c_str(), 1);
  const auto script = [&](const std::string& name, const std::string& text) {
    WriteFile(programs + "/" + name, "#!/bin/sh\n" + text);
    fs::permissions(programs + "/" + name, fs::perms::owner_all);
  };
  const std::vector<std::string> command = {"--sequence", kQuery, "--database", database,
                                            "--out",      out,    "--recycles", "0"};
  const auto refusal = [&] { return RefusalOf(command); };
  EXPECT_THAT(refusal(), HasSubstr("is no database of mmseqs2"));
  const PredictedStructure wanted = Predict(Table(), {.recycles = 0});
  const std::string expected =
      fmt::format("query\t1\t{}\t1\t12\t1\t{:.2f}\t{:.4f}\n", model, wanted.mean_plddt, *wanted.ptm);

  WriteFile(database + "_cs219.ffindex", "");
  setenv("PATH", programs.c_str(), 1);
  EXPECT_THAT(refusal(), HasSubstr("needs the program hhblits"));
  setenv("PATH", (programs + ":" + path).c_str(), 1);
  script("hhblits", "echo one; echo 'no such thing' >&2; exit 3\n");
  EXPECT_THAT(refusal(), HasSubstr("ended with exit code 3:"));
  script("hhblits", "grep -q " + std::string(kQuery) + " \"$2\" && [ \"$4\" = " + database + " ] && cp " + kAlignment +
                        " \"$6\"\n");
  const Outcome by_hhblits = Run(command);
  EXPECT_EQ(by_hhblits.out, expected) << by_hhblits.err;
  EXPECT_EQ(ReadFile(folder.File("query.a3m")), ReadFile(kAlignment));

  // MMseqs2 databases end each entry with a zero byte.
  WriteFile(database + ".dbtype", "");
  script("mmseqs",
         "case $1 in createdb) cp \"$2\" \"$3\";; search) cp \"$2\" \"$4\";;\n"
         "result2msa) { cat " +
             kAlignment + "; printf '\\0'; } > \"$5\";; esac\n");
  const Outcome by_mmseqs = Run(command);
  EXPECT_EQ(by_mmseqs.out, expected) << by_mmseqs.err;
  EXPECT_EQ(ReadFile(folder.File("query.a3m")), ReadFile(kAlignment));
  script("mmseqs", "kill -9 $$\n");
  EXPECT_THAT(refusal(), HasSubstr("createdb: ended by signal 9"));
  setenv("PATH", path.c_str(), 1);
}

// Two structures that are similar to the query, and their alignment to the query.
struct TemplateSetting : FoldCommand {
  TemplateSetting() {
    WriteFile(first, WriteMmcif({"made", {MadeChain("GGKVLAEYSWGG", 1)}}));
    WriteFile(second, WritePdb({"made", {MadeChain("WWW", 2), Named("B", MadeChain("PKVLAEHTWGRDPP", 3))}}));
    WriteFile(alignment, std::string(">query\n") + kQuery + "\n>2xyz_B\n-KVLAEHTWGRD\n>1abc\nGKVL----aeySWGG\n");
  }
  static ProteinChain Named(const std::string& name, ProteinChain chain) {
    chain.name = name;
    return chain;
  }
  Outcome Fold(const std::string& by, std::vector<std::string> more) const {
    more.insert(more.begin(), {"fold", by, "--sequence", kQuery, "--recycles", "1", "--json", "--out", out});
    return RunProgram(more);
  }

  const std::string reads = HEADLIGHT_SOURCE_DIR "/tests/testdata/alphafold/templates";
  const std::string first = folder.File("1abc.cif"), second = folder.File("2xyz.pdb"), alignment = folder.File("t.a3m");
};

TEST_F(TemplateSetting, TemplatesAreAlignedAndRead) {
  const AlignmentTable table = TableOfSequence(kQuery);
  const std::vector<std::uint8_t>& query = table.rows.front().residues;
  const auto plddt = [](const Outcome& outcome) {
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return *ParseJson(outcome.out, "row").Find("mean_plddt");
  };
  const auto expected = [&](const std::vector<ProteinTemplate>& templates) {
    return Json(StructurePredictor::Load(reads).Predict(table, {.recycles = 1, .templates = templates}).mean_plddt);
  };
  const Outcome by_sequences = Fold(reads, {"--templates", first, second});
  EXPECT_THAT(by_sequences.err, AllOf(HasSubstr("1abc.cif, chain A: 9 of 12 residues are aligned, 8 are the same"),
                                      HasSubstr("2xyz.pdb, chain B: 11 of 12 residues are aligned, 10 are the same")));
  EXPECT_EQ(plddt(by_sequences), expected(ReadTemplates({first, second}, "", query, ReadStructure)));
  const Outcome by_rows = Fold(reads, {"--templates", first, second, "--template-msa", alignment});
  EXPECT_EQ(plddt(by_rows), expected(ReadTemplates({first, second}, alignment, query, ReadStructure)));
  EXPECT_NE(plddt(by_rows), plddt(by_sequences));
  EXPECT_NE(plddt(by_rows), plddt(Fold(reads, {})));

  // If there are several models, models without template inputs ignore the templates.
  const Outcome both = Fold(reads, {model, "--templates", first});
  ASSERT_EQ(both.exit_code, 0) << both.err;
  EXPECT_THAT(both.err, HasSubstr(model + ": this model reads no templates and ignores them"));
}

TEST_F(TemplateSetting, RefusesTemplatesThatAreNotRead) {
  const auto refusal = [&](const std::string& by, const std::vector<std::string>& more) {
    const Outcome outcome = Fold(by, more);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
    return outcome.err;
  };
  EXPECT_THAT(refusal(model, {"--templates", first}), HasSubstr("this model reads no templates"));
  EXPECT_THAT(refusal(reads, {"--templates", first, first, first, first, first}),
              HasSubstr("5 templates, and " + reads + "/model.safetensors reads at most 4"));
  EXPECT_THAT(refusal(reads, {"--template-msa", alignment}), HasSubstr("--template-msa needs --templates"));
  EXPECT_THAT(refusal(reads, {"--templates", first, "--template-msa", alignment}), HasSubstr("row '2xyz_B'"));
  EXPECT_THAT(refusal(reads, {"--templates", folder.File("none.cif")}), HasSubstr("none.cif"));
  EXPECT_THAT(refusal(reads, {"--templates", alignment}), HasSubstr("t.a3m"));
  const Outcome many = RunProgram({"fold", reads, "--file", kAlignment, "--templates", first, "--out", out});
  EXPECT_THAT(many.err, HasSubstr("--templates is for one query"));
}

TEST_F(FoldCommand, RefusesWhatCannotBeFolded) {
  EXPECT_THAT(RefusalOf({"--out", out}), HasSubstr("--file is required"));
  EXPECT_THAT(RefusalOf({"--sequence", "MK", "--out", folder.File("a.txt")}), HasSubstr("as .cif (mmCIF) or .pdb"));
  EXPECT_THAT(RefusalOf({"--sequence", "M1", "--out", out}), HasSubstr("'1' is not a letter"));
  EXPECT_THAT(RefusalOf({"--sequence", "MKVLAEYTWGRE", "--msa", kAlignment, "--out", out}),
              HasSubstr("has D as residue 12"));
  EXPECT_THAT(RefusalOf({"--sequence", "MK", "--file", kAlignment, "--out", folder.File("d")}),
              HasSubstr("exclude each other"));
  EXPECT_THAT(RefusalOf({"--sequence", "MK", "--msa-dir", folder.path(), "--out", out}), HasSubstr("--msa-dir"));
  EXPECT_THAT(RefusalOf({"--msa", kAlignment, "--database", "db", "--out", out}),
              HasSubstr("--database exclude each other"));
  EXPECT_THAT(RefusalOf({"--msa", folder.File("missing.a3m"), "--out", out}), HasSubstr("missing.a3m"));
  const std::string twice = folder.File("twice.fasta"), empty = folder.File("empty.fasta");
  WriteFile(twice, ">a b\nMK\n>a c\nMV\n");
  WriteFile(empty, "");
  EXPECT_THAT(RefusalOf({"--file", twice, "--out", folder.File("d")}), HasSubstr("line 3: two queries would"));
  EXPECT_THAT(RefusalOf({"--file", empty, "--out", folder.File("d")}), HasSubstr("holds no sequence"));
  const Outcome other =
      RunProgram({"fold", HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/sentences", "--sequence", "MK", "--out", out});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("structure prediction model"));
  EXPECT_FALSE(fs::exists(out));
}

}  // namespace
}  // namespace headlight::fold_test
