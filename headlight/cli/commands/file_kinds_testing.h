// Lists all kinds of files that the program reads. Each kind has a tiny valid sample and a command that reads it.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/gzip_testing.h"
#include "headlight/cli/commands/file_samples_testing.h"
#include "headlight/pipelines/dual_testing.h"
#include "headlight/pipelines/image_testing.h"
#include "headlight/pipelines/protein_testing.h"
#include "headlight/pipelines/testing.h"
#include "headlight/synthetic/scene_files.h"

namespace headlight::file_kinds {

// Adds a config.json of each family.
inline void AddFamilies(std::vector<Kind>& kinds) {
  const auto add = [&](const std::string& model, const Make& inputs, const Command& command = kForward) {
    kinds.push_back({"config.json of " + model, "model/config.json", Form::json, command,
                     Both(Copied(kData + model, "model"), inputs)});
  };
  for (const char* model : {"bert/gelu",
                            "encoders/distilbert",
                            "encoders/roberta",
                            "encoders/deberta",
                            "encoders/deberta_v2",
                            "encoders/esm",
                            "gpt/gpt1",
                            "gpt/gpt2",
                            "gpt/gpt3",
                            "gpt/imagegpt",
                            "transformers/marian_gelu_two_tables",
                            "transformers/pegasus_gelu",
                            "encoder_decoders/bart_gelu",
                            "encoder_decoders/mbart_gelu",
                            "encoder_decoders/t5_relu",
                            "encoder_decoders/mt5_gated_silu",
                            "vilbert/tasks",
                            "lxmert/answers",
                            "visual_bert/answers",
                            "vilt/answers"})
    add(model, GoldenInputs(model));
  struct OfImages {
    const char* model;
    std::int64_t side, channels = 3;
  };
  for (const auto& [model, side, channels] :
       {OfImages{"images/vit", 8}, OfImages{"images/deit", 12}, OfImages{"images/dino", 12},
        OfImages{"images/dinov2", 8}, OfImages{"images/dinov2_registers", 28}, OfImages{"images/dinov3", 8},
        OfImages{"resnets/basic_classes", 16, 1}, OfImages{"detectors/detr", 32}, OfImages{"detectors/detr_masks", 32},
        OfImages{"dalle/discrete_vae", 8}, OfImages{"dalle/openai_vae", 24}})
    add(model, Inputs({{"pixel_values", Ramp({1, channels, side, side})}}));
  const Tensor image = Ramp({1, 3, 8, 8});
  for (const char* model : {"clip/clip", "clip/siglip"})
    add(model, Inputs({{"pixel_values", image}, {"input_ids", Ids({1, 4})}}));
  for (const char* model : {"captions/blip", "captions/vit_gpt2"})
    add(model, Inputs({{"pixel_values", image}, {"decoder_input_ids", Ids({1, 4})}}));
  add("dalle/dalle", Inputs({{"input_ids", Ids({1, 3})}}));
  add("dalle/dalle_mini", Inputs({{"input_ids", Ids({1, 4})}}));
  for (const char* model : {"alphafold/model", "esmfold"})
    add(model, [](const TemporaryFolder&) {},
        {"fold", "@model", "--sequence", "MKV", "--recycles", "0", "--out", "@out.cif"});
}

inline void AddWeights(std::vector<Kind>& kinds) {
  const Make model = Both(Copied(kData + "encoders/distilbert", "model"), GoldenInputs("encoders/distilbert"));
  kinds.push_back({"safetensors", "model/model.safetensors", Form::safetensors, kForward, model});
  kinds.push_back({"inputs of forward", "inputs.safetensors", Form::safetensors, kForward, model});
  kinds.push_back({"safetensors index", "model/model.safetensors.index.json", Form::json, kForward,
                   Both(model, [](const TemporaryFolder& folder) {
                     const std::string part = "model-00001-of-00001.safetensors";
                     std::filesystem::rename(folder.File("model/model.safetensors"), folder.File("model/") + part);
                     const Safetensors weights(folder.File("model/") + part);
                     Json map = Json::Object{};
                     for (const auto& [name, tensor] : weights.tensors()) map.Set(name, part);
                     WriteFile(folder.File("model/model.safetensors.index.json"),
                               Json(Json::Object{{"metadata", Json::Object{}}, {"weight_map", map}}).Text());
                   })});
  for (const char* format : {"archive", "older"})
    kinds.push_back({std::string("pytorch_model.bin, ") + format, "model/pytorch_model.bin", Form::binary, kForward,
                     Both(model, [=](const TemporaryFolder& folder) {
                       std::filesystem::remove(folder.File("model/model.safetensors"));
                       CopyTo(kData + "torch/" + format + ".bin", folder.File("model/pytorch_model.bin"));
                     })});
  kinds.push_back({"npz of AlphaFold",
                   "params_model_3_ptm.npz",
                   Form::binary,
                   {"fold", "@params_model_3_ptm.npz", "--sequence", "MKV", "--recycles", "0", "--out", "@out.cif"},
                   Copied(kData + "alphafold/published/params_model_3_ptm.npz", "params_model_3_ptm.npz"),
                   "",
                   false,
                   0.3});
}

inline void AddTokenizers(std::vector<Kind>& kinds) {
  const Command tokenize = {"tokenize", "@model"};
  const std::string input = "Ein Hund, two dogs: 12 Caf\xc3\xa9s! <mask>\n";
  for (const char* name : {"bert_uncased", "gpt2", "clip", "t5", "deberta", "roberta", "byte_fallback", "gpt1"})
    kinds.push_back({std::string("tokenizer.json of ") + name, "model/tokenizer.json", Form::json, tokenize,
                     Copied(kTokenizers + "family_" + name + ".json", "model/tokenizer.json"), input});
  const auto with_config = [](const std::string& kind, const std::string& file, const std::string& to) {
    return Both(Copied(kTokenizers + file, "model/" + to),
                Text("model/tokenizer_config.json", Json(Json::Object{{"tokenizer_class", kind}}).Text()));
  };
  kinds.push_back({"spiece.model", "model/spiece.model", Form::binary, tokenize,
                   with_config("T5Tokenizer", "spm_t5.model", "spiece.model"), input});
  kinds.push_back({"sentencepiece.bpe.model", "model/sentencepiece.bpe.model", Form::binary, tokenize,
                   with_config("XLMRobertaTokenizer", "spm_fairseq.model", "sentencepiece.bpe.model"), input});
  const Make marian = Saved([](const std::string& folder) { SaveTinyModel(folder); });
  kinds.push_back({"source.spm", "model/source.spm", Form::binary, {"translate", "@model"}, marian, input});
  kinds.push_back({"vocab.json of Marian", "model/vocab.json", Form::json, {"translate", "@model"}, marian, input});
  const Make words = Both(Text("model/vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ndog\n##s\ntwo\nein\n,\n:\n!\n"),
                          Text("model/tokenizer_config.json",
                               R"({"tokenizer_class": "BertTokenizer", "do_lower_case": true, "model_max_length": 64,
                                   "strip_accents": null, "truncation_side": "right", "unk_token": "[UNK]",
                                   "added_tokens_decoder": {"4": {"content": "[MASK]", "special": true, "lstrip": true,
                                   "rstrip": false, "normalized": false, "single_word": false}}})"));
  // If added_tokens_decoder is missing, Transformers reads special_tokens_map.json and added_tokens.json.
  const Make declared =
      Both(Both(words, Text("model/tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer"})")),
           Both(Text("model/special_tokens_map.json",
                     R"({"mask_token": "[MASK]", "additional_special_tokens": ["<a>", {"content": "<b>",
                         "lstrip": true}], "cls_token": "[CLS]"})"),
                Text("model/added_tokens.json", R"({"<c>": 12, "<a>": 13, "<b>": 14})")));
  kinds.push_back({"vocab.txt", "model/vocab.txt", Form::text, tokenize, words, input});
  kinds.push_back({"tokenizer_config.json", "model/tokenizer_config.json", Form::json, tokenize, words, input});
  kinds.push_back({"special_tokens_map.json", "model/special_tokens_map.json", Form::json, tokenize, declared, input});
  kinds.push_back({"added_tokens.json", "model/added_tokens.json", Form::json, tokenize, declared, input});
  const Make pairs = Both(
      Both(Text("model/vocab.json", R"({"<|endoftext|>": 0, "a": 1, "b": 2, "d": 3, "o": 4, "g": 5, "do": 6, "dog": 7,
                                        "\u0120": 8, "\u0120dog": 9, "s": 10, "t": 11, "w": 12, "E": 13, "i": 14,
                                        "n": 15, "H": 16, "u": 17, ",": 18, ":": 19, "1": 20, "2": 21, "C": 22,
                                        "f": 23, "\u00c3": 24, "\u00a9": 25, "!": 26, "<": 27, ">": 28, "m": 29,
                                        "k": 30, "\u010a": 31})"),
           Text("model/merges.txt", "#version: 0.2\nd o\ndo g\n\xc4\xa0 dog\n")),
      Text("model/tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer", "unk_token": "<|endoftext|>"})"));
  kinds.push_back({"vocab.json", "model/vocab.json", Form::json, tokenize, pairs, input});
  kinds.push_back({"merges.txt", "model/merges.txt", Form::text, tokenize, pairs, input});
}

