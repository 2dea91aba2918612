"""What ONNX Runtime makes of the network and its images, which a test of the crate compares: every tensor of four images, all logits.

    zstd -d ../networks/fashion/images.zst -o images
    python3 compare.py ../networks/fashion/fashion.onnx images expected && zstd -19 expected -o ../networks/fashion/onnxruntime.zst

It reads the file of any network here. It needs the packages `onnx` and `onnxruntime`, and an x86 processor. Tensors are written position-major.
"""

import sys

import numpy as np
import onnx
import onnxruntime


def main():
    network, images, out = sys.argv[1:4]
    model = onnx.load(network)
    onnx.checker.check_model(model)
    names = [node.output[0] for node in model.graph.node if node.op_type != "Flatten"]
    last = model.graph.output[0].name
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name != last)
    # Without VNNI, products of u8 and s8 saturate at 16 bits unless weights are made u8 first.
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")
    every = onnxruntime.InferenceSession(model.SerializeToString(), options)
    plain = onnxruntime.InferenceSession(network, options)
    tensors, logits = b"", b""
    for i, image in enumerate(np.fromfile(images, np.uint8)[: 784 * 1000].reshape(1000, 1, 1, 28, 28)):
        made = every.run(names, {"input": image})
        # More outputs could change what is fused.
        assert plain.run(None, {"input": image})[0].tobytes() == made[-1].tobytes()
        logits += made[-1].tobytes()
        if i < 4:
            tensors += b"".join((t.transpose(0, 2, 3, 1) if t.ndim == 4 else t).tobytes() for t in made)
    with open(out, "wb") as file:
        file.write(tensors + logits)


if __name__ == "__main__":
    main()
