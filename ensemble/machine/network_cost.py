"""What a network takes, reckoned from its layers before JAX is imported: for pages, at once.

The engine counts the same in the traced program (`Network.parameters`, `Network.flops`), and a
test holds both equal; of a network of a person's own nothing is known until it is asked.
"""

from dataclasses import dataclass

from ensemble.architectures import ARCHITECTURES

ImageShape = tuple[int, int, int]


@dataclass(frozen=True)
class NetworkCost:
    """What one member takes.

    Attributes:
      parameters: numbers that the optimizer moves.
      flops: operations of one image's forward pass, in products and convolutions.
      running_statistics: numbers in its other collections, as running statistics.
      outputs: numbers that its products and convolutions give for one image.
    """

    parameters: int
    flops: int
    running_statistics: int
    outputs: int


def compute_network_cost(name: str, image_shape: ImageShape, classes: int, width: int = 0) -> NetworkCost | None:
    """The cost of a built-in network for images (H, W, channels); None of any other.

    Args:
      name: one of `BUILTIN_NETWORK_NAMES`; `image_shape` is no smaller than it takes.
      image_shape: of one image.
      classes: how many it tells apart.
      width: as the setting; 0 is its own.
    """
    if name not in ARCHITECTURES:
        return None
    layers = _LayerCounter(image_shape)
    _LAYER_COUNTERS[name](layers, width or ARCHITECTURES[name].width or 0)
    layers.add_dense(classes)
    return NetworkCost(layers.parameters, 2 * layers.products, layers.carried, layers.outputs)


class _LayerCounter:
    """Layers one after the other: what they give, and what they took so far."""

    def __init__(self, image_shape: ImageShape) -> None:
        self.height, self.width, self.channels = image_shape
        self.parameters = self.products = self.carried = self.outputs = 0

    def add_conv(self, features: int, size: int = 3, stride: int = 1, same: bool = True, bias: bool = True) -> None:
        less = 0 if same else size - 1
        self.height = -(-(self.height - less) // stride)
        self.width = -(-(self.width - less) // stride)
        weights = size * size * self.channels * features
        self.parameters += weights + features * bias
        self.products += weights * self.height * self.width
        self.channels = features
        self.outputs += self.height * self.width * features

    def add_pool(self) -> None:
        self.height, self.width = self.height // 2, self.width // 2

    def add_global_mean(self) -> None:
        self.height = self.width = 1

    def add_norm(self, carries: bool) -> None:
        self.parameters += 2 * self.channels
        self.carried += 2 * self.channels * carries

    def add_dense(self, features: int) -> None:
        weights = self.height * self.width * self.channels * features
        self.parameters += weights + features
        self.products += weights
        self.height, self.width, self.channels = 1, 1, features
        self.outputs += features


def _count_cnn(layers: _LayerCounter, width: int) -> None:
    for features in (width, 2 * width):
        layers.add_conv(features)
        layers.add_pool()
    layers.add_dense(8 * width)


def _count_mlp(layers: _LayerCounter, width: int) -> None:
    for _ in range(3):
        layers.add_dense(width)


def _count_lenet5(layers: _LayerCounter, width: int) -> None:
    for features, same in ((width, True), (8 * width // 3, False)):
        layers.add_conv(features, 5, same=same)
        layers.add_pool()
    layers.add_dense(20 * width)
    layers.add_dense(14 * width)


def _count_resnet(layers: _LayerCounter, width: int, carries: bool = True) -> None:
    layers.add_conv(width, bias=False)
    layers.add_norm(carries)
    for stage in range(3):
        for block in range(3):
            for stride in (2 if stage and not block else 1, 1):
                layers.add_conv(width * 2**stage, stride=stride, bias=False)
                layers.add_norm(carries)
    layers.add_global_mean()


_LAYER_COUNTERS = {
    "cnn": _count_cnn,
    "logistic": lambda layers, width: None,
    "mlp": _count_mlp,
    "lenet5": _count_lenet5,
    "resnet": _count_resnet,
    "resnet_groupnorm": lambda layers, width: _count_resnet(layers, width, carries=False),
}