// Adds the other files of a model's folder.
inline void AddSettings(std::vector<Kind>& kinds) {
  const std::string every_setting =
      R"({"max_new_tokens": 5, "min_new_tokens": 1, "num_beams": 2, "repetition_penalty": 1.2,
          "no_repeat_ngram_size": 3, "bad_words_ids": [[3, 4]], "sequence_bias": [[[5], 1.5]], "suppress_tokens": [6],
          "begin_suppress_tokens": [7], "eos_token_id": [0, 1], "forced_eos_token_id": 2,
          "exponential_decay_length_penalty": [2, 1.1], "length_penalty": 0.8, "early_stopping": true, "top_k": 5,
          "top_p": 0.9, "typical_p": 0.9, "min_p": 0.01, "temperature": 0.7, "stop_strings": ["dog"],
          "renormalize_logits": true, "do_sample": false, "num_return_sequences": 1, "pad_token_id": 0})";
  const Make gpt = Both(Saved([](const std::string& folder) { SaveTinyGpt(folder); }),
                        Text("model/generation_config.json", every_setting));
  kinds.push_back(
      {"generation_config.json", "model/generation_config.json", Form::json, {"generate", "@model"}, gpt, "A dog\n"});
  const Make marian = Both(Saved([](const std::string& folder) { SaveTinyModel(folder); }),
                           Text("model/generation_config.json", every_setting));
  kinds.push_back({"generation_config.json of Marian",
                   "model/generation_config.json",
                   Form::json,
                   {"translate", "@model"},
                   marian,
                   "Ein Hund.\n"});
  const auto processor = [&](const std::string& name, const std::string& model, const Command& command) {
    kinds.push_back({"preprocessor_config.json of " + name, "model/preprocessor_config.json", Form::json, command,
                     Copied(kData + model, "model")});
  };
  processor("captions", "captions/blip_text", {"caption", "@model", kImageData + "rgb.png", "--max-length", "3"});
  processor("detectors", "detectors/detr", {"detect", "@model", kImageData + "rgb.png"});
  kinds.push_back({"preprocessor_config.json",
                   "model/preprocessor_config.json",
                   Form::json,
                   {"classify", "@model", kImageData + "rgb.png"},
                   Saved([](const std::string& folder) { SaveTinyVit(folder); })});
  kinds.push_back({"preprocessor_config.json of CLIP",
                   "model/preprocessor_config.json",
                   Form::json,
                   {"embed", "@model", kImageData + "rgb.png"},
                   Saved([](const std::string& folder) { SaveTinyClip(folder); })});
  kinds.push_back({"preprocessor_config.json of ImageGPT",
                   "model/preprocessor_config.json",
                   Form::json,
                   {"evaluate", "@model", kImageData + "rgb.png"},
                   Saved([](const std::string& folder) { SaveTinyImageGpt(folder); })});
  const Make sentences =
      Both(Both(Copied(kData + "bert/sentences", "model"),
                Text("model/config_sentence_transformers.json",
                     R"({"prompts": {"query": "Two: ", "document": "A "}, "default_prompt_name": "query",
                    "similarity_fn_name": "cosine", "truncate_dim": 8})")),
           Text("model/modules.json",
                R"([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
               {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
               {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])"));
  for (const char* file :
       {"modules.json", "1_Pooling/config.json", "sentence_bert_config.json", "config_sentence_transformers.json"})
    kinds.push_back({file, std::string("model/") + file, Form::json, {"embed", "@model"}, sentences, "Two dogs.\n"});
}

inline void AddImages(std::vector<Kind>& kinds) {
  const Make vit = Saved([](const std::string& folder) { SaveTinyVit(folder); });
  for (const auto& [name, file] :
       {std::pair("PNG", "rgb.png"), std::pair("PNG with a palette", "palette_transparent.png"),
        std::pair("PNG with Exif", "exif.png"), std::pair("JPEG", "rgb.jpg"), std::pair("JPEG with Exif", "exif_6.jpg"),
        std::pair("progressive JPEG", "progressive.jpg"), std::pair("WebP", "lossy.webp"),
        std::pair("lossless WebP", "lossless_alpha.webp"), std::pair("animated WebP", "animated.webp")})
    kinds.push_back({name,
                     std::string("image.") + file,
                     Form::binary,
                     {"classify", "@model", std::string("@image.") + file},
                     Both(vit, Copied(kImageData + file, std::string("image.") + file))});
  const Make shapes = Both(vit, [](const TemporaryFolder& folder) {
    WriteShapes(folder.File("s"), 3, 1, {.height = 20, .width = 20, .fewest = 1, .most = 1});
    Json config = ReadJson(folder.File("model/config.json")).value();
    config.Set("id2label", Json::Object{{"0", "0"}, {"1", "1"}, {"2", "2"}});
    config.Set("label2id", Json::Object{{"0", 0}, {"1", 1}, {"2", 2}});
    WriteFile(folder.File("model/config.json"), config.Text());
    std::string labels = ReadFile(folder.File("s-labels-idx1-ubyte"));
    for (std::size_t i = 8; i < labels.size(); ++i) labels[i] = static_cast<char>(i % 3);
    WriteFile(folder.File("s-labels-idx1-ubyte"), labels);
  });
  const Command evaluate = {"evaluate", "@model", "@s-images-idx4-ubyte", "@s-labels-idx1-ubyte"};
  kinds.push_back({"IDX of images", "s-images-idx4-ubyte", Form::binary, evaluate, shapes});
  kinds.push_back({"IDX of classes", "s-labels-idx1-ubyte", Form::binary, evaluate, shapes});
  const auto table = [&](const std::string& file, Form form, const std::string& text) {
    kinds.push_back({"images with classes, ." + file.substr(file.rfind('.') + 1),
                     file,
                     form,
                     {"evaluate", "@model", "@" + file},
                     Both(Both(vit, Copied(kImageData + "rgb.png", "a.png")), Text(file, text))});
  };
  table("classes.tsv", Form::text, "a.png\tcat\na.png\tdog\n");
  table("classes.csv", Form::text, "path,label\na.png,cat\n\"a.png\",\"dog\"\n");
  table("classes.jsonl", Form::json_lines,
        "{\"path\": \"a.png\", \"label\": \"cat\"}\n{\"file_name\": \"a.png\", \"label\": \"dog\"}\n");
  const Make clip =
      Both(Saved([](const std::string& folder) { SaveTinyClip(folder); }), Copied(kImageData + "rgb.png", "a.png"));
  kinds.push_back({"images with texts",
                   "texts.jsonl",
                   Form::json_lines,
                   {"evaluate", "@model", "@texts.jsonl"},
                   Both(clip, Text("texts.jsonl",
                                   "{\"path\": \"a.png\", \"text\": \"two dogs\"}\n"
                                   "{\"path\": \"a.png\", \"captions\": [\"a cat\", \"dogs\"]}\n"))});
  kinds.push_back({"COCO's captions",
                   "captions.json",
                   Form::json,
                   {"evaluate", "@model", "@captions.json"},
                   Both(clip, Text("captions.json",
                                   R"({"images": [{"id": 7, "file_name": "a.png", "width": 29, "height": 17}],
                                       "annotations": [{"id": 1, "image_id": 7, "caption": "two dogs"}]})"))});
  const Make detector = Both(Copied(kData + "detectors/detr", "model"), Copied(kImageData + "rgb.png", "a.png"));
  kinds.push_back({"COCO's boxes",
                   "boxes.json",
                   Form::json,
                   {"evaluate", "@model", "@boxes.json"},
                   Both(detector, Text("boxes.json",
                                       R"({"images": [{"id": 7, "file_name": "a.png"}],
                                           "annotations": [{"id": 1, "image_id": 7, "category_id": 2, "iscrowd": 0,
                                           "area": 20.5, "bbox": [1, 2, 5, 4.5]}, {"id": 2, "image_id": 7,
                                           "category_id": 2, "bbox": [0, 0, 3, 3], "iscrowd": 1}],
                                           "categories": [{"id": 2, "name": "LABEL_0"}]})"))});
  kinds.push_back({"Pascal VOC",
                   "voc/a.xml",
                   Form::text,
                   {"evaluate", "@model", "@voc"},
                   Both(Both(Copied(kData + "detectors/detr", "model"), Copied(kImageData + "rgb.png", "voc/a.png")),
                        Text("voc/a.xml",
                             "<annotation>\n<filename>a.png</filename>\n<object>\n<name>LABEL_0</name>\n"
                             "<difficult>0</difficult>\n<bndbox>\n<xmin>1</xmin>\n<ymin>2</ymin>\n<xmax>6</xmax>\n"
                             "<ymax>7.5</ymax>\n</bndbox>\n</object>\n</annotation>\n"))});
}

inline void AddTexts(std::vector<Kind>& kinds) {
  const auto encoder = [](const char* name) { return Copied(kData + "encoders/" + name, "model"); };
  const Make marian = Saved([](const std::string& folder) { SaveTinyModel(folder); });
  const std::string german = "Ein Hund l\xc3\xa4uft.\n\nZwei Kinder spielen.\n";
  kinds.push_back(
      {"text", "a.txt", Form::text, {"translate", "@model", "@a.txt"}, Both(marian, Text("a.txt", german))});
  kinds.push_back({"text, gzip",
                   "a.txt.gz",
                   Form::binary,
                   {"translate", "@model", "@a.txt.gz"},
                   Both(marian, Text("a.txt.gz", Gzip(german)))});
  kinds.push_back({"JSON lines",
                   "a.jsonl",
                   Form::json_lines,
                   {"translate", "@model", "@a.jsonl"},
                   Both(marian, Text("a.jsonl", "{\"text\": \"Ein Hund\"}\n{\"id\": 3, \"text\": \"Kinder\"}\n"))});
  kinds.push_back({"CSV",
                   "a.csv",
                   Form::text,
                   {"translate", "@model", "@a.csv"},
                   Both(marian, Text("a.csv", "id,text\n1,Ein Hund\n2,\"Zwei \"\"Kinder\"\", spielen\"\n"))});
  kinds.push_back({"pairs of texts",
                   "a.tsv",
                   Form::text,
                   {"evaluate", "@model", "@a.tsv"},
                   Both(marian, Text("a.tsv", "Ein Hund\tA dog\nZwei Kinder\tTwo children\n"))});
  kinds.push_back({"classified texts",
                   "a.tsv",
                   Form::text,
                   {"evaluate", "@model", "@a.tsv"},
                   Both(encoder("classify"), [](const TemporaryFolder& folder) {
                     const JsonView config = ReadJson(folder.File("model/config.json"));
                     std::string text;
                     for (const auto& [key, label] : config["id2label"].Members())
                       text += "A small dog runs.\t" + label.String() + "\n";
                     WriteFile(folder.File("a.tsv"), text);
                   })});
  kinds.push_back({"tagged texts",
                   "a.conll",
                   Form::text,
                   {"evaluate", "@model", "@a.conll"},
                   Both(encoder("tag"), [](const TemporaryFolder& folder) {
                     const JsonView config = ReadJson(folder.File("model/config.json"));
                     std::string text;
                     for (const auto& [key, label] : config["id2label"].Members())
                       text += "dog " + label.String() + "\n";
                     WriteFile(folder.File("a.conll"), text + "\n" + text);
                   })});
  kinds.push_back(
      {"questions (SQuAD)",
       "a.json",
       Form::json,
       {"evaluate", "@model", "@a.json"},
       Both(encoder("answer"), Text("a.json", R"({"version": "1.1", "data": [{"title": "a", "paragraphs": [{"context":
                               "Two men, two dogs.", "qas": [{"id": "1", "question": "dogs?", "answers":
                               [{"text": "two dogs", "answer_start": 9}]}]}]}]})"))});
  kinds.push_back({"masked texts",
                   "a.txt",
                   Form::text,
                   {"fill-mask", "@model", "@a.txt"},
                   Both(encoder("fill_mask"), Text("a.txt", "A small <mask> runs.\nTwo <mask>.\n"))});
  kinds.push_back({"options",
                   "options",
                   Form::text,
                   {"translate", "@model", "--config", "@options"},
                   Both(marian, Text("options", "beam-size = 2\n# a comment\nlength-penalty = 0.6\nmax-length = 9\n")),
                   "Ein Hund.\n"});
  kinds.push_back({"text for a tokenizer",
                   "a.txt",
                   Form::text,
                   {"train", "tokenizer", "@a.txt", "--vocabulary-size", "60", "--out", "@tokens"},
                   Text("a.txt", german + german + "A dog runs.\n"),
                   "",
                   true});
  const Make shortlist = Both(
      Both(marian, Both(Text("a.de", german), Text("a.en", "A dog runs.\n\nTwo children play.\n"))),
      [](const TemporaryFolder& folder) {
        MustRun({"shortlist", folder.File("model"), "--train", folder.File("a.de"), folder.File("a.en"), "--quiet"});
      });
  kinds.push_back({"shortlist",
                   "model/shortlist.safetensors",
                   Form::safetensors,
                   {"translate", "@model", "--shortlist"},
                   shortlist,
                   german});
}

inline void AddProteins(std::vector<Kind>& kinds) {
  const Make esm = [](const TemporaryFolder& folder) { SaveTinyEsm(folder.File("model")); };
  kinds.push_back({"FASTA",
                   "a.fasta",
                   Form::text,
                   {"contacts", "@model", "@a.fasta"},
                   Both(esm, Text("a.fasta", ">a first\nMKVLA\nEYTG\n>b\nGGSTP*\n"))});
  const Command fold = {"fold", kData + "alphafold/model", "--recycles", "0", "--out", "@out.cif", "--msa"};
  const auto alignment = [&](const std::string& file, const std::string& text) {
    Command command = fold;
    command.push_back("@" + file);
    kinds.push_back({"alignment, " + file.substr(file.find('.') + 1), file, Form::text, command, Text(file, text)});
  };
  alignment("a.a3m", ">q\nMKVLA\n>b/1-4\nMK-LAaa\n>c\nm-KVGA\n");
  alignment("a.sto", "# STOCKHOLM 1.0\nq MKV\nb MK-\n\nq LA\nb LG\n//\n");
  const Make structures = Both(Text("b.pdb", StrandAsPdb()), [](const TemporaryFolder& folder) {
    MustRun({"compare", folder.File("b.pdb"), folder.File("b.pdb"), "--out", folder.File("a.cif"), "--quiet"});
    WriteFile(folder.File("a.cif.gz"), Gzip(ReadFile(folder.File("a.cif"))));
    WriteFile(folder.File("a.pdb"), StrandAsPdb());
  });
  kinds.push_back({"PDB", "a.pdb", Form::text, {"compare", "@a.pdb", "@b.pdb", "--json"}, structures});
  kinds.push_back({"mmCIF", "a.cif", Form::text, {"compare", "@b.pdb", "@a.cif", "--json"}, structures});
  kinds.push_back({"mmCIF, gzip", "a.cif.gz", Form::binary, {"compare", "@a.cif.gz", "@b.pdb", "--json"}, structures});
  const Make known = [](const TemporaryFolder& folder) {
    MustRun({"fold", kData + "alphafold/model", "--sequence", "AAAAAA", "--recycles", "0", "--quiet", "--out",
             folder.File("a.cif")});
  };
  kinds.push_back({"template",
                   "a.cif",
                   Form::text,
                   {"fold", kData + "alphafold/templates", "--sequence", "AAAAAA", "--templates", "@a.cif",
                    "--recycles", "0", "--out", "@out.cif"},
                   known});
}

inline void AddSearch(std::vector<Kind>& kinds) {
  const Make clip = Both(Saved([](const std::string& folder) { SaveTinyClip(folder); }),
                         Both(Text("a.txt", "two dogs\na cat\nthree birds\n"), [](const TemporaryFolder& folder) {
                           const Outcome names =
                               RunProgram({"embed", folder.File("model"), folder.File("a.txt"), "--index",
                                           folder.File("index"), "--faiss", folder.File("a.faiss"), "--quiet"});
                           WriteFile(folder.File("names"), names.out);
                         }));
  const Command search = {"search", "@a.faiss", "two cats", "--model", "@model", "--names", "@names"};
  kinds.push_back({"FAISS", "a.faiss", Form::binary, search, clip});
  kinds.push_back({"names of vectors", "names", Form::text, search, clip});
  const Command in_index = {"search", "@index", "two cats", "--model", "@model"};
  kinds.push_back({"index.json", "index/index.json", Form::json, in_index, clip});
  kinds.push_back({"vectors of an index", "index/part-00000.safetensors", Form::safetensors, in_index, clip});
}

inline void AddTrainings(std::vector<Kind>& kinds) {
  const Command train = {"train",  "language-model", "--train", "@a.txt",   "--valid",  "@a.txt",
                         "--from", "@model",         "--out",   "@trained", "--resume", "--validate-every",
                         "1",      "--log-every",    "1",       "--steps"};
  const auto with_steps = [=](const char* steps) {
    Command command = train;
    command.emplace_back(steps);
    return command;
  };
  const Make trained = Both(Both(Saved([](const std::string& folder) { SaveTinyGpt(folder); }),
                                 Text("a.txt", "A dog runs.\nTwo dogs run.\nA cat.\n")),
                            [=](const TemporaryFolder& folder) {
                              Command command = with_steps("2");
                              for (std::string& argument : command)
                                if (argument.starts_with('@')) argument = folder.File(argument.substr(1));
                              MustRun(command);
                            });
  for (const auto& [file, form] :
       {std::pair("metrics.jsonl", Form::json_lines), std::pair("checkpoint/state.json", Form::json),
        std::pair("checkpoint/training.safetensors", Form::safetensors)})
    kinds.push_back({std::string("training's ") + file, std::string("trained/") + file, form, with_steps("3"), trained,
                     "", true, 0.3});
}

inline std::vector<Kind> AllKinds() {
  std::vector<Kind> kinds;
  AddFamilies(kinds);
  AddWeights(kinds);
  AddTokenizers(kinds);
  AddSettings(kinds);
  AddImages(kinds);
  AddTexts(kinds);
  AddProteins(kinds);
  AddSearch(kinds);
  AddTrainings(kinds);
  return kinds;
}

}  // namespace headlight::file_kinds
