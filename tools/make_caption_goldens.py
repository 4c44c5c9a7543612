#!/usr/bin/env python3
"""Makes tests/testdata/captions/: tiny captioning models saved by Hugging Face Transformers, and their outputs.

    pip install torch==2.15.0 transformers==5.23.0
    tools/make_caption_goldens.py

One folder per model: config.json, model.safetensors and an optional generation_config.json as save_pretrained writes
them, and golden.safetensors, computed in double precision without dropout and stored in single precision:
    pixel_values               [images, height, width, channels], of a size that may differ from the model's
    image_hidden, image_attentions.L
    input_ids, attention_mask  texts to encode, one for each image, padded on the right
    read_hidden, read_attentions.L, read_cross_attentions.L        outputs with the images
    alone_hidden               outputs without the images
    match_logits, image_vectors, text_vectors                    projections before normalization
    logits_per_image           [images, texts], of BlipModel
    decoder_input_ids, decoder_attention_mask                      texts to generate
    logits, decoder_attentions.L, cross_attentions.L
    loss, gradient.NAME        of every parameter, under its name in model.safetensors
and for models that generate text, decoded.json: the texts that generate() gives for the images, by settings.

A folder whose name ends in _text also has a tokenizer from headlight/text/tokenizers/testdata and a
preprocessor_config.json. Its golden.safetensors has images [images, height, width, 3] of bytes, and its golden.json has
the texts that are generated for these images.
"""

import json
import os
import pathlib
import shutil

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import tokenizers  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from safetensors import safe_open  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from transformers import (BlipConfig, BlipForConditionalGeneration, BlipForImageTextRetrieval,  # noqa: E402
                          BlipForQuestionAnswering, BlipModel, DeiTConfig, GPT2Config, ViTConfig,
                          VisionEncoderDecoderConfig, VisionEncoderDecoderModel)

transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(1)

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "tests" / "testdata" / "captions"
TOKENIZERS = ROOT / "headlight" / "text" / "tokenizers" / "testdata"

# Heads of sizes 6 and 5 do not fill a vector register.
VIT = dict(hidden_size=12, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20, image_size=8, patch_size=4)
DEIT = dict(hidden_size=15, num_hidden_layers=1, num_attention_heads=3, intermediate_size=7, image_size=12, patch_size=4)
GPT2 = dict(n_embd=12, n_layer=2, n_head=2, n_inner=14, n_positions=24, vocab_size=26)
BERT = dict(hidden_size=12, num_hidden_layers=2, num_attention_heads=2, intermediate_size=14, vocab_size=26,
            max_position_embeddings=24, bos_token_id=25, sep_token_id=2)
EYES = dict(hidden_size=10, num_hidden_layers=2, num_attention_heads=2, intermediate_size=9, image_size=8, patch_size=4)


def joined(encoder, decoder, **ids):
    return VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder, **ids)


def blip(vision, text, **more):
    return BlipConfig(vision_config=vision, text_config=text, **more)


MODELS = {  # model, config, height and width of the images
    # Texts begin and end with the same token, as in fine-tuned GPT-2 models.
    "vit_gpt2": (VisionEncoderDecoderModel,
                 joined(ViTConfig(**VIT), GPT2Config(**GPT2, bos_token_id=25, eos_token_id=25), bos_token_id=25,
                        decoder_start_token_id=25, eos_token_id=25, pad_token_id=25), (8, 8)),
    "deit_gpt2": (VisionEncoderDecoderModel,
                  joined(DeiTConfig(**DEIT),
                         GPT2Config(**GPT2, tie_word_embeddings=False, scale_attn_by_inverse_layer_idx=True,
                                    activation_function="relu"), decoder_start_token_id=1, eos_token_id=2,
                         pad_token_id=0), (8, 16)),
    "blip": (BlipForConditionalGeneration, blip(EYES, BERT), (8, 8)),
    "blip_larger": (BlipForConditionalGeneration,
                    blip({**EYES, "hidden_act": "quick_gelu"}, {**BERT, "num_hidden_layers": 1, "hidden_act": "relu"}),
                    (12, 8)),
    "blip_answers": (BlipForQuestionAnswering, blip({**EYES, "hidden_size": 12}, BERT), (8, 8)),
    "blip_matching": (BlipForImageTextRetrieval, blip(EYES, BERT, image_text_hidden_size=7), (8, 12)),
    "blip_vectors": (BlipModel, blip(EYES, BERT, projection_dim=7), (8, 8)),
}

