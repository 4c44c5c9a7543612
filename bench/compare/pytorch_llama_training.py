"""Trains a Llama in headlight and in PyTorch (Transformers' Llama), in alternating runs, and prints the speeds.

All texts have the same length, and all batches have the same size, so that PyTorch needs no padding. headlight reads
the texts from a file with its whole data pipeline. PyTorch gets prepared tensors. Before the measurement, PyTorch
computes the validation loss of a model that headlight trained. It must equal the loss that headlight reports.
"""

import argparse
import json
import random
import tempfile
from pathlib import Path

from instruction_limits import limit_peers

limit_peers("PyTorch")  # must precede the import of a peer

import torch
import training_race
from measured import run
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import LlamaConfig, LlamaForCausalLM

HEADLIGHT = "build/release/headlight"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    training_race.add_arguments(parser, steps=20, warmup_steps=5)
    parser.add_argument("--batch-size", type=int, default=8, help="texts in a batch")
    parser.add_argument("--length", type=int, default=256, help="tokens of a text")
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--model", type=int, default=512)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--ffn", type=int, default=1408)
    parser.add_argument("--vocabulary", type=int, default=8000)
    return training_race.parsed(parser)


def write_texts(options, folder, count):
    """Creates a word tokenizer and a file of random texts. Returns the tokens of the texts, each preceded by the end
    token."""
    words = {"</s>": 0} | {f"w{i}": i for i in range(1, options.vocabulary)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="</s>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 0)])
    tokenizer.add_special_tokens(["</s>"])
    (folder / "tokens").mkdir()
    tokenizer.save(str(folder / "tokens" / "tokenizer.json"))
    (folder / "tokens" / "tokenizer_config.json").write_text(json.dumps({"eos_token": "</s>"}))
    rng = random.Random(1)
    # A text and its end token give --length labels. Small word ids are the most frequent.
    texts = [[1 + int((options.vocabulary - 1) * rng.random() ** 3) for _ in range(options.length - 1)]
             for _ in range(count)]
    path = folder / "texts.txt"
    path.write_text("".join(" ".join(f"w{i}" for i in text) + "\n" for text in texts))
    return path, torch.tensor([[0] + text + [0] for text in texts])


def train_headlight(options, folder, path):
    """Trains with headlight. Returns tokens per second after the warm-up, the peak memory and the loss of the last
    validation."""
    last_step = options.warmup_steps + options.steps
    _, _, peak = run([
        HEADLIGHT, "train", "language-model", "--quiet", "--out", folder, "--train", path, "--valid", path,
        "--tokenizer", path.parent / "tokens", "--family", "llama", "--layers", options.layers, "--model-dim",
        options.model, "--heads", options.heads, "--ffn-dim", options.ffn, "--positions", options.length,
        "--batch-tokens", options.batch_size * options.length, "--threads", options.threads, "--compute",
        options.compute, "--seed", 1, "--steps", last_step, "--warmup", options.warmup_steps, "--log-every",
        options.warmup_steps, "--validate-every", last_step])
    records = [json.loads(line) for line in (Path(folder) / "metrics.jsonl").read_text().splitlines()]
    steps = {record["step"]: record for record in records if "seconds" in record}
    first, last = steps[options.warmup_steps], steps[last_step]
    tokens = last["target_tokens"] - first["target_tokens"]
    if tokens != options.steps * options.batch_size * options.length:
        raise SystemExit(f"pytorch_llama_training: headlight's batches have {tokens / options.steps:.0f} tokens")
    loss = [record["validation_loss"] for record in records if "validation_loss" in record][-1]
    return tokens / (last["seconds"] - first["seconds"]), peak, loss


def loss_of(model, ids):
    """Returns the mean loss of all tokens except the first."""
    logits = model(input_ids=ids[:, :-1], use_cache=False).logits
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten())


class Loss(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        return argparse.Namespace(loss=loss_of(self.model, ids))


def work(job):
    torch.set_num_threads(job["threads"])
    torch.manual_seed(1)
    ids = torch.load(job["ids"])
    model = LlamaForCausalLM(LlamaConfig(**job["config"], attn_implementation="sdpa"))
    training_race.train_here(job, Loss(model), len(ids), lambda rows: {"ids": ids[rows]}, per_example=job["length"])


def main():
    options = arguments()
    if options.worker:
        return work(json.loads(Path(options.worker).read_text()))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        path, ids = write_texts(options, folder, 20 * options.batch_size)
        _, _, reported = train_headlight(options, folder / "model", path)
        model = LlamaForCausalLM.from_pretrained(folder / "model").eval()
        with torch.no_grad():
            losses = [loss_of(model, batch).item() for batch in ids.split(options.batch_size)]
        training_race.check_same(options, sum(losses) / len(losses), reported)
        torch.save(ids, folder / "ids")
        config = {"hidden_size": options.model, "num_hidden_layers": options.layers, "vocab_size": options.vocabulary,
                  "num_attention_heads": options.heads, "intermediate_size": options.ffn, "tie_word_embeddings": True,
                  "max_position_embeddings": options.length, "bos_token_id": 0, "eos_token_id": 0}
        job = {"config": config, "ids": str(folder / "ids"), "length": options.length}
        training_race.race(options, "tokens", job, folder, lambda to: train_headlight(options, to, path))


if __name__ == "__main__":
    main()
