// The program's commands. Each adds itself, with its options, to the program; what it does is its callback.
#pragma once

namespace CLI {
class App;
}

namespace headlight {

void AddAnswer(CLI::App& program);
void AddBench(CLI::App& program);
void AddBleu(CLI::App& program);
// Commands of `train`.
void AddTokenizerTraining(CLI::App& train);
void AddTrainEncoder(CLI::App& train);
void AddTrainLanguageModel(CLI::App& train);
void AddTrainSequences(CLI::App& train);
// Commands of `bench`.
void AddEncodeBench(CLI::App& bench);
void AddGenerateBench(CLI::App& bench);
void AddTrainBench(CLI::App& bench);
void AddTranslateBench(CLI::App& bench);
void AddClassify(CLI::App& program);
void AddConvert(CLI::App& program);
void AddDemo(CLI::App& program);
void AddEmbed(CLI::App& program);
void AddEvaluate(CLI::App& program);
void AddFillMask(CLI::App& program);
void AddForward(CLI::App& program);
void AddGenerate(CLI::App& program);
void AddInfo(CLI::App& program);
void AddLook(CLI::App& program);
void AddScore(CLI::App& program);
void AddShortlist(CLI::App& program);
void AddSummarize(CLI::App& program);
void AddTag(CLI::App& program);
void AddTokenize(CLI::App& program);
void AddTrain(CLI::App& program);
void AddTranslate(CLI::App& program);

// The options that every command has: --threads and --quiet.
void AddCommonOptions(CLI::App& command);

}  // namespace headlight
