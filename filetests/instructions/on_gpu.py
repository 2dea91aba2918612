#!/usr/bin/env python3
"""Executes instruction vectors on a real GPU, through the driver alone.

    cargo xtask vectors --write questions.jsonl
    python3 on_gpu.py questions.jsonl answers.jsonl        on a machine with a GPU
    cargo xtask vectors --compare answers.jsonl
"""

import ctypes
import json
import sys

cuda = ctypes.CDLL("libcuda.so.1")


class Refused(Exception):
    pass


def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code != 0:
        text = ctypes.c_char_p()
        cuda.cuGetErrorName(code, ctypes.byref(text))
        raise Refused(f"{name}: {(text.value or b'?').decode()}")


def load(text):
    """The module; what the driver's compiler says of one that it refuses."""
    module, log = ctypes.c_void_p(), ctypes.create_string_buffer(4096)
    # CU_JIT_ERROR_LOG_BUFFER and its size.
    options = (ctypes.c_int * 2)(5, 6)
    values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
    try:
        call("cuModuleLoadDataEx", ctypes.byref(module), text.encode(), 2, options, values)
    except Refused as refused:
        said = " ".join(log.value.decode(errors="replace").split())
        raise Refused(f"{refused} {said}"[:300]) from None
    return module


def answer(question):
    given, out = bytes.fromhex(question["input"]), bytearray.fromhex(question["output"])
    module = load(question["ptx"])
    kernel, source, target = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_uint64()
    call("cuModuleGetFunction", ctypes.byref(kernel), module, b"plain")
    call("cuMemAlloc_v2", ctypes.byref(source), ctypes.c_size_t(max(len(given), 1)))
    call("cuMemAlloc_v2", ctypes.byref(target), ctypes.c_size_t(max(len(out), 1)))
    call("cuMemcpyHtoD_v2", source, given, ctypes.c_size_t(len(given)))
    buffer = (ctypes.c_char * len(out)).from_buffer(out)
    call("cuMemcpyHtoD_v2", target, buffer, ctypes.c_size_t(len(out)))
    limit = ctypes.c_uint32(question["threads"])
    params = (ctypes.c_void_p * 3)(*(ctypes.addressof(value) for value in (source, target, limit)))
    call("cuLaunchKernel", kernel, question["blocks"], 1, 1, question["block"], 1, 1, 0, None, params, None)
    call("cuMemcpyDtoH_v2", buffer, target, ctypes.c_size_t(len(out)))
    call("cuMemFree_v2", source)
    call("cuMemFree_v2", target)
    call("cuModuleUnload", module)
    return bytes(out).hex()


def main():
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    with open(sys.argv[1]) as questions, open(sys.argv[2], "w") as answers:
        for line in questions:
            question = json.loads(line)
            try:
                reply = {"id": question["id"], "output": answer(question)}
            except Refused as refused:
                reply = {"id": question["id"], "error": str(refused)}
            answers.write(json.dumps(reply) + "\n")


main()
