"""What ONNX Runtime makes of the network `scenes` in INT8, which a test of the crate compares: the outputs of all bundled scenes.

    python3 compare_scenes.py DATA ../networks/scenes

It says how many bytes of 500 test scenes differ from `scenes_files.py`, and how far the floats do. It needs the packages `onnx`,
`onnxruntime` and `zstandard`, and an x86 processor. Outputs are written position-major.
"""

import sys

import numpy as np
import onnx
import onnxruntime
import zstandard

from scenes import floats, outputs, test_scenes
from scenes_files import BUNDLED, integer_outputs, quantised

SCENES = 500


def run(path, x):
    """The outputs (scene, row, column, 15) of inputs (scene, row, column, 1), one at a time."""
    onnx.checker.check_model(onnx.load(path))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    # Without VNNI, products of u8 and s8 saturate at 16 bits unless weights are made u8 first.
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(path, options)
    return np.concatenate([session.run(None, {"input": i[None, None, :, :, 0]})[0] for i in x]).transpose(0, 2, 3, 1)


def main():
    data, folder = sys.argv[1:3]
    p = dict(np.load(f"{folder}/scenes.npz"))
    pixels, _ = test_scenes(data, SCENES)
    made = run(f"{folder}/scenes.onnx", pixels[..., None])
    expected = integer_outputs(*quantised(p, data), pixels)
    print(f"INT8: {(made != expected).sum()} of {made.size} bytes differ")
    far = np.abs(run(f"{folder}/scenes-fp32.onnx", floats(pixels)) - outputs(p, pixels)).max()
    print(f"FP32: outputs differ by {far:.1e} at most")
    with open(f"{folder}/onnxruntime.zst", "wb") as file:
        file.write(zstandard.ZstdCompressor(level=19).compress(made[:BUNDLED].tobytes()))


if __name__ == "__main__":
    main()
