"""Runs one training in PyTorch, in a separate process so that its memory can be measured. Prints one JSON object.

  torch_worker.py JOB.json   (written by pytorch_training.py or ranks.py)

For several ranks, a process is started for each rank, with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in the
environment. The ranks train with DistributedDataParallel over gloo. Rank 0 prints the object, which counts the tokens
of all ranks.
"""

import json
import os
import random
import sys
import time

import torch
from torch_transformer import Transformer


def pad(lists, value):
    width = max(map(len, lists))
    return torch.tensor([items + [value] * (width - len(items)) for items in lists])


def make_batches(pairs, target_tokens, start, padding):
    """Returns batches of sentences of similar length, with about target_tokens labels each."""
    pairs = sorted(pairs, key=lambda pair: (len(pair[1]), len(pair[0])))
    batches, batch, size = [], [], 0
    for pair in pairs:
        if size + len(pair[1]) > target_tokens and batch:
            batches.append(batch)
            batch, size = [], 0
        batch.append(pair)
        size += len(pair[1])
    batches.append(batch)
    return [collate(batch, start, padding) for batch in batches]


def collate(batch, start, padding):
    sources, targets = zip(*batch)
    source, labels = pad(sources, padding), pad(targets, -1)
    lengths = torch.tensor([len(items) for items in sources])
    mask = None
    if lengths.min() < source.shape[1]:
        mask = (torch.arange(source.shape[1]) < lengths.unsqueeze(1))[:, None, None]
    target_in = pad([[start] + items[:-1] for items in targets], padding)
    flat = labels.flatten()
    rows = (flat >= 0).nonzero().flatten() if (flat < 0).any() else None
    return {"source": source, "mask": mask, "target_in": target_in, "rows": rows, "labels": flat[flat >= 0],
            "source_lengths": [len(items) for items in sources], "target_lengths": [len(items) for items in targets]}


def operations(batch, shape):
    """Returns the floating-point operations of a training step's matrix products, for tokens that are not padding."""
    model, ffn, layers, vocabulary = shape["model"], shape["ffn"], shape["layers"], shape["vocabulary"]
    source, target = batch["source_lengths"], batch["target_lengths"]
    linear = layers * (sum(source) * (4 * model * model + 2 * model * ffn)
                       + sum(target) * (6 * model * model + 2 * model * ffn) + sum(source) * 2 * model * model)
    attention = layers * 2 * model * sum(s * s + t * t / 2 + s * t for s, t in zip(source, target))
    return 3 * 2 * (linear + attention + sum(target) * model * vocabulary)


class Loss(torch.nn.Module):
    """Computes the model's loss in its forward pass, so that DistributedDataParallel can wrap it."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *inputs):
        return self.model.loss(*inputs)


def main():
    with open(sys.argv[1]) as file:
        job = json.load(file)
    shape = job["shape"]
    torch.set_num_threads(job["threads"])
    torch.manual_seed(job["seed"])
    model = Transformer(shape["vocabulary"], shape["layers"], shape["model"], shape["heads"], shape["ffn"],
                        job["dropout"])
    with open(job["pairs"]) as file:
        batches = make_batches(json.load(file), job["batch_tokens"], job["start"], job["padding"])
    random.Random(job["seed"]).shuffle(batches)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    rank, ranks = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    loss_of = torch.compile(model.loss, dynamic=True) if job["compile"] else model.loss
    if ranks > 1:
        torch.distributed.init_process_group("gloo")
        loss_of = torch.nn.parallel.DistributedDataParallel(Loss(model))
    accumulated = job.get("accumulation", 1)  # number of batches per step on each rank
    in_bfloat16 = torch.autocast("cpu", dtype=torch.bfloat16, enabled=job["bfloat16"])

    model.train()
    seconds, tokens, work, losses = 0.0, 0, 0.0, []
    for step in range(job["warmup_steps"] + job["steps"]):
        first = (step * ranks + rank) * accumulated
        of_step = [batches[(first + i) % len(batches)] for i in range(accumulated)]
        began = time.perf_counter()
        for batch in of_step:
            with in_bfloat16:
                loss = loss_of(batch["source"], batch["mask"], batch["target_in"], batch["rows"], batch["labels"],
                               job["label_smoothing"]) / accumulated
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item() * accumulated)
        if step >= job["warmup_steps"]:
            seconds += time.perf_counter() - began
            tokens += sum(batch["labels"].numel() for batch in of_step)
            work += sum(operations(batch, shape) for batch in of_step)
    if ranks > 1:
        sums = torch.tensor([float(tokens), work])
        torch.distributed.all_reduce(sums)
        tokens, work = sums.tolist()
        torch.distributed.destroy_process_group()
    if rank == 0:
        print(json.dumps({"tokens_per_second": tokens / seconds, "operations_per_token": work / tokens,
                          "first_loss": losses[0], "last_loss": losses[-1]}))


if __name__ == "__main__":
    main()
