"""The tensors that ONNX Runtime makes of a network of floating point, which a test of the crate compares within a tolerance.

    zstd -d ../networks/fashion/images.zst -o images
    python3 compare_float.py ../networks/fashion/fashion-fp32.onnx images expected && zstd -19 expected -o ../networks/fashion/onnxruntime-fp32.zst

It needs the packages `onnx` and `onnxruntime`. Every tensor that a layer of Beamline makes is written for two images, position-major, then
the logits of all 1,000; all numbers are FP32.
"""

import sys

import numpy as np
import onnx
import onnxruntime

def main():
    network, images, out = sys.argv[1:4]
    model = onnx.load(network)
    onnx.checker.check_model(model)
    # Relu belongs to the layer before it, whose sum is no tensor of Beamline; flattening makes none.
    made_by = [node.output[0] for node in model.graph.node if node.op_type != "Flatten"]
    names = [name for name in made_by if not name.endswith(".sum")]
    last = model.graph.output[0].name
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name != last)
    every = onnxruntime.InferenceSession(model.SerializeToString())
    plain = onnxruntime.InferenceSession(network)
    tensors, logits = b"", b""
    for i, image in enumerate(np.fromfile(images, np.uint8)[: 784 * 1000].reshape(1000, 1, 1, 28, 28)):
        x = image.astype(np.float32) / np.float32(255)
        logits += plain.run(None, {"input": x})[0].tobytes()
        if i < 2:
            made = every.run(names, {"input": x})
            tensors += b"".join((t.transpose(0, 2, 3, 1) if t.ndim == 4 else t).tobytes() for t in made)
    with open(out, "wb") as file:
        file.write(tensors + logits)


if __name__ == "__main__":
    main()
