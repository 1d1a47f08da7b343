"""What a network takes, reckoned from its layers before JAX is imported: for pages, at once.

The engine counts the same in the traced program (`Network.parameters`, `Network.flops`), and a
test holds both equal; of a network of a person's own nothing is known until it is asked.
"""

from dataclasses import dataclass

from ensemble.architectures import ARCHITECTURES

ImageShape = tuple[int, int, int]


@dataclass(frozen=True)
class Cost:
    """What one member takes.

    Attributes:
      parameters: numbers that the optimizer moves.
      flops: operations of one image's forward pass, in products and convolutions.
      carried: numbers in its other collections, as running statistics.
      outputs: numbers that its products and convolutions give for one image.
    """

    parameters: int
    flops: int
    carried: int
    outputs: int


def of(name: str, image_shape: ImageShape, classes: int, width: int = 0) -> Cost | None:
    """The cost of a built-in network for images (H, W, channels); None of any other.

    Args:
      name: one of `architectures.NAMES`; `image_shape` is no smaller than it takes.
      image_shape: of one image.
      classes: how many it tells apart.
      width: as the setting; 0 is its own.
    """
    if name not in ARCHITECTURES:
        return None
    layers = _Layers(image_shape)
    _BUILT[name](layers, width or ARCHITECTURES[name].width or 0)
    layers.dense(classes)
    return Cost(layers.parameters, 2 * layers.products, layers.carried, layers.outputs)


class _Layers:
    """Layers one after the other: what they give, and what they took so far."""

    def __init__(self, image_shape: ImageShape) -> None:
        self.height, self.width, self.channels = image_shape
        self.parameters = self.products = self.carried = self.outputs = 0

    def conv(
        self, features: int, size: int = 3, stride: int = 1, same: bool = True, bias: bool = True
    ) -> None:
        less = 0 if same else size - 1
        self.height = -(-(self.height - less) // stride)
        self.width = -(-(self.width - less) // stride)
        weights = size * size * self.channels * features
        self.parameters += weights + features * bias
        self.products += weights * self.height * self.width
        self.channels = features
        self.outputs += self.height * self.width * features

    def pool(self) -> None:
        self.height, self.width = self.height // 2, self.width // 2

    def mean(self) -> None:
        self.height = self.width = 1

    def norm(self, carries: bool) -> None:
        self.parameters += 2 * self.channels
        self.carried += 2 * self.channels * carries

    def dense(self, features: int) -> None:
        weights = self.height * self.width * self.channels * features
        self.parameters += weights + features
        self.products += weights
        self.height, self.width, self.channels = 1, 1, features
        self.outputs += features


def _cnn(layers: _Layers, width: int) -> None:
    for features in (width, 2 * width):
        layers.conv(features)
        layers.pool()
    layers.dense(8 * width)


def _mlp(layers: _Layers, width: int) -> None:
    for _ in range(3):
        layers.dense(width)


def _lenet5(layers: _Layers, width: int) -> None:
    for features, same in ((width, True), (8 * width // 3, False)):
        layers.conv(features, 5, same=same)
        layers.pool()
    layers.dense(20 * width)
    layers.dense(14 * width)


def _resnet(layers: _Layers, width: int, carries: bool = True) -> None:
    layers.conv(width, bias=False)
    layers.norm(carries)
    for stage in range(3):
        for block in range(3):
            for stride in (2 if stage and not block else 1, 1):
                layers.conv(width * 2**stage, stride=stride, bias=False)
                layers.norm(carries)
    layers.mean()


_BUILT = {
    "cnn": _cnn,
    "logistic": lambda layers, width: None,
    "mlp": _mlp,
    "lenet5": _lenet5,
    "resnet": _resnet,
    "resnet_groupnorm": lambda layers, width: _resnet(layers, width, carries=False),
}
