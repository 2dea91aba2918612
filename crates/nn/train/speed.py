"""Times what Beamline is held against on the network of `resnet20.py`: injections by PyTorchFI, and plain forward runs.

    python3 speed.py resnet20.th OUT [THREADS]

`OUT` is what `resnet20.py` was given. An injection of PyTorchFI declares one neuron of a convolution and a value, and runs the network.
*Hook* is the same without PyTorchFI: a forward hook, registered on one module, edits one neuron, and nothing is copied. ONNX Runtime
runs the file of INT8 without a fault, one image at a time and in batches of 64. It prints the microseconds of each: the median and the
least of rounds. It needs the packages `torch`, `pytorchfi` and `onnxruntime`.
"""

import struct
import sys
import time

import numpy as np
import onnx
import onnxruntime
import torch
import torch.nn.functional as F
from pytorchfi.core import fault_injection
from torch import nn

from published import as_input
from resnet20 import DEVIATION, MEAN

ROUNDS, RUNS = 15, 40


class Block(nn.Module):
    def __init__(self, before, channels, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(before, channels, 3, stride, 1, bias=False), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels)
        self.more = (channels - before) // 2

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.more, self.more)) if self.more else x
        return F.relu(y + x)


class ResNet20(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16)
        stage = lambda before, channels, stride: nn.Sequential(Block(before, channels, stride), *(Block(channels, channels, 1) for _ in "12"))
        self.layer1, self.layer2, self.layer3 = stage(16, 16, 1), stage(16, 32, 2), stage(32, 64, 2)
        self.linear = nn.Linear(64, 10)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(F.relu(self.bn1(self.conv1(x))))))
        return self.linear(x.mean(dim=(2, 3)))


def timed(name, run, per=1, runs=RUNS):
    """Prints the microseconds of one of `per` things that `run` does."""
    run(0)
    found = []
    for number in range(ROUNDS):
        start = time.perf_counter()
        for i in range(runs):
            run(number * runs + i)
        found.append((time.perf_counter() - start) / runs / per * 1e6)
    print(f"{name:48} median {np.median(found):9.1f} us   least {min(found):9.1f} us", flush=True)


def main():
    weights, out = sys.argv[1:3]
    threads = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    torch.set_num_threads(threads)
    with open(f"{out}/images", "rb") as file:
        sizes = struct.unpack(">I4I", file.read(20))[1:]
        pixels = np.frombuffer(file.read(), np.uint8).reshape(sizes)
    with open(f"{out}/labels", "rb") as file:
        labels = np.frombuffer(file.read()[8:], np.uint8)
    model = ResNet20().eval()
    state = torch.load(weights, map_location="cpu", weights_only=False)["state_dict"]
    model.load_state_dict({name.removeprefix("module."): tensor for name, tensor in state.items()})
    inputs = (torch.from_numpy(as_input(pixels)) - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(DEVIATION).view(3, 1, 1)
    inputs = inputs.float()
    print(f"torch {torch.__version__}, onnxruntime {onnxruntime.__version__}, threads {threads}")
    draw = np.random.default_rng(0)
    convs = [module for module in model.modules() if isinstance(module, nn.Conv2d)]
    with torch.inference_mode():
        print("PyTorch FP32: right", int((model(inputs).argmax(1).numpy() == labels).sum()), "of", len(labels))
        timed("PyTorch FP32, forward", lambda i: model(inputs[i % len(inputs)][None]))
        tool = fault_injection(model, 1, input_shape=[3, 32, 32], layer_types=[nn.Conv2d])
        shapes = [shape[1:] for shape in tool.get_output_size()]
        sizes = np.array([np.prod(shape) for shape in shapes])

        def neuron():
            """A layer by its size and a place in it, so that each neuron has the same chance."""
            layer = draw.choice(len(sizes), p=sizes / sizes.sum())
            return layer, [int(draw.integers(size)) for size in shapes[layer]]

        def inject(i):
            layer, (c, y, x) = neuron()
            value = float(draw.uniform(-1, 1))
            faulty = tool.declare_neuron_fi(batch=[0], layer_num=[layer], dim1=[c], dim2=[y], dim3=[x], value=[value])
            faulty(inputs[i % len(inputs)][None])

        def hooked(i):
            layer, (c, y, x) = neuron()
            value = float(draw.uniform(-1, 1))

            def edit(_module, _input, output):
                output[0, c, y, x] = value

            handle = convs[layer].register_forward_hook(edit)
            model(inputs[i % len(inputs)][None])
            handle.remove()

        timed("PyTorchFI 0.6.0, declare and run", inject)
        timed("hook on one module, run", hooked)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(f"{out}/resnet20.onnx", options, providers=["CPUExecutionProvider"])
    floats = as_input(pixels)
    right = sum(int(session.run(None, {"input": floats[i : i + 1]})[0].argmax() == labels[i]) for i in range(len(labels)))
    print("ONNX Runtime INT8: right", right, "of", len(labels))
    timed("ONNX Runtime INT8, forward", lambda i: session.run(None, {"input": floats[i % len(floats)][None]}))
    batched = onnx.load(f"{out}/resnet20.onnx")
    for value in (batched.graph.input[0], batched.graph.output[0]):
        value.type.tensor_type.shape.dim[0].dim_param = "N"
    del batched.graph.value_info[:]
    session64 = onnxruntime.InferenceSession(batched.SerializeToString(), options, providers=["CPUExecutionProvider"])
    timed("ONNX Runtime INT8, forward, an image of 64", lambda i: session64.run(None, {"input": floats[:64]}), 64, 10)
    plain = onnxruntime.InferenceSession(f"{out}/resnet20-fp32.onnx", options, providers=["CPUExecutionProvider"])
    timed("ONNX Runtime FP32, forward", lambda i: plain.run(None, {"input": floats[i % len(floats)][None]}))


if __name__ == "__main__":
    main()
