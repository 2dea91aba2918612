"""Checks `from_torch.py`: small models with random weights, in floating point and in INT8, have as many images right in Beamline as in ONNX Runtime.

    python3 check_from_torch.py /path/to/beamline

The images are noise in one channel and in three. It needs the packages that `from_torch.py` needs.
"""

import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

MODELS = '''
import torch
from torch import nn
from torch.nn import functional as F

def cbr(inputs, outputs, k=3, stride=1, groups=1, act=nn.ReLU6):
    return nn.Sequential(nn.Conv2d(inputs, outputs, k, stride, k // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs), act())

def varied(make):
    torch.manual_seed(1)
    model = make()
    for it in model.modules():
        if isinstance(it, (nn.BatchNorm1d, nn.BatchNorm2d)):
            it.running_mean.normal_(0, 0.1), it.running_var.uniform_(0.5, 2)
            it.weight.data.uniform_(0.5, 1.5), it.bias.data.normal_(0, 0.1)
    return model

class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.a, self.dw = cbr(1, 8), cbr(8, 8, act=nn.ReLU), cbr(8, 8, stride=2, groups=8)
        self.norm, self.b, self.fc = nn.BatchNorm2d(8), nn.Conv2d(8, 8, 3, padding="same"), nn.Linear(8 * 49, 10)

    def forward(self, x):
        x = F.max_pool2d(self.stem(x), 2)
        x = x + self.b(F.relu(self.norm(x))) + self.a(x)
        return self.fc(self.dw(x).view(1, -1))

class Fire(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.squeeze, self.one, self.three = nn.Conv2d(3, 8, 3, 2), nn.Conv2d(8, 4, 1), nn.Conv2d(4, 8, 1), nn.Conv2d(4, 8, 3, padding=1)
        self.head, self.norm, self.fc = nn.Linear(16, 12), nn.BatchNorm1d(12), nn.Linear(12, 10, bias=False)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.stem(x)), 3, 2, ceil_mode=True)
        x = F.relu(self.squeeze(x))
        x = torch.cat([F.relu(self.one(x)), F.relu(self.three(x))], 1).mean((2, 3))
        return self.fc(F.relu(self.norm(self.head(x))))

def residual():
    return varied(Residual)

def fire():
    return varied(Fire)
'''


def idx(path, array):
    """Writes bytes in the form IDX."""
    path.write_bytes(struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes())


def main():
    beamline, here = sys.argv[1], Path(__file__).parent
    draw = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "models.py").write_text(MODELS)
        idx(folder / "labels", draw.integers(0, 10, 200, np.uint8))
        for model, channels in ("residual", []), ("fire", [3]):
            idx(folder / "images", draw.integers(0, 256, [200, 28, 28, *channels], np.uint8))
            files = ["--images", folder / "images", "--labels", folder / "labels"]
            for options in [], ["--int8"], ["--mean", "0.4", "--std", "0.3"], ["--int8", "--mean", "0.4", "--std", "0.3"]:
                out = folder / "net.onnx"
                command = [sys.executable, here / "from_torch.py", f"{folder}/models.py:{model}", "--out", out, *files, *options]
                said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                info = subprocess.run([beamline, "nn", "info", out, *files], check=True, capture_output=True, text=True).stdout
                expected, found = (int(re.search(it, text)[1]) for it, text in ((r"ONNX Runtime (\d+) \(", said), (r"(\d+) of 200 images", info)))
                print(model, *options, f"ONNX Runtime {expected}, Beamline {found} of 200")
                assert expected == found


if __name__ == "__main__":
    main()
