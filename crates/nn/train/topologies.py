"""Writes the convolutions of the seven networks of the thesis' Table 6.1, as torchvision makes them, as CSV.

    python3 topologies.py > ../../papers/src/filr/topologies.csv

It needs the packages `torch` and `torchvision`, and no weights. Images have 224 rows and columns and three channels.
"""

import torch
import torchvision.models as models

NETWORKS = [
    ("AlexNet", models.alexnet), ("GoogleNet", models.googlenet), ("MobileNet", models.mobilenet_v2),
    ("ShuffleNet", models.shufflenet_v2_x1_0), ("SqueezeNet", models.squeezenet1_1), ("ResNet50", models.resnet50),
    ("VGG19", models.vgg19),
]


def main():
    print("network,inputs,filters,rows,columns,kernel_rows,kernel_columns,groups")
    for name, make in NETWORKS:
        network = (make(weights=None, init_weights=False, aux_logits=False) if name == "GoogleNet" else make(weights=None)).eval()

        def seen(conv, _, made, name=name):
            kernel = conv.kernel_size
            print(name, conv.in_channels, conv.out_channels, *made.shape[2:], *kernel, conv.groups, sep=",")

        for module in network.modules():
            if isinstance(module, torch.nn.Conv2d):
                module.register_forward_hook(seen)
        with torch.no_grad():
            network(torch.zeros(1, 3, 224, 224))


if __name__ == "__main__":
    main()
