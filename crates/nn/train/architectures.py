"""Which of torchvision's classifiers Beamline opens as PyTorch exports them, and how near the logits are to ONNX Runtime's.

    python3 architectures.py BEAMLINE OUT [NAME...]

For each architecture, with random weights, OUT gets the files of both exporters of PyTorch (`torch.onnx.export` with `dynamo` and
without; the first puts data beside the file) and two images with the labels that ONNX Runtime gives them. The row says how many
layers Beamline opens, the largest difference of three logits of the first image as a share of the span of all, or why it refuses the
file. Files that are there are taken as they are. It needs the packages torch, torchvision, onnx, onnxscript and onnxruntime.
"""

import json
import struct
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import onnxruntime
import torch
import torchvision

NAMES = """alexnet convnext_tiny densenet121 efficientnet_b0 efficientnet_v2_s googlenet inception_v3 maxvit_t mnasnet1_0 mobilenet_v2
mobilenet_v3_small regnet_x_400mf regnet_y_400mf resnet18 shufflenet_v2_x1_0 squeezenet1_0 swin_t swin_v2_t vgg11 vit_b_16""".split()


def exported(name, dynamo, path):
    torch.manual_seed(0)
    more = {"init_weights": False, "aux_logits": False} if name in ("googlenet", "inception_v3") else {}
    network = torchvision.models.get_model(name, weights=None, **more).eval()
    # A last layer of zeros would hide every difference.
    for parameter in network.parameters():
        if not parameter.any():
            torch.nn.init.normal_(parameter, 0, 0.02)
    size = 299 if name == "inception_v3" else 224
    inputs = (torch.randn(1, 3, size, size),)
    torch.onnx.export(network, inputs, path, dynamo=dynamo, verbose=False, **({} if dynamo else {"opset_version": 17}))


def idx(path, kind, array, element):
    sizes = b"".join(struct.pack(">I", size) for size in array.shape)
    path.write_bytes(bytes([0, 0, kind, array.ndim]) + sizes + np.ascontiguousarray(array, element).tobytes())


def compared(beamline, path):
    """The layers that are opened and the difference; or the error."""
    session = onnxruntime.InferenceSession(path)
    given = session.get_inputs()[0]
    size = given.shape[2]
    blocks = np.random.default_rng(5).integers(0, 256, (2, size // 8 + 1, size // 8 + 1, 3))
    images = blocks.repeat(8, 1).repeat(8, 2)[:, :size, :size].astype(np.uint8)
    floats = images.transpose(0, 3, 1, 2).astype(np.float32) / np.float32(255)
    logits = [session.run(None, {given.name: floats[at : at + 1]})[0].reshape(-1) for at in range(2)]
    idx(path.with_suffix(".images"), 8, images, np.uint8)
    idx(path.with_suffix(".labels"), 11, np.array([it.argmax() for it in logits]), ">i2")
    options = ["--images", path.with_suffix(".images"), "--labels", path.with_suffix(".labels"), "--json"]
    run = lambda *words: subprocess.run([beamline, "nn", *words, *options], capture_output=True, text=True)
    info = run("info", path)
    if info.returncode:
        return info.stderr.strip().split(": ", 2)[-1][:160]
    layers = json.loads(info.stdout)["layers"]
    worst = 0
    for logit in (3, 500, 999):
        # The last layer makes numbers, or images of one pixel.
        hits = (f"image=0,layer={layers[-1]['name']},tensor=out,at={at},model=flip,bits=0" for at in (logit, f"{logit}:0:0"))
        fault = next(it for it in (run("inject", path, hit) for hit in hits) if it.returncode == 0)
        before = json.loads(fault.stdout)["observation"]["landed"]["before"]
        value = np.array([int(before, 16)], np.uint32).view(np.float32)[0]
        worst = max(worst, abs(float(value) - float(logits[0][logit])))
    return f"{len(layers)} layers, {worst / np.ptp(logits[0]):.0e}"


def main():
    beamline, out = sys.argv[1], Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    warnings.filterwarnings("ignore")
    print("| architecture | without `dynamo` | with it |\n|---|---|---|")
    for name in sys.argv[3:] or NAMES:
        row = [name]
        for dynamo in (False, True):
            path = out / f"{name}{'-dynamo' if dynamo else ''}.onnx"
            if not path.exists():
                exported(name, dynamo, path)
            row.append(compared(beamline, path))
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
