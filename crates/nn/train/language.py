"""Trains the language model `language` on this project's own English text with PyTorch, and writes it with its prompts.

    python3 language.py ../../.. ../networks/language --steps 8000

The text is docs/**/*.md, ARCHITECTURE.md, METHODOLOGY.md and CONTRIBUTING.md; the last twentieth of each file is held out. A token
is a character: 0 is the newline, 1 to 95 are the printable characters of ASCII from the space on, and all others are spaces. The
weights with the least loss on the held-out text are kept. They have the names and the layouts of GPT-2: a matrix lies as (input,
output), queries, keys and values are one matrix, and the table of tokens is also the matrix that makes logits.

Three files are written: `language.safetensors` (FP32), `prompts.json` (64 prompts of held-out text, each with the 48 tokens that
greedy decoding in FP32 continues it by) and `reference.safetensors` (the logits of the first four). A prompt is one whose choices
all have a distance of at least 0.01 between the two largest logits, so that other orders of summation choose the same tokens.
"""

import argparse
import json
import math
import pathlib
import random
import struct
import time

import torch
import torch.nn.functional as F

LAYERS, WIDTH, HEADS, CONTEXT, TOKENS = 2, 64, 4, 128, 96
PROMPTS, STEPS, LOGITS, MARGIN = 64, 48, 4, 0.01
NAMES = ["ARCHITECTURE.md", "METHODOLOGY.md", "CONTRIBUTING.md"]


def encode(text):
    return [0 if c == "\n" else ord(c) - 31 if 32 <= ord(c) < 127 else 1 for c in text]


def decode(tokens):
    return "".join("\n" if t == 0 else chr(t + 31) for t in tokens)


def texts(root):
    """The text to train on, and the text that is held out."""
    train, held = [], []
    for path in sorted((root / "docs").rglob("*.md")) + [root / name for name in NAMES]:
        text = decode(encode(path.read_text(encoding="utf-8")))
        cut = len(text) * 19 // 20
        train.append(text[:cut])
        held.append(text[cut:])
    return "\n".join(train), "\n".join(held)


def start(device):
    """The weights before training."""
    def normal(*shape, scale=0.02):
        return torch.randn(shape, device=device) * scale

    weights = {"wte.weight": normal(TOKENS, WIDTH), "wpe.weight": normal(CONTEXT, WIDTH)}
    residual = 0.02 / math.sqrt(2 * LAYERS)
    for layer in range(LAYERS):
        h = f"h.{layer}."
        for name, rows, columns, scale in [
            ("attn.c_attn", WIDTH, 3 * WIDTH, 0.08),
            ("attn.c_proj", WIDTH, WIDTH, residual),
            ("mlp.c_fc", WIDTH, 4 * WIDTH, 0.08),
            ("mlp.c_proj", 4 * WIDTH, WIDTH, residual),
        ]:
            weights[h + name + ".weight"] = normal(rows, columns, scale=scale)
            weights[h + name + ".bias"] = torch.zeros(columns, device=device)
    for name in [f"h.{layer}.ln_{part}" for layer in range(LAYERS) for part in (1, 2)] + ["ln_f"]:
        weights[name + ".weight"] = torch.ones(WIDTH, device=device)
        weights[name + ".bias"] = torch.zeros(WIDTH, device=device)
    return weights


def forward(weights, tokens):
    """The logits at every position of (batch, position) tokens."""
    def linear(name, x):
        return x @ weights[name + ".weight"] + weights[name + ".bias"]

    def norm(name, x):
        return F.layer_norm(x, (WIDTH,), weights[name + ".weight"], weights[name + ".bias"], 1e-5)

    batch, length = tokens.shape
    x = weights["wte.weight"][tokens] + weights["wpe.weight"][:length]
    for layer in range(LAYERS):
        h = f"h.{layer}."
        q, k, v = linear(h + "attn.c_attn", norm(h + "ln_1", x)).split(WIDTH, dim=2)
        q, k, v = (t.view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2) for t in (q, k, v))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, WIDTH)
        x = x + linear(h + "attn.c_proj", a)
        x = x + linear(h + "mlp.c_proj", F.gelu(linear(h + "mlp.c_fc", norm(h + "ln_2", x)), approximate="tanh"))
    return norm("ln_f", x) @ weights["wte.weight"].T


