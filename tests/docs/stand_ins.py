"""Makes small models and data with the names that the documentation's commands use."""

import gzip
import itertools
import json
import math
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

TESTDATA = Path(__file__).resolve().parents[1] / "testdata"
IMAGES = Path(__file__).resolve().parents[2] / "headlight" / "image" / "testdata"

ANIMALS = [("Hund", "dog"), ("Vogel", "bird"), ("Fisch", "fish"), ("Bär", "bear")]
VERBS = [("läuft", "runs"), ("schläft", "sleeps"), ("wartet", "waits")]
PLACES = [("im Garten", "in the garden"), ("am Strand", "at the beach"), ("auf der Wiese", "on the meadow")]


def pairs():
    """Returns German sentences and their translations, in an order that mixes the words."""
    every = [(f"Ein {animal[0]} {verb[0]} {place[0]}.", f"A {animal[1]} {verb[1]} {place[1]}.")
             for animal, verb, place in itertools.product(ANIMALS, VERBS, PLACES)]
    return [every[i * 7 % len(every)] for i in range(len(every))]


def write_lines(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines))


def write_json_lines(path, records):
    write_lines(path, [json.dumps(record, ensure_ascii=False) for record in records])


def write_gzip(path, data):
    path.write_bytes(gzip.compress(data))


