// Tests the exact wordings of error messages in one table. Other tests only check the essential parts of a message.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/cli/program/testing.h"

namespace headlight::wordings_test {
namespace {

// A command and its complete error message. "@" is the test's folder, and "%" is tests/testdata.
struct Wording {
  const char *command, *message;
};

struct SmallFile {
  const char* name;
  std::string_view content;
};

using std::literals::string_view_literals::operator""sv;

// A safetensors file without tensors.
constexpr std::string_view kNoTensors = "\2\0\0\0\0\0\0\0{}"sv;

constexpr SmallFile kFiles[] = {
    {"text", "ein hund\nzwei\n"sv},
    {"one", "a\n"sv},
    {"latin1", "a\351\n"sv},
    {"bad.json", "{\"a\": }"sv},
    {"bad.jsonl", "{\"text\": 1}\n"sv},
    {"keys.jsonl", "{\"txt\": \"a\"}\n"sv},
    {"no.csv", "id,body\n1,x\n"sv},
    {"good.fasta", ">a\nMKV\n"sv},
    {"a.a3m", ">q\nMKV\n>r\nMK\n"sv},
    {"a.pdb", "ATOM\n"sv},
    {"b.pdb", "REMARK\n"sv},
    {"short.png", "\211PNG\015\n\032\n"sv},
    {"a-images-idx3-ubyte", "abc"sv},
    {"a.safetensors", "xx"sv},
    {"a.npz", "xx"sv},
    {"options", "beam-size = 0\n"sv},
    {"names", "beem-size = 1\n"sv},
    {"noval", "beam-size\n"sv},
    {"quote", "task = \"a\n"sv},
    {"section", "[a]\n"sv},
    {"pairs", "ein hund a dog\n"sv},
    {"classes", "a\tx\nb\n"sv},
    {"long.tsv", "a\tb\tc\td\n"sv},
    {"long", "a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a\n"sv},
    {"pointer/config.json", "{\"model_type\": \"gpt2\", \"n_layer\": 1}"sv},
    {"pointer/model.safetensors", "version https://git-lfs.github.com/spec/v1\n"sv},
    {"begun/training.json", "{}"sv},
    {"begun/model.safetensors", "xx"sv},
    {"broken/config.json", "{\"model_type\": \"bert\",}"sv},
    {"typeless/config.json", "{}"sv},
    {"missing/config.json", "{\"model_type\": \"gpt2\"}"sv},
    {"list/config.json", "[]"sv},
    {"wrong/config.json", "{\"model_type\": \"gpt2\", \"n_layer\": \"two\"}"sv},
    {"negative/config.json", "{\"model_type\": \"gpt2\", \"n_layer\": -1}"sv},
    {"keys/config.json", "{\"model_type\": \"gpt2\", \"rope_theta\": 1}"sv},
    {"cut/config.json", "{\"model_type\": \"gpt2\", \"n_layer\": 1}"sv},
    {"cut/model.safetensors", "xx"sv},
    {"head/config.json", "{\"model_type\": \"gpt2\", \"n_layer\": 1}"sv},
    {"head/model.safetensors", "\002\000\000\000\000\000\000\000[]"sv},
    {"range/config.json", "{\"model_type\": \"gpt2\", \"n_head\": 5}"sv},
    {"act/config.json", "{\"model_type\": \"gpt2\", \"activation_function\": \"sine\"}"sv},
    {"index/vectors", ""sv},
    {"a.index", "IxXX"sv},
    {"missing/model.safetensors", kNoTensors},
    {"wrong/model.safetensors", kNoTensors},
    {"negative/model.safetensors", kNoTensors},
    {"keys/model.safetensors", kNoTensors},
    {"range/model.safetensors", kNoTensors},
    {"act/model.safetensors", kNoTensors},
};

constexpr Wording kWordings[] = {
    {"translte", "headlight has no command \"translte\"; did you mean \"translate\"?"},
    {"translate",
     "headlight translate needs DIR (Folder of an encoder-decoder model, or GGUF file of a T5); usage: headlight "
     "translate [OPTIONS] DIR [FILE]"},
    {"train translaton", "headlight train has no command \"translaton\"; did you mean \"translation\"?"},
    {"translate @model --beem-size 3", "headlight translate has no option --beem-size; did you mean --beam-size?"},
    {"translate @model --beam-size 0", "--beam-size must be from 1 to 1024, not 0"},
    {"translate @model --beam-size 1.5", "--beam-size must be a whole number, from 1 to 1024, not 1.5"},
    {"translate @model --beam-size 99999999999999999999",
     "--beam-size must be from 1 to 1024, not 99999999999999999999"},
    {"translate @model --length-penalty x", "--length-penalty must be a number, not x"},
    {"translate @model --temperature 0", "--temperature must be above 0, not 0"},
    {"translate @model --top-p 2", "--top-p must be above 0 and at most 1, not 2"},
    {"convert @model --out @a.gguf --compute int8",
     "--compute: is for folders; the tensors of a GGUF file have a --type"},
    {"convert @model --out @new", "--compute: is needed for a folder; float32, int8 and int4 are known"},
    {"convert @model --out @new --compute int8 --type Q8_0",
     "--type: is for GGUF files, and --out @new does not end in .gguf"},
    {"convert %/decoders/qwen3 --out @a.gguf --save-importance @b",
     "--save-importance: needs --importance, the text to measure it on"},
    {"translate @model --beam-size", "--beam-size needs a value: N"},
    {"translate @model @text @one",
     "headlight translate: unexpected argument @one; usage: headlight translate [OPTIONS] DIR [FILE]"},
    {"translate @none",
     "@none: no such folder; a model is a folder or a GGUF file, and `headlight pull ORG/NAME` downloads one"},
    {"translate nothing-here",
     "nothing-here: no such folder, and no such model in the cache; `headlight pull` takes the full name, ORG/NAME, "
     "see "
     "\"Names in the examples\" in docs/guides/get_a_model.md"},
    {"translate nothing/here",
     "nothing/here: no such folder, and no such model in the cache; `headlight pull nothing/here` downloads a model"},
    {"fold @none.npz --sequence MKV", "@none.npz: no such file"},
    {"translate @none.gguf", "@none.gguf: no such file"},
    {"contacts @model",
     "@model: is of type 'marian'; contacts are predicted by an ESM with a contact head, an AlphaFold or an ESMFold"},
    {"translate @text", "@text: is neither a folder nor a GGUF file"},
    {"translate @model @none", "@none: there is no such file; texts are read from a file, or from standard input (-)"},
    {"translate @model @latin1", "@latin1: line 1: byte 1 is not UTF-8"},
    {"translate @model --n-best 5", "--n-best must be from 1 to --beam-size, 4, not 5"},
    {"translate @model --sample --beam-size 4", "sampling is for a --beam-size of 1"},
    {"translate @model --min-length 9 --max-length 8", "--min-length must be from 0 to --max-length, 8, not 9"},
    {"translate @model --config @options @text", "@options: line 1: --beam-size must be from 1 to 1024, not 0"},
    {"translate @model --config @names @text",
     "@names: line 1: headlight translate has no option --beem-size; did you mean --beam-size?"},
    {"translate @model --config @noval @text", "@noval: line 1: expected NAME = VALUE"},
    {"translate @model --config @quote @text", "@quote: line 1: the text has no end \""},
    {"translate @model --config @section @text",
     "@section: line 1: sections are not allowed; all options are those of the command that is run"},
    {"translate @model --config @none @text", "--config @none: there is no file to read"},
    {"generate %gpt/gpt2 @text",
     "%gpt/gpt2/tokenizer.json is missing; a tokenizer needs it, or vocab.txt, or vocab.json and merges.txt, or a "
     "SentencePiece model in spiece.model, sentencepiece.bpe.model or spm.model"},
    {"classify %encoders/answer @text", "%encoders/answer: the model has no head for classes of texts; it has answers"},
    {"classify %encoders/classify @text --top-k 0", "--top-k must be at least 1, not 0"},
    {"classify %encoders/classify @bad.jsonl", "@bad.jsonl:1: key 'text': expected a string, got 1"},
    {"classify %encoders/classify @keys.jsonl",
     "@keys.jsonl:1: expected text or sentence or sentence1 or question or premise or question1, and there is 'txt'; "
     "--text-column names the key of the text"},
    {"classify %encoders/classify @no.csv",
     "@no.csv:1: expected text or sentence or sentence1 or question or premise or question1, and the header has "
     "'id, body'; --text-column names the column of the text, and --format text reads whole lines"},
    {"classify %encoders/classify @long.tsv",
     "@long.tsv: line 1: it has more than one tab; a line is a text, or two with a tab between them"},
    {"classify %encoders/classify @long",
     "@long: line 1: 32 tokens, and the model reads at most 24; --truncate leaves out its end"},
    {"classify %images/deit_classes @short.png",
     "%images/deit_classes: there is neither preprocessor_config.json nor processor_config.json, which say how images "
     "are prepared"},
    {"classify %images/deit_classes @a-images-idx3-ubyte",
     "@a-images-idx3-ubyte: the IDX file is damaged or ends early"},
    {"answer %encoders/classify @text",
     "%encoders/classify: the model has no head for answers; it has pooler, classes of texts"},
    {"tag %encoders/classify @text",
     "%encoders/classify: the model has no head for classes of tokens; it has pooler, classes of texts"},
    {"embed %encoders/classify @text --pool middle", "--pool must be folder, residues or none, not middle"},
    {"caption %encoders/classify @short.png",
     "%encoders/classify: is a bert model, a text encoder, and an image captioning model is needed: "
     "blip, vision-encoder-decoder"},
    {"detect %detectors/detr @short.png --threshold 2", "--threshold must be from 0 to 1, not 2"},
    {"detect %encoders/classify @short.png",
     "%encoders/classify: is a bert model, a text encoder, and a detector is needed: detr"},
    {"segment %detectors/detr @short.png", "%detectors/detr: the model finds boxes and has no head for masks"},
    {"score %encoders/esm_masked_left @good.fasta",
     "%encoders/esm_masked_left: this is an encoder, and a language model is needed; for variants of a protein, "
     "name them with --variant"},
    {"score %encoders/esm_masked_left @good.fasta --variant 45G",
     "variant '45G': a substitution is a residue, its position and another residue, such as A45G; several are joined "
     "by "
     "colons"},
    {"compare @a.pdb @b.pdb", "@a.pdb: there is no protein chain, or this is neither PDB nor mmCIF"},
    {"info @broken",
     "@broken/config.json: byte 23: not valid JSON: unexpected '}'; expected "
     "string literal"},
    {"info @typeless", "@typeless/config.json: key 'model_type': expected a string, but there is none"},
    {"info @missing",
     "@missing/model.safetensors: tensors that this model needs are missing: wte.weight, wpe.weight, h.0.ln_1.weight, "
     "h.0.ln_1.bias, h.0.attn.c_proj.weight, h.0.attn.c_proj.bias, h.0.attn.c_attn.weight, h.0.attn.c_attn.bias and "
     "140 more"},
    {"info @list", "@list/config.json: expected an object, got an array"},
    {"info @wrong", "@wrong/config.json: key 'n_layer': expected an integer from 1 to 1024, got 'two'"},
    {"info @negative", "@negative/config.json: key 'n_layer': expected an integer from 1 to 1024, got -1"},
    {"info @keys", "@keys/config.json: unknown key: 'rope_theta'; without support the result would be wrong"},
    {"info @a.npz", "@a.npz: 2 bytes are not a zip archive"},
    {"forward %gpt/gpt2 @a.safetensors",
     "headlight forward needs --out FILE (Safetensors file to write the outputs to); usage: headlight forward "
     "[OPTIONS] DIR "
     "IN"},
    {"search @none dog", "@none: no such folder or file"},
    {"search @index dog", "@index: is not a vector index: there is no index.json"},
    {"search @a.index dog",
     "@a.index: an index of FAISS does not name the model that made it; --model DIR is required"},
    {"bleu @text --metric meteor @text", "--metric must be bleu, chrf, chrf++ or ter, not meteor"},
    {"evaluate @model @pairs", "@pairs:1: expected a source, a tab and its target"},
    {"evaluate @model @text --reference @one", "@text has 2 lines and @one has 1: each source needs its reference"},
    {"look @model --source x --layer 9 --out @a.html",
     "layer 9: the model has no such attention; it has: encoder 1, encoder 2, decoder 1, decoder 2, decoder 3, cross "
     "1, cross 2, cross 3, rollout 1, rollout 2"},
    {"look @model --source x --attention self --out @a.html",
     "--attention must be encoder, decoder, cross, text-to-image, image-to-text or rollout, not self"},
    {"look @model --source x --out @a.docx", "@a.docx: the file's ending must be .html, .svg, .png or .pdf"},
    {"train tokenizer @text --vocabulary-size 5 --out @tok",
     "@text: --vocabulary-size is 5, but this text's characters and the special tokens need 12"},
    {"train tokenizer @text --subword-type bpee --out @tok",
     "--subword-type must be bpe, wordpiece or unigram, not bpee"},
    {"train translation --train @text @one --valid @text @text --out @new",
     "@text has 2 lines, but @one has 1: each line needs its translation"},
    {"train translation --train @text @text --valid @text @text --out @new --heads 3 --model-dim 16",
     "--heads 3 does not divide --model-dim 16"},
    {"train translation --train @text @text --valid @text @text --out @new --dropout 1",
     "--dropout must be at least 0 and below 1, not 1"},
    {"train translation --train @text @text --valid @text @text --out @begun",
     "@begun: holds a training already; --resume resumes it, another --out starts a new one"},
    {"train translation --train @text @text --out @new",
     "--valid FILE ... or --validate-split SHARE is needed, to validate on"},
    {"train translation --train @text @text --valid @text @text --out @new --learning-rate 0",
     "--learning-rate must be above 0, not 0"},
    {"train translation --train @text @text --valid @text @text --out @new --preset large",
     "--preset must be base or multi30k, not large"},
    {"check texts @text --max-tokens 3", "--max-tokens needs --tokenizer"},
    {"bench nothing",
     "headlight bench has no command \"nothing\"; there are: encode, fold, generate, images, kernels, train, "
     "translate"},
    {"completion tcsh", "SHELL must be bash, zsh or fish, not tcsh"},
    {"info @missing",
     "@missing/model.safetensors: tensors that this model needs are missing: wte.weight, wpe.weight, h.0.ln_1.weight, "
     "h.0.ln_1.bias, h.0.attn.c_proj.weight, h.0.attn.c_proj.bias, h.0.attn.c_attn.weight, h.0.attn.c_attn.bias and "
     "140 more"},
    {"info @wrong", "@wrong/config.json: key 'n_layer': expected an integer from 1 to 1024, got 'two'"},
    {"info @negative", "@negative/config.json: key 'n_layer': expected an integer from 1 to 1024, got -1"},
    {"info @cut", "@cut/model.safetensors: 2 bytes are too few for a safetensors file"},
    {"info @pointer",
     "@pointer/model.safetensors: this is a pointer of Git LFS, not the file itself: fetch it with `git lfs pull`"},
    {"info @head", "@head/model.safetensors: the header does not begin with '{': not safetensors?"},
    {"info @range", "@range/config.json: the number of heads must divide the model dimension: 5 does not divide 768"},
    {"info @act",
     "@act/config.json: key 'activation_function': expected one of 'relu', 'gelu', 'gelu_new', 'gelu_pytorch_tanh', "
     "'swish', 'silu', 'quick_gelu', 'tanh', got 'sine'"},
    {"fold %alphafold/model --sequence M1 --out @o.pdb", "--sequence: '1' is not a letter of an amino acid"},
    {"fold %alphafold/model --msa @a.a3m --out @o.pdb", "@a.a3m: line 3: 'r' has 2 columns, but the query has 3"},
    {"fold %alphafold/model --out @o.pdb", "--msa, --sequence or --file is required"},
    {"fold %alphafold/model --sequence MK --out @o.txt",
     "--out @o.txt: a structure is written as .cif (mmCIF) or .pdb"},
    {"forward %gpt/gpt2 @a.safetensors --out @o", "@a.safetensors: 2 bytes are too few for a safetensors file"},
    {"embed %encoders/classify @text --pool none",
     "%encoders/classify: --pool is for models of proteins, such as ESM-2, whose tokens are residues"},
    {"train tokenizer @text --vocabulary-size 50 --out @model",
     "@model: holds 'config.json', part of a model or of another tokenizer: name another folder"},
    {"train classification --train @classes --valid @classes --out @new",
     "either --from DIR, to fine-tune a model, or --tokenizer DIR, for one from scratch"},
    {"check @none", "@none: no such file or folder"},
    {"check @text --task words", "--task must be texts, parallel, pairs, labels, questions or tags, not words"},
    {"translate @model @text --shard 3/2", "--shard 3/2: must be I/N, such as 3/8 for the third of eight parts"},
    {"translate @model @text --min-length -1", "--min-length must be at least 0, not -1"},
    {"translate @model @text --skip-errors=maybe", "--skip-errors takes no value"},
};

std::string Replaced(std::string text, std::string_view mark, const std::string& path) {
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += path.size())
    text.replace(at, mark.size(), path);
  return text;
}

TEST_F(ProgramTest, FailsWithTheWordingsOfTheTable) {
  const auto with_paths = [&](const char* text) {
    return Replaced(Replaced(text, "%", HEADLIGHT_SOURCE_DIR "/tests/testdata/"), "@", folder.path() + "/");
  };
  for (const auto& [name, content] : kFiles) {
    std::filesystem::create_directories(std::filesystem::path(folder.File(name)).parent_path());
    Write(name, content);
  }
  for (const auto& [command, message] : kWordings) {
    std::vector<std::string> arguments;
    for (std::string_view rest = command; !rest.empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      arguments.push_back(with_paths(std::string(rest.substr(0, end)).c_str()));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    EXPECT_EQ(RefusalOf(arguments), "headlight: " + with_paths(message) + "\n") << command;
  }
}

// Checks that each message in the troubleshooting guide is part of a wording. "..." matches any text.
TEST(Troubleshooting, ShowsWordingsOfTheTable) {
  int count = 0;
  for (const std::string& line : Lines(ReadFile(HEADLIGHT_SOURCE_DIR "/docs/guides/troubleshooting.md"))) {
    if (!line.starts_with("| `") || line.starts_with("| `headlight") || line.starts_with("| `cmake")) continue;
    const std::string message = line.substr(3, line.find('`', 3) - 3);
    if (message.find(' ') == std::string::npos || message.starts_with("--resume")) continue;
    ++count;
    const auto shows = [&](const Wording& wording) {
      const std::string_view text = wording.message;
      std::size_t at = 0;
      for (std::string_view rest = message; !rest.empty() && at != std::string_view::npos;) {
        const std::size_t end = std::min(rest.find("..."), rest.size());
        at = text.find(rest.substr(0, end), at);
        rest.remove_prefix(std::min(end + 3, rest.size()));
      }
      return at != std::string_view::npos;
    };
    EXPECT_TRUE(std::ranges::any_of(kWordings, shows)) << message;
  }
  EXPECT_GE(count, 10);
}

}  // namespace
}  // namespace headlight::wordings_test