def loss_of(weights, tokens):
    logits = forward(weights, tokens[:, :-1])
    return F.cross_entropy(logits.reshape(-1, TOKENS), tokens[:, 1:].reshape(-1))


def train(text, held, device, steps, batch):
    tokens = torch.tensor(encode(text), device=device)
    held = torch.tensor(encode(held), device=device)
    held = held[: len(held) // (CONTEXT + 1) * (CONTEXT + 1)].view(-1, CONTEXT + 1)
    weights = start(device)
    for weight in weights.values():
        weight.requires_grad_()
    matrices = [w for w in weights.values() if w.dim() == 2]
    vectors = [w for w in weights.values() if w.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98), fused=device == "cuda")
    offsets = torch.arange(CONTEXT + 1, device=device)
    best, kept, began = math.inf, None, time.time()
    for step in range(steps):
        rate = 4e-3 * min(1, (step + 1) / 200) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * step / steps)))
        for group in optimiser.param_groups:
            group["lr"] = rate
        first = torch.randint(len(tokens) - CONTEXT, (batch, 1), device=device)
        loss = loss_of(weights, tokens[first + offsets])
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(weights.values()), 1.0)
        optimiser.step()
        if (step + 1) % 500 == 0 or step + 1 == steps:
            with torch.no_grad():
                of_held = loss_of(weights, held).item()
            print(f"step {step + 1}: loss {loss.item():.4f}, held out {of_held:.4f}, {time.time() - began:.0f} s", flush=True)
            if of_held < best:
                best, kept = of_held, {name: weight.detach().clone() for name, weight in weights.items()}
    print(f"kept: held out {best:.4f} nats, {best / math.log(2):.3f} bits a character")
    return kept


def continued(weights, prompt):
    """The tokens of greedy decoding, their logits, and the least distance between the two largest ones of a step."""
    tokens, logits, margin = encode(prompt), [], math.inf
    for _ in range(STEPS):
        row = forward(weights, torch.tensor([tokens]))[0, -1]
        logits.append(row)
        two = row.topk(2).values
        margin = min(margin, (two[0] - two[1]).item())
        tokens.append(int(row.argmax()))
    return tokens[len(encode(prompt)) :], torch.stack(logits), margin


def write(path, tensors, metadata):
    """A file of safetensors, written by hand."""
    header, data = {"__metadata__": metadata}, b""
    for name, tensor in tensors.items():
        values = tensor.contiguous().float().cpu().numpy().astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=8000)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    text, held = texts(options.root)
    print(f"{len(text)} characters, {len(held)} held out, on {options.device}")
    weights = {name: w.cpu() for name, w in train(text, held, options.device, options.steps, options.batch).items()}
    print(f"{sum(w.numel() for w in weights.values())} parameters")
    options.out.mkdir(parents=True, exist_ok=True)
    write(options.out / "language.safetensors", weights, {"heads": str(HEADS)})

    draw, prompts, logits, refused = random.Random(options.seed), [], [], 0
    starts = [at + 1 for at in range(len(held) - 33) if held[at] in " \n" and held[at + 1].isalpha()]
    with torch.no_grad():
        while len(prompts) < PROMPTS:
            at, length = draw.choice(starts), draw.randrange(16, 33)
            prompt = held[at : at + length]
            if "|" in prompt or "\n\n" in prompt or any(prompt == kept["prompt"] for kept in prompts):
                continue
            tokens, rows, margin = continued(weights, prompt)
            if margin < MARGIN:
                refused += 1
                continue
            prompts.append({"prompt": prompt, "continuation": decode(tokens)})
            if len(logits) < LOGITS:
                logits.append(rows)
    print(f"{refused} prompts refused for a small margin")
    for prompt in prompts[:8]:
        print(repr(prompt["prompt"]), repr(prompt["continuation"]))
    (options.out / "prompts.json").write_text(json.dumps(prompts, indent=1) + "\n")
    write(options.out / "reference.safetensors", {"logits": torch.stack(logits)}, {})


if __name__ == "__main__":
    main()