READ = [[4, 9, 13, 5, 21], [4, 7], [4, 12, 2, 18, 6, 11, 8, 20]]
WRITTEN = [[5, 16, 3], [10, 8, 19, 3, 3, 15, 22, 4, 11, 11, 9], [7]]

# The settings of generate(), and "prompt", the beginning of the text.
SETTINGS = [
    dict(num_beams=1),
    dict(num_beams=3),
    dict(num_beams=1, do_sample=True, top_k=1),
    dict(num_beams=1, no_repeat_ngram_size=2),
    dict(num_beams=3, no_repeat_ngram_size=1),
    dict(num_beams=4, no_repeat_ngram_size=3, length_penalty=2.0, min_length=9),
    dict(num_beams=1, min_length=12, forced_bos_token_id=17),
    dict(num_beams=3, forced_bos_token_id=17, early_stopping=True),
    dict(num_beams=1, forced_eos_token_id=0, min_length=9),
    dict(num_beams=3, forced_eos_token_id=0, length_penalty=2.0),
    dict(num_beams=4, forced_eos_token_id=0, repetition_penalty=1.3, min_length=8),
    dict(num_beams=2, early_stopping="never", length_penalty=0.7),
    dict(num_beams=4, early_stopping=True, length_penalty=0.5),
    dict(num_beams=3, prompt=[13, 6], no_repeat_ngram_size=2, length_penalty=0.5),
    dict(num_beams=1, prompt=[13, 6], min_length=8),
    dict(num_beams=1, repetition_penalty=1.4),
    dict(num_beams=3, repetition_penalty=1.6),
    dict(num_beams=4, repetition_penalty=1.3, prompt=[13, 6], min_length=8),
]
LONGEST = 12  # number of tokens, including the start token


def padded(texts, value):
    longest = max(map(len, texts))
    return torch.tensor([text + [value] * (longest - len(text)) for text in texts])


def mask(texts):
    return padded([[1] * len(text) for text in texts], 0)