def write_png(path, width, height, pixel):
    """Writes an image. pixel(x, y) returns a color of three bytes."""
    rows = b"".join(b"\0" + b"".join(bytes(pixel(x, y)) for x in range(width)) for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def make_texts(stage):
    all_pairs = pairs()
    parts = {"train": all_pairs[:24], "val": all_pairs[24:30], "test": all_pairs[30:]}
    for name, part in parts.items():
        write_lines(stage / f"{name}.de", [german for german, _ in part])
        write_lines(stage / f"{name}.en", [english for _, english in part])
        records = [{"source": german, "target": english} for german, english in part]
        for folder in (stage, stage / "kinds" / "pairs"):
            write_json_lines(folder / f"{name}.jsonl", records)
        write_json_lines(stage / "kinds" / "languages" / f"{name}.jsonl",
                         [{"translation": {"de": german, "en": english}} for german, english in part])
    english = [line for _, line in all_pairs]
    german = [line for line, _ in all_pairs]
    write_lines(stage / "news.de", german[:6])
    for part in (1, 2):
        write_lines(stage / f"news.{part}.en", english[:3])
    for side in ("de", "en"):
        write_lines(stage / "headlight-demo" / "data" / f"train.{side}", german if side == "de" else english)
    write_lines(stage / "news.en", english[:6])
    write_lines(stage / "translations", english[30:])
    write_lines(stage / "old_translations", english[29:35])
    write_lines(stage / "beginnings.en", ["A"] * 6)
    write_lines(stage / "news.csv", ["headline,day", *(f'"{line}",1' for line in german[:3])])
    for name in ("news.txt", "sentences.txt", "queries.txt", "passages.txt", "prompts.txt", "articles.txt", "article.txt",
                 "texts.txt", "test.txt", "wiki.test.txt", "sample.txt", "test_2016_flickr.en"):
        write_lines(stage / name, english[:8])
    write_json_lines(stage / "sentences", [{"text": line} for line in english[:4]])
    for name in ("train.de", "train.en", "news.de"):
        write_gzip(stage / f"{name}.gz", (stage / name).read_bytes())
    write_gzip(stage / "corpus.txt.gz", "\n".join(english).encode())


def make_labeled_texts(stage):
    praise = [(f"A {animal[1]} {verb[1]}.", "good" if i % 2 else "bad")
              for i, (animal, verb) in enumerate(itertools.product(ANIMALS, VERBS))]
    parts = {"train": praise[:8], "val": praise[8:10], "test": praise[10:], "reviews": praise[:8], "held_out": praise[8:]}
    for name, part in parts.items():
        write_lines(stage / "kinds" / "labels" / f"{name}.tsv",
                    ["text\tlabel", *(f"{text}\t{label}" for text, label in part)])
    write_lines(stage / "kinds" / "texts" / "questions.tsv",
                [f"What {verb[1]}?\tA {animal[1]} {verb[1]}." for animal, verb in itertools.product(ANIMALS, VERBS)])
    write_lines(stage / "pairs.tsv", [f"A dog {verb[1]}.\tAn animal {verb[1]}." for verb in VERBS])
    tokens = [[("Ada", "B-PER"), ("lives", "O"), ("in", "O"), ("Rome", "B-LOC")],
              [("Ben", "B-PER"), ("was", "O"), ("in", "O"), ("Paris", "B-LOC")]] * 4
    for name in ("eng.train", "eng.testa", "eng.testb"):
        write_lines(stage / name, [line for sentence in tokens for line in [*(f"{w} {t}" for w, t in sentence), ""]])
    questions = [(f"Who wrote {thing}?", f"Ada wrote {thing} in Rome.") for thing in ("it", "them", "this", "that")]
    paragraphs = [{"context": context, "qas": [{"id": question, "question": question, "is_impossible": False,
                                                "answers": [{"text": "Ada", "answer_start": 0}]}]}
                  for question, context in questions]
    (stage / "dev-v2.0.json").write_text(json.dumps({"data": [{"title": "a", "paragraphs": paragraphs}]}))
    records = [{"question": question, "context": context, "answers": {"text": ["Ada"], "answer_start": [0]}}
               for question, context in questions]
    for name, part in {"train": records[:3], "val": records[3:]}.items():
        write_json_lines(stage / "kinds" / "questions" / f"{name}.jsonl", part)


class Maker:
    """Makes the models with the program."""

    def __init__(self, stage, build):
        self.stage, self.build = stage, build

    def run(self, *arguments):
        command = [str(self.build / "headlight"), *arguments, "--quiet", "--threads", "2"]
        result = subprocess.run(command, cwd=self.stage, capture_output=True, text=True)
        if result.returncode != 0:
            raise SystemExit(f"{' '.join(command)}\n{result.stderr[-2000:]}")

    def train(self, task, out, *arguments):
        self.run("train", task, "--out", out, "--steps", "2", *arguments)

    def tokenizer(self, out, *arguments):
        self.run("train", "tokenizer", "--out", out, "--vocabulary-size", "500", *arguments, "train.en", "captions.txt")

    def same(self, name, *others):
        """Gives other names to a folder or file. Commands may change a folder, so it is copied."""
        for other in others:
            (self.stage / other).parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (self.stage / name).is_dir() else shutil.copy
            copy(self.stage / name, self.stage / other)


SMALL = ("--layers", "1", "--model-dim", "16", "--heads", "2")


def make_text_models(make):
    make.tokenizer("gpt2-tokens", "--byte-level")
    make.tokenizer("bert-tokens", "--subword-type", "wordpiece")
    make.tokenizer("t5-tokens", "--subword-type", "unigram", "--sentinels", "100")
    make.tokenizer("bart-tokens", "--byte-level", "--special", "<s>", "--special", "<pad>", "--special", "</s>",
                   "--special", "<mask>")
    make.same("gpt2-tokens", "tokens", "llama3")
    make.train("translation", "model", "--train", "train.de", "train.en", "--valid", "val.de", "val.en",
               "--vocabulary-size", "120", *SMALL)
    make.same("model", "opus-mt-de-en", "Helsinki-NLP/opus-mt-de-en")
    text = ("--train", "train.en", "--valid", "val.en", *SMALL)
    make.train("language-model", "gpt2", "--tokenizer", "gpt2-tokens", "--positions", "256", *text)
    make.train("language-model", "llama", "--family", "llama", "--tokenizer", "gpt2-tokens", "--positions", "128", *text)
    make.same("llama", "HuggingFaceTB/SmolLM2-135M")
    make.run("convert", "gpt2", "--out", "model.gguf", "--type", "Q8_0")
    make.train("masked-language-model", "bert", "--tokenizer", "bert-tokens", "--positions", "128", *text)
    make.same("bert", "bert-base-uncased", "google-bert/bert-base-uncased", "roberta-base")
    make.train("contrastive", "all-MiniLM-L6-v2", "--from", "bert", "--train", "pairs.tsv", "--valid", "pairs.tsv")
    make.same("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2", "sentences-model")
    make.train("classification", "bert-sentiment", "--from", "bert", "--train", "kinds/labels/train.tsv", "--valid",
               "kinds/labels/val.tsv")
    make.same("bert-sentiment", "bert-mnli", "classifier")
    make.train("tagging", "bert-ner", "--from", "bert", "--train", "eng.train", "--valid", "eng.testa")
    make.same("bert-ner", "names", "xlm-roberta-ner")
    make.train("question-answering", "roberta-squad2", "--from", "bert", "--train", "kinds/questions/train.jsonl",
               "--valid", "kinds/questions/val.jsonl")
    make.same("roberta-squad2", "answerer")
    make.train("span-corruption", "t5-small", "--tokenizer", "t5-tokens", *text)
    config = make.stage / "t5-small" / "config.json"
    tasks = {"summarization": {"prefix": "summarize: ", "max_length": 20}}
    config.write_text(json.dumps(json.loads(config.read_text()) | {"task_specific_params": tasks}))
    make.same("t5-small", "flan-t5-small")
    make.train("denoising", "bart-base", "--tokenizer", "bart-tokens", "--positions", "128", *text)
    make.same("bart-base", "bart-large-cnn")


def make_images(stage, build):
    photo = IMAGES / "rgb.jpg"
    for name in ("cat.jpg", "cats.jpg", "street.jpg", "query.jpg"):
        shutil.copy(photo, stage / name)
    number = 0
    for part, count in (("train", 4), ("valid", 2), ("test", 2)):
        for label, shade in (("cat", 40), ("dog", 200)):
            for i in range(count):
                number += 1
                write_png(stage / "photos" / part / label / f"{i}.png", 32, 32,
                          lambda x, y: (shade, (8 * x + number) % 256, (8 * y) % 256))
    paths = [str(path.relative_to(stage)) for path in sorted(stage.glob("photos/train/*/*.png"))]
    write_lines(stage / "labels.csv", ["path,label", *(f"{path},{Path(path).parent.name}" for path in paths)])
    captions = [(path, f"a {Path(path).parent.name} number {i}") for i, path in enumerate(paths)]
    lines = [f"{path}\t{text}" for path, text in captions]
    for name in ("train", "valid", "test", "pairs"):
        write_lines(stage / "kinds" / "captions" / f"{name}.tsv", lines)
    for name in ("captions.tsv", "held_out.tsv"):
        write_lines(stage / name, lines)
    records = [{"id": i, "file_name": path.removeprefix("photos/"), "width": 32, "height": 32}
               for i, (path, _) in enumerate(captions)]
    coco = json.dumps({"images": records,
                       "annotations": [{"id": i, "image_id": i, "caption": text} for i, (_, text) in enumerate(captions)]})
    for name in ("captions_train.json", "captions_val.json", "captions_test.json", "captions_train2017.json"):
        (stage / name).write_text(coco)
    for name in ("train2017", "train", "validation", "some", "kinds/classes/test"):
        shutil.copytree(stage / "photos" / "train", stage / name)
    write_lines(stage / "questions.tsv", ["How many cats are there?\tcats.jpg"])
    shutil.copy(stage / "photos/train/cat/0.png", stage / "half.png")
    (stage / "headlight-demo" / "shapes").mkdir(parents=True)
    (stage / "headlight-demo/shapes/test-images-idx4-ubyte").write_bytes(
        struct.pack(">IIIII", 0x804, 4, 32, 32, 3) + bytes(i % 256 for i in range(4 * 32 * 32 * 3)))
    for name, count in (("train", 24), ("t10k", 12)):
        pixels = bytes((i * 7 + x * y) % 256 for i in range(count) for y in range(28) for x in range(28))
        write_gzip(stage / f"{name}-images-idx3-ubyte.gz", struct.pack(">IIII", 0x803, count, 28, 28) + pixels)
        write_gzip(stage / f"{name}-labels-idx1-ubyte.gz", struct.pack(">II", 0x801, count) +
                   bytes(i % 10 for i in range(count)))
    for folder, seed in (("scenes", 1), ("more", 2), ("test", 3)):
        subprocess.run([build / "example_scenes", stage / folder, "12", str(seed), "64"], check=True, capture_output=True)
    # Detectors read the same scenes under other names.
    shutil.copytree(stage / "scenes", stage / "val2017")
    for path in stage.glob("scenes/*.png"):
        shutil.copy(path, stage / "photos" / path.name)
    for name in ("instances_val2017.json", "instances_train.json", "instances_val.json"):
        shutil.copy(stage / "scenes" / "annotations.json", stage / name)
    make_voc(stage)
    make_drawings(stage, build)
    write_tensors(stage / "images.safetensors", {"pixel_values": [2, 3, 32, 32]})


def make_voc(stage):
    """Writes the scenes in the layout of Pascal VOC."""
    scenes = json.loads((stage / "scenes" / "annotations.json").read_text())
    names = {category["id"]: category["name"] for category in scenes["categories"]}
    for folder in ("VOC", "BCCD"):
        root = stage / folder
        for part in ("Annotations", "JPEGImages", "ImageSets/Main"):
            (root / part).mkdir(parents=True)
        for image in scenes["images"]:
            stem = Path(image["file_name"]).stem
            shutil.copy(stage / "scenes" / image["file_name"], root / "JPEGImages" / f"{stem}.jpg")
            objects = "".join(
                f"<object><name>{names[one['category_id']]}</name><bndbox><xmin>{x + 1:.0f}</xmin><ymin>{y + 1:.0f}</ymin>"
                f"<xmax>{x + width:.0f}</xmax><ymax>{y + height:.0f}</ymax></bndbox></object>"
                for one in scenes["annotations"] if one["image_id"] == image["id"]
                for x, y, width, height in [one["bbox"]])
            (root / "Annotations" / f"{stem}.xml").write_text(
                f"<annotation><filename>{stem}.jpg</filename><size><width>{image['width']}</width>"
                f"<height>{image['height']}</height><depth>3</depth></size>{objects}</annotation>")
        stems = [Path(image["file_name"]).stem for image in scenes["images"]]
        for part in ("train", "val", "test"):
            write_lines(root / "ImageSets" / "Main" / f"{part}.txt", stems)


def make_drawings(stage, build):
    """Writes drawings with captions, questions and boxes."""
    for kind, folder in (("regions", "regions"), ("drawings", "scenes/train"), ("drawings", "scenes/valid")):
        out = stage / "kinds" / kind / folder
        out.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([build / "example_shape_scenes", out, "12", "1"], check=True, capture_output=True)
        captions = [json.loads(line) for line in (out / "captions.en.jsonl").read_text().splitlines()]
        for name in ("whole.jsonl", "some.jsonl"):
            write_json_lines(out / name, [{"path": one["path"], "text": one["captions"][0]} for one in captions])
        write_lines(stage / "kinds" / kind / "texts.txt", [one["captions"][0] for one in captions])
        for name in ("captions.tsv", "val.tsv"):
            write_lines(out.parent / name, [f"{folder}/{one['path']}\t{one['captions'][0]}" for one in captions])
    subprocess.run([build / "example_shape_scenes", stage / "scenes" / "test", "12", "2"], check=True, capture_output=True)
    texts = [line.split("\t")[1] for path in (stage / "held_out.tsv", stage / "kinds/regions/captions.tsv")
             for line in path.read_text().splitlines()]
    write_lines(stage / "captions.txt", [*texts, "a red circle left of a blue square"])
    boxes = json.loads((stage / "kinds/regions/regions/annotations.json").read_text())
    for image in boxes["images"]:
        image["file_name"] = f"regions/{image['file_name']}"
    (stage / "kinds/regions/boxes.json").write_text(json.dumps(boxes))


def fill_tensor(path, name, value):
    """Sets all elements of a tensor of float32 in a safetensors file."""
    data = bytearray(path.read_bytes())
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    first, end = json.loads(data[8:begin])[name]["data_offsets"]
    data[begin + first:begin + end] = struct.pack("<f", value) * ((end - first) // 4)
    path.write_bytes(data)


def write_tensors(path, shapes):
    """Writes tensors of float32 zeros as safetensors."""
    header, end = {}, 0
    for name, shape in shapes.items():
        begin, end = end, end + 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(end))


def make_image_models(make):
    size = ("--image-size", "32", "--patch-size", "8", *SMALL)
    photos = ("--train", "photos/train", "--valid", "photos/valid")
    make.train("image-classification", "vit", *photos, *size)
    make.same("vit", "vit-base-patch16-224", "headlight-demo/shapes/model", "kinds/animals/vit")
    make.train("image-classification", "kinds/digits/vit", "--train", "train-images-idx3-ubyte.gz",
               "train-labels-idx1-ubyte.gz", "--validate-split", "0.2", *size)
    make.train("self-distillation", "dino", "--train", "photos/train", *size)
    make.same("dino", "dino-vits16", "dinov2-small")
    make.train("contrastive", "clip", "--train", "held_out.tsv", "--valid", "held_out.tsv",
               "--tokenizer", "bert-tokens", *size)
    make.same("clip", "clip-vit-base-patch32")
    make.train("captions", "vit-gpt2-image-captioning", "--train", "held_out.tsv", "--valid",
               "held_out.tsv", "--tokenizer", "gpt2-tokens", *size)
    make.train("detection", "detr", "--preset", "small-scenes", "--train", "scenes/annotations.json", "--valid",
               "more/annotations.json")
    make.same("detr", "detr-resnet-50")
    regions = "kinds/regions/regions"
    make.train("visual-question-answering", "vilbert", "--train", f"{regions}/questions.en.jsonl", "--valid",
               f"{regions}/questions.en.jsonl", "--boxes", f"{regions}/annotations.json", "--tokenizer", "bert-tokens")
    make.train("image-generation", "imagegpt", "--train", "train-images-idx3-ubyte.gz", "--validate-split", "0.1",
               "--image-size", "28", "--clusters", "16", *SMALL)
    make.same("imagegpt", "imagegpt-small")
    make.train("image-codes", "vae", "--train", "held_out.tsv", "--validate-split", "0.2", "--image-size", "32",
               "--codes", "16")
    make.tokenizer("words")
    make.train("text-to-image", "shapes", "--train", "held_out.tsv", "--validate-split", "0.2", "--vae", "vae",
               "--tokenizer", "words", *SMALL)
    for shard in range(1, 5):
        make.run("embed", "clip", "photos", "--index", f"photos.{shard}", "--shard", f"{shard}/4")
    for name, folder in {"detr-resnet-50-panoptic": "detectors/detr_masks", "mini": "dalle/dalle_mini",
                         "mbart-large-50-many-to-many-mmt": "encoder_decoders/mbart_text",
                         "blip-image-captioning-base": "captions/blip_text",
                         "blip-vqa-base": "captions/blip_answers_text"}.items():
        shutil.copytree(TESTDATA / folder, make.stage / name)


# Pages replace A45, K50 and V61 of this chain.
CHAIN = "VCSCRLVFCRRTELRVGNCLIGGVSFTYCCTAVKSLPDEWMAHQAIVCSKRLAFCRRTELVVGNCVIGGISF"


def make_proteins(make):
    stage = make.stage
    for name in ("query", "proteins", "test", "train", "valid", "val"):
        write_lines(stage / f"{name}.fasta", [f">{name}", CHAIN])
    write_lines(stage / "query.a3m", [">query", CHAIN[:24], ">other", CHAIN[:23] + "A"])
    write_lines(stage / "proteome.fasta", [">first", CHAIN[:20], ">second", CHAIN[20:40]])
    write_lines(stage / "alignments" / "first.a3m", [">first", CHAIN[:20]])
    write_lines(stage / "alignments" / "second.a3m", [">second", CHAIN[20:40]])
    published = TESTDATA / "alphafold" / "published"
    for number in (3, 4):
        shutil.copy(published / "params_model_3_ptm.npz", stage / f"params_model_{number}_ptm.npz")
    shutil.copy(published / "templates" / "params_model_1_ptm.npz", stage / "params_model_1.npz")
    folders = {"alphafold": "alphafold/model", "kinds/folding/model": "alphafold/model", "esmfold": "esmfold"}
    for name, folder in folders.items():
        shutil.copytree(TESTDATA / folder, stage / name)
    for name in ("experiment.cif", "1abc.cif", "2xyz.pdb", "1zmm.pdb", "kinds/structures/structures/a.pdb",
                 "kinds/structures/structures/b.pdb"):
        (stage / name).parent.mkdir(parents=True, exist_ok=True)
        first = 24 if name.endswith("b.pdb") else 0
        make.run("fold", "alphafold", "--sequence", CHAIN[first:first + 24], "--out", name)
    for name in ("experiment.cif", "1abc.cif"):
        write_gzip(stage / f"{name}.gz", (stage / name).read_bytes())
    for name in ("train", "valid"):
        write_lines(stage / "kinds" / "structures" / f"{name}.tsv", ["structures/a.pdb\tA", "structures/b.pdb\tA"])
    for name in ("others", "left_out"):
        shutil.copy(stage / "kinds/structures/train.tsv", stage / "kinds/structures" / f"{name}.tsv")
    for name in ("train", "held"):
        shutil.copytree(stage / "kinds/structures/structures", stage / "kinds/structures" / name)
    make.train("masked-language-model", "esm", "--preset", "esm2-8m", "--train", "train.fasta", "--valid", "valid.fasta")
    # Training leaves the contact head at zero, which `contacts` refuses.
    for name in ("weight", "bias"):
        fill_tensor(stage / "esm" / "model.safetensors", f"esm.contact_head.regression.{name}", 0.5)
    make.same("esm", "esm2_t33_650M_UR50D")


def make(stage, build):
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    make_texts(stage)
    make_labeled_texts(stage)
    make_images(stage, build)
    maker = Maker(stage, build)
    make_text_models(maker)
    make_image_models(maker)
    make_proteins(maker)
