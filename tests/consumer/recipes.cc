// Trains a translator on two files of lines, and saves it in the folder OUT. Also writes and reads a structure.
//   consumer_recipes SOURCE TARGET OUT
#include <headlight/protein/files/structure_files.h>
#include <headlight/recipes/train_translation.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  headlight::TranslationTraining options;
  options.train = options.valid = {argv[1], argv[2]};
  options.out = argv[3];
  options.vocabulary.size = 60;
  options.layers = 1;
  options.model_dim = 64;
  options.heads = 4;
  options.ffn_dim = 128;
  options.dropout = 0;
  options.warmup = 20;
  options.learning_rate = 0.01;
  options.steps = options.validate_every = 100;
  double loss = 0;
  const headlight::TrainingResult result = headlight::TrainTranslation(
      options, {.validation = [&](const headlight::ValidationReport& report) { loss = report.loss; }});
  std::printf("%d steps, validation loss %.3f\n", static_cast<int>(result.steps), loss);
  headlight::Residue glycine{.type = *headlight::ResidueOfLetter('G'), .name = "GLY", .number = 1};
  glycine.known[headlight::kAtomCa] = true;
  const headlight::Structure one{.name = "one", .chains = {{.name = "A", .residues = {glycine}}}};
  const headlight::Structure read = headlight::ParseStructure(headlight::WriteMmcif(one), "one.cif");
  return read.chains.at(0).Letters() == "G" ? 0 : 1;
}