def initialize(model, seed):
    """Sets random parameters that are large enough for sharp attention. Every bias, gain and token matters."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            gain = ("norm" in name.lower() or "ln_" in name) and name.endswith("weight")
            value.copy_(1 + 0.2 * noise if gain else (0.2 if name.endswith("bias") else 0.45) * noise)


def weigh(x):
    return (x * torch.sin(torch.arange(x.numel(), dtype=torch.float64) + 1).reshape(x.shape)).sum()


def ids_of(model):
    """Returns the start token, the end token and the padding token of generated texts."""
    config = model.config
    if isinstance(model, VisionEncoderDecoderModel):
        return config.decoder_start_token_id, config.eos_token_id, config.pad_token_id
    return config.text_config.bos_token_id, config.text_config.sep_token_id, config.text_config.pad_token_id


def write(decoder, memory, read, written):
    """Runs the decoder. Without questions, all images are processed together. With questions, images are processed one
    by one, because the decoder would attend to the padding of questions."""
    if read is None:
        output = decoder(padded(written, 0), attention_mask=mask(written), encoder_hidden_states=memory,
                         output_attentions=True)
        output.decoder_attentions = output.attentions
        return output
    single = [decoder(padded(written, 0)[i:i + 1, :len(text)], encoder_hidden_states=memory[i:i + 1, :len(read[i])],
                      output_attentions=True) for i, text in enumerate(written)]

    def stack(values):
        sides = [max(value.shape[axis] for value in values) for axis in (-2, -1)]
        fill = lambda value: (0, sides[1] - value.shape[-1], 0, sides[0] - value.shape[-2])
        return torch.cat([torch.nn.functional.pad(value, fill(value)) for value in values])

    layers = range(len(single[0].attentions))
    return transformers.utils.ModelOutput(
        logits=stack([one.logits for one in single]),
        decoder_attentions=tuple(stack([one.attentions[layer] for one in single]) for layer in layers),
        cross_attentions=tuple(stack([one.cross_attentions[layer] for one in single]) for layer in layers))


def run(model, pixels, read, written):
    """Returns the outputs by name, and the rows whose weighted sum is the loss. The texts in `written` include their
    start tokens."""
    tensors, rows = {}, []

    def add(name, value, of=None):
        tensors[name] = value
        rows.append(value if of is None else value[of.bool()])

    def attentions(name, of):
        for layer, weights in enumerate(of):
            tensors[f"{name}.{layer}"] = weights

    side = lambda size: size if isinstance(size, list) else [size] * 2
    if isinstance(model, VisionEncoderDecoderModel):
        resized = list(pixels.shape[2:]) != side(model.encoder.config.image_size)
        output = model(pixels, decoder_input_ids=padded(written, 0), decoder_attention_mask=mask(written),
                       output_attentions=True, interpolate_pos_encoding=resized)
        add("image_hidden", output.encoder_last_hidden_state)
        attentions("image_attentions", output.encoder_attentions)
    else:
        resized = list(pixels.shape[2:]) != side(model.config.vision_config.image_size)
        seen = model.vision_model(pixels, interpolate_pos_encoding=resized, output_attentions=True)
        memory = seen.last_hidden_state
        add("image_hidden", memory)
        attentions("image_attentions", seen.attentions)
        memory_mask = torch.ones(memory.shape[:2], dtype=torch.long)
        reader = getattr(model, "text_encoder", getattr(model, "text_model", None))
        if reader is not None:
            tensors["input_ids"], tensors["attention_mask"] = padded(read, 0), mask(read)
            inputs = dict(input_ids=tensors["input_ids"], attention_mask=tensors["attention_mask"])
            beside = reader(**inputs, encoder_hidden_states=memory, encoder_attention_mask=memory_mask,
                            output_attentions=True)
            alone = reader(**inputs)
            add("read_hidden", beside.last_hidden_state, mask(read))
            attentions("read_attentions", beside.attentions)
            attentions("read_cross_attentions", beside.cross_attentions)
            add("alone_hidden", alone.last_hidden_state, mask(read))
        if isinstance(model, BlipForImageTextRetrieval):
            add("match_logits", model.itm_head(beside.last_hidden_state[:, 0]))
            add("image_vectors", model.vision_proj(memory[:, 0]))
            add("text_vectors", model.text_proj(alone.last_hidden_state[:, 0]))
            both = [torch.nn.functional.normalize(tensors[f"{what}_vectors"], dim=-1) for what in ("image", "text")]
            whole = model(**inputs, pixel_values=pixels, interpolate_pos_encoding=resized)
            torch.testing.assert_close(whole.itm_score, tensors["match_logits"])
            cosine = model(**inputs, pixel_values=pixels, use_itm_head=False, interpolate_pos_encoding=resized)
            torch.testing.assert_close(cosine.itm_score, both[0] @ both[1].t())
        if isinstance(model, BlipModel):
            add("image_vectors", model.visual_projection(seen.pooler_output))
            add("text_vectors", model.text_projection(alone.pooler_output))
            whole = model(**inputs, pixel_values=pixels, interpolate_pos_encoding=resized)
            tensors["logits_per_image"] = whole.logits_per_image
        if not hasattr(model, "text_decoder"):
            return tensors, rows
        output = write(model.text_decoder, memory if reader is None else beside.last_hidden_state, None if reader is None else read,
                       written)
    tensors["decoder_input_ids"], tensors["decoder_attention_mask"] = padded(written, 0), mask(written)
    add("logits", output.logits, mask(written))
    attentions("decoder_attentions", output.decoder_attentions)
    attentions("cross_attentions", output.cross_attentions)
    return tensors, rows


def golden(model, folder, size, seed):
    generator = torch.Generator().manual_seed(100 + seed)
    pixels = torch.randn(3, 3, *size, generator=generator).float().double()
    model.double()
    model.zero_grad()
    for module in model.modules():  # PyTorch must also train the padding embedding
        if isinstance(module, torch.nn.Embedding):
            module.padding_idx = None
    start = ids_of(model)[0]
    tensors, rows = run(model, pixels, READ, [[start] + text for text in WRITTEN])
    loss = sum(map(weigh, rows))
    loss.backward()
    tensors |= {"pixel_values": pixels.permute(0, 2, 3, 1), "loss": loss}
    with safe_open(folder / "model.safetensors", "pt") as file:
        published = {name: file.get_tensor(name) for name in file.keys()}
    for name, value in model.named_parameters():
        if "encoder.pooler" in name or name == "logit_scale":  # the outputs do not depend on these parameters
            continue
        same = [key for key, stored in published.items()
                if stored.shape == value.shape and torch.equal(stored, value.float())]
        assert len(same) == 1, (name, same)
        tensors[f"gradient.{same[0]}"] = value.grad if value.grad is not None else torch.zeros_like(value)
    tensors = {name: value.detach().contiguous() for name, value in tensors.items()}
    for name, value in tensors.items():
        tensors[name] = value.int() if value.dtype == torch.int64 else value.float() if value.numel() > 1 else value
    save_file(tensors, folder / "golden.safetensors")
    model.float()
    return pixels.float()


def teach(model, pixels, read, targets, steps, rate):
    """Trains the model partially on the given texts. Beams then differ and end at several lengths."""
    start, end, _ = ids_of(model)
    labels = padded([text + [end] for text in targets], -100)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        tensors, _ = run(model, pixels, read, [[start] + text for text in targets])
        torch.nn.functional.cross_entropy(tensors["logits"].transpose(1, 2), labels).backward()
        optimizer.step()
    for value in model.parameters():
        value.grad = None


def generate(model, pixels, read, settings, longest=LONGEST):
    """Returns [[ids, score], ...] for each image, best first. The ids follow the start token and include the end token.
    Greedy results have no score."""
    start, end, pad = ids_of(model)
    options = dict(settings)
    beams, prompt = options["num_beams"], options.pop("prompt", [])
    if options.pop("forced_eos_token_id", None) is not None:
        options["forced_eos_token_id"] = end
    options |= dict(num_return_sequences=beams, max_length=longest, return_dict_in_generate=True, output_scores=True)
    options.setdefault("do_sample", False)
    count = len(pixels)
    if isinstance(model, VisionEncoderDecoderModel):
        if prompt:
            options["decoder_input_ids"] = torch.tensor([[start] + prompt] * count)
        output = model.generate(pixels, **options)
    elif isinstance(model, BlipForQuestionAnswering):
        rows = []
        for image, question in zip(pixels, read):  # Transformers' decoder would attend to padding in a batch
            rows.append(model.generate(torch.tensor([question]), image[None], **options))
        results = []
        for row in rows:
            results += collect(row, end, beams, 1)
        return results
    else:
        if prompt:
            options["input_ids"] = torch.tensor([[0] + prompt + [0]] * count)
        output = model.generate(pixels, **options)
    return collect(output, end, beams, count)


def collect(output, end, beams, count):
    results = [[] for _ in range(count)]
    for i, row in enumerate(output.sequences.tolist()):
        ids = row[1:]
        if end in ids:
            ids = ids[: ids.index(end) + 1]
        score = [round(output.sequences_scores[i].item(), 6)] if beams > 1 else []
        results[i // beams].append([ids, *score])
    return results


def decoded(model, pixels):
    teach(model, pixels, READ, [text[:8] for text in WRITTEN], 25, 0.02)
    lines = []
    for settings in SETTINGS:
        if "prompt" in settings and isinstance(model, BlipForQuestionAnswering):
            continue  # generate() of this model does not support a prompt
        found = generate(model, pixels, READ, settings)
        lines.append(json.dumps(dict(settings, texts=found), separators=(",", ":")))
    return "[\n" + ",\n".join(lines) + "\n]\n"


QUESTIONS = ["Who runs across the green meadow?", "Two men?", "What are the children playing?"]
CAPTIONS = ["a small dog runs", "two men", "the children are playing."]


def text_models():
    """Returns {name: (tokenizer file, model, function from tokenizer to configuration, image size, cases of
    settings)}."""
    of = lambda tokenizer, piece: tokenizer.token_to_id(piece)
    bert = lambda tokenizer: {**BERT, "vocab_size": tokenizer.get_vocab_size(),
                              "bos_token_id": of(tokenizer, "[CLS]"), "sep_token_id": of(tokenizer, "[SEP]"),
                              "max_position_embeddings": 40}
    cases = [dict(num_beams=1), dict(num_beams=3, min_length=6), dict(num_beams=3, prompt="a small"),
             dict(num_beams=2, length_penalty=2.0, repetition_penalty=1.2)]
    return {
        "vit_gpt2_text": ("family_gpt2.json", VisionEncoderDecoderModel,
                          lambda t: joined(ViTConfig(**VIT), GPT2Config(**dict(
                              GPT2, vocab_size=t.get_vocab_size(), n_positions=40)), bos_token_id=0,
                              decoder_start_token_id=0, eos_token_id=0, pad_token_id=0), cases),
        "blip_text": ("family_bert_uncased.json", BlipForConditionalGeneration, lambda t: blip(EYES, bert(t)), cases),
        "blip_answers_text": ("family_bert_uncased.json", BlipForQuestionAnswering,
                              lambda t: blip({**EYES, "hidden_size": 12}, bert(t)),
                              [case for case in cases if "prompt" not in case]),
    }


def text_golden(name, seed, file, kind, config_of, cases):
    folder = OUT / name
    folder.mkdir()
    tokenizer = tokenizers.Tokenizer.from_file(str(TOKENIZERS / file))
    shutil.copy(TOKENIZERS / file, folder / "tokenizer.json")
    model = kind._from_config(config_of(tokenizer), attn_implementation="eager").eval()
    initialize(model, seed)
    bytes_ = torch.randint(0, 256, (3, 8, 8, 3), generator=torch.Generator().manual_seed(seed), dtype=torch.uint8)
    pixels = ((bytes_.double() / 255 - 0.5) / 0.5).float().permute(0, 3, 1, 2).contiguous()
    read = [tokenizer.encode(question).ids for question in QUESTIONS]
    encode = lambda text: tokenizer.encode(text, add_special_tokens=False).ids
    teach(model, pixels, read, [encode(text) for text in CAPTIONS], 60, 0.02)
    model.generation_config.max_length = 14
    model.generation_config.num_beams = 2
    model.save_pretrained(folder)
    processor = {"image_processor_type": "ViTImageProcessor", "size": {"height": 8, "width": 8}}
    (folder / "preprocessor_config.json").write_text(json.dumps(processor) + "\n")
    results = []
    for case in cases:
        settings = dict(case)
        if "prompt" in settings:
            settings["prompt"] = encode(settings["prompt"])
        found = generate(model, pixels, read, settings, longest=14)
        texts = [[tokenizer.decode(ids) for ids, *_ in of_image] for of_image in found]
        results.append(dict(case, texts=texts))
    save_file({"images": bytes_}, folder / "golden.safetensors")
    (folder / "golden.json").write_text(json.dumps(results, indent=1) + "\n")


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    for seed, (name, (kind, config, size)) in enumerate(MODELS.items(), start=10):
        folder = OUT / name
        folder.mkdir(parents=True)
        model = kind._from_config(config, attn_implementation="eager").eval()
        initialize(model, seed)
        model.save_pretrained(folder)
        pixels = golden(model, folder, size, seed)
        # decoded() trains the model. The trained weights are saved in taught/.
        side = (12, 12) if name.startswith("deit") else (8, 8)
        if size == side and kind not in (BlipForImageTextRetrieval, BlipModel):
            (folder / "taught").mkdir()
            text = decoded(model, pixels)
            model.save_pretrained(folder / "taught")
            (folder / "taught" / "decoded.json").write_text(text)
        print(name)
    for seed, (name, of) in enumerate(text_models().items(), start=40):
        text_golden(name, seed, *of)
        print(name)


main()
