#include <gmock/gmock.h>
#include <pty.h>
#include <sys/socket.h>

#include "headlight/base/json.h"
#include "headlight/base/line_input.h"
#include "headlight/cli/program/testing.h"
#include "headlight/io/safetensors.h"
#include "headlight/pipelines/translator.h"

namespace headlight::translate_test {
namespace {

using testing::HasSubstr, testing::Not;

struct TranslateTest : ProgramTest {
  const Translator translator = Translator::Load(model);
};

TEST_F(TranslateTest, GivesALineForEveryLineInTheirOrder) {
  std::string input;
  std::vector<std::string> expected;
  for (int i = 0; i < 40; ++i) {
    const std::string text =
        i % 5 == 3 ? "" : std::string(kSentences[static_cast<std::size_t>(i % 4)].substr(0, 10 + i / 2));
    input += text + (i % 2 == 0 ? "\n" : "\r\n");
    expected.push_back(translator.Translate(text));
  }
  input.resize(input.size() - 2);  // removes the line end of the last line
  const Outcome piped = RunProgram({"translate", model, "--quiet"}, input);
  EXPECT_EQ(piped.exit_code, 0);
  EXPECT_EQ(piped.err, "");
  EXPECT_EQ(Lines(piped.out), expected);
  // Reads a file, with a different batch size and one thread.
  const Outcome file =
      RunProgram({"translate", model, Write("in.txt", input), "--batch-tokens", "30", "--threads", "1"});
  EXPECT_EQ(file.out, piped.out);
  EXPECT_EQ(RunProgram({"translate", model}, "").out, "");
  EXPECT_EQ(RunProgram({"translate", model, "--beam-size", "1", "--draft"}, input).out,
            RunProgram({"translate", model, "--beam-size", "1"}, input).out);
  EXPECT_THAT(RefusalOf({"translate", model, "--draft", "--compute", "int8"}), HasSubstr("not in int8"));
}

// Checks that --draft is suggested if each line arrives after the translation of the previous line.
TEST_F(TranslateTest, SuggestsADraftForSingleLines) {
  const std::string large = folder.File("large");
  std::filesystem::create_directory(large);
  SaveTinyModel(large, 40, 4, std::int64_t{1} << 16);
  const auto notes = [&](std::vector<std::string> arguments) {
    int to_program[2], from_program[2], errors[2];
    EXPECT_EQ(pipe2(to_program, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(from_program, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(errors, O_CLOEXEC), 0);
    arguments.insert(arguments.begin(), "translate");
    arguments.insert(arguments.end(), {"--max-length", "4"});
    const pid_t process = StartProgram(arguments, to_program[0], from_program[1], errors[1]);
    for (const int end : {to_program[0], from_program[1], errors[1]}) close(end);
    for (int line = 0; line < 2; ++line) {
      EXPECT_EQ(write(to_program[1], "Ein Hund.\n", 10), 10);
      ReadLine(from_program[0]);
    }
    close(to_program[1]);
    std::string all;
    for (std::string line; !(line = ReadLine(errors[0])).empty();) all += line;
    EXPECT_EQ(AwaitProgram(process), 0);
    close(from_program[0]);
    close(errors[0]);
    return all;
  };
  EXPECT_THAT(notes({large, "--beam-size", "1", "--compute", "float32"}), HasSubstr("--draft gives the same text"));
  EXPECT_THAT(notes({large, "--beam-size", "1", "--draft"}), Not(HasSubstr("--draft")));
  EXPECT_THAT(notes({large}), Not(HasSubstr("--draft")));
  EXPECT_THAT(notes({model, "--beam-size", "1"}), Not(HasSubstr("--draft")));
}

TEST_F(TranslateTest, AnswersEachLineBeforeTheNext) {
  int to_program[2], from_program[2];
  ASSERT_EQ(pipe2(to_program, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(from_program, O_CLOEXEC), 0);
  const pid_t process = StartProgram({"translate", model, "--quiet"}, to_program[0], from_program[1], STDERR_FILENO);
  close(to_program[0]);
  close(from_program[1]);
  for (const std::string text : {"Ein Hund.", "", "Zwei Kinder spielen."}) {
    // An incomplete next line must not delay this translation.
    const std::string line = text + "\nGest";
    ASSERT_EQ(write(to_program[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
    EXPECT_EQ(ReadLine(from_program[0]), translator.Translate(text) + "\n");
    ASSERT_EQ(write(to_program[1], "ern\n", 4), 4);
    EXPECT_EQ(ReadLine(from_program[0]), translator.Translate("Gestern") + "\n");
  }
  close(to_program[1]);
  EXPECT_EQ(ReadLine(from_program[0]), "");
  EXPECT_EQ(AwaitProgram(process), 0);
  close(from_program[0]);
}

TEST_F(TranslateTest, PrintsTheBestTranslationsWithTheirScores) {
  const Outcome outcome =
      RunProgram({"translate", model, "--n-best", "3", "--beam-size", "5", "--alignments"}, "Ein Hund.\n\nHund\n");
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 3U + 1 + 3);
  const std::vector<std::string> texts = {"Ein Hund.", "", "Hund"};
  TranslateOptions options{.beam_size = 5, .n_best = 3};
  options.alignment = true;
  const auto expected = translator.TranslateBatch(texts, options);
  std::size_t row = 0;
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (const Translation& translation : expected[i]) {
      std::string pairs;
      for (const WordPair& pair : translation.alignment)
        pairs += fmt::format("{}{}-{}", pairs.empty() ? "" : " ", pair.source, pair.target);
      EXPECT_EQ(lines[row++], fmt::format("{}\t{:.6f}\t{}\t{}", i + 1, translation.score, translation.text, pairs));
    }
}

TEST_F(TranslateTest, SavesTheAttentionOfEveryHead) {
  const std::string path = folder.File("attention.safetensors");
  const Outcome outcome = RunProgram({"translate", model, "--output-attentions", path}, "Ein Hund.\n\nHund\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(Lines(outcome.out).size(), 3U);
  const Safetensors saved(path);
  EXPECT_EQ(saved.tensors().size(), 2U * (2 + 3 + 3));
  const AttentionRecord expected = translator.Attention("Hund");
  EXPECT_EQ(saved.Read("2.cross.1").ToVector<float>(), expected.maps[6].weights);
  EXPECT_EQ(saved.At("2.encoder.0").shape, (Shape{2, expected.maps[0].queries, expected.maps[0].keys}));
  EXPECT_EQ(saved.metadata().at("2.source"), Json(expected.source_tokens).Line());
  EXPECT_EQ(saved.metadata().at("2.target"), Json(expected.target_tokens).Line());
}

TEST_F(TranslateTest, NamesLinesThatAreTooLong) {
  const std::string sentence = "Zwei Kinder spielen, sie lachen.", line = sentence + " " + sentence;
  const Outcome outcome = RunProgram({"translate", model}, "Hund\n" + line + "\n");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(Lines(outcome.out)[1], translator.Translate(sentence) + " " + translator.Translate(sentence));
  EXPECT_THAT(outcome.err, HasSubstr("standard input: line 2: "));
  EXPECT_THAT(outcome.err, HasSubstr("in 2 parts"));
  EXPECT_EQ(RunProgram({"translate", model, "--quiet"}, line + "\n").err, "");
  // Tests a very long line.
  std::string book;
  for (int i = 0; i < 60; ++i) book += sentence + " ";
  EXPECT_THAT(RunProgram({"translate", model, "--beam-size", "1"}, book).err, HasSubstr("parts"));
  EXPECT_THAT(RefusalOf({"translate", model}, std::string(kMaxLineBytes + 1, 'a')), HasSubstr("line 1: longer than"));
}

TEST_F(TranslateTest, NamesTranslationsThatAreCut) {
  EXPECT_THAT(RunProgram({"translate", model, "--max-length", "2"}, "Ein Hund\n").err, HasSubstr("line 1: "));
}

TEST_F(TranslateTest, AnswersTheLinesBeforeABadOne) {
  const Outcome outcome = RunProgram({"translate", model, "--quiet"}, "Hund\nEin H\xfcnd\nHund\n");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, translator.Translate("Hund") + "\n");
  EXPECT_EQ(outcome.err, "headlight: standard input: line 2: byte 5 is not UTF-8\n");
}

TEST_F(TranslateTest, ReportsAFullOutput) {
  const Outcome outcome = RunProgram({"translate", model}, "Hund\n", "/dev/full");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("standard output: cannot write: No"));
  EXPECT_EQ(RunProgram({"--help"}, "", "/dev/full").exit_code, 2);
  // Output files are checked before the translation starts.
  EXPECT_THAT(RefusalOf({"translate", model, "--output-attentions", "/nowhere/a.safetensors"}, "Hund\n"),
              HasSubstr("/nowhere/a"));
}

TEST_F(TranslateTest, EndsQuietlyWhenItsReaderIsGone) {
  int to_program[2], from_program[2], errors[2];
  ASSERT_EQ(pipe2(to_program, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(from_program, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(errors, O_CLOEXEC), 0);
  const pid_t process = StartProgram({"translate", model, "--quiet"}, to_program[0], from_program[1], errors[1]);
  for (const int descriptor : {to_program[0], from_program[1], errors[1], from_program[0]}) close(descriptor);
  // The input remains open. The program ends because its output was closed.
  ASSERT_EQ(write(to_program[1], "Hund\n", 5), 5);
  EXPECT_EQ(AwaitProgram(process), 128 + SIGPIPE);
  EXPECT_EQ(ReadLine(errors[0]), "");
  close(to_program[1]);
  close(errors[0]);
}

TEST_F(TranslateTest, EndsWhenItsTerminalIsGone) {
  int terminal = -1;
  const pid_t process = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (process == 0) {
    execl((BuildFolder() + "/headlight").c_str(), "headlight", "translate", model.c_str(), nullptr);
    _exit(127);
  }
  ASSERT_EQ(write(terminal, "Hund\n", 5), 5);
  std::string echo = ReadLine(terminal);
  if (echo.starts_with("reading standard input")) echo = ReadLine(terminal);  // the note may be printed first
  EXPECT_EQ(echo, "Hund\r\n");
  EXPECT_THAT(ReadLine(terminal), testing::EndsWith("\r\n"));
  close(terminal);
  EXPECT_THAT(AwaitProgram(process), testing::AnyOf(-SIGHUP, 0, 2));
}

TEST_F(TranslateTest, RefusesImpossibleOptions) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--beam-size", "0"}, "--beam-size must be from 1 to 1024, not 0"},
      {{"--beam-size", "-1"}, "--beam-size must be"},
      {{"--beam-size", "many"}, "--beam-size"},
      {{"--n-best", "5"}, "--n-best must be from 1 to --beam-size, 4, not 5"},
      {{"--n-best", "0"}, "from 1 to"},
      {{"--length-penalty", "nan"}, "--length-penalty must be a finite number, not nan"},
      {{"--max-length", "41"}, "40 positions"},
      {{"--max-length", "-2"}, "--max-length must be at least 1, not -2"},
      {{"--batch-tokens", "0"}, "batch"},
      {{"--threads", "0"}, "threads"},
      {{"--beams", "3"}, "--beams"},
      {{folder.File("nothing.txt")}, "nothing.txt: there is no such file"},
      {{folder.path()}, "a folder"},
  };
  for (const auto& [arguments, expected] : cases) {
    std::vector<std::string> all = {"translate", model};
    all.insert(all.end(), arguments.begin(), arguments.end());
    EXPECT_THAT(RefusalOf(all, "Hund\n"), HasSubstr(expected));
  }
}

}  // namespace
}  // namespace headlight::translate_test
