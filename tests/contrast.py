"""Contrast of two colours as WCAG 2 defines it, from 1 (the same) to 21 (black on white)."""


def channels(colour: str) -> list[int]:
    """`#RRGGBB` as three numbers from 0 to 255."""
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]


def luminance(colour: str) -> float:
    """Relative luminance, 0 to 1 (WCAG 2.2, "relative luminance")."""
    shares = [channel / 255 for channel in channels(colour)]
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio, 1 to 21 (WCAG 2.2, "contrast ratio")."""
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def mix(ground: str, colour: str, share: float) -> str:
    """What is seen when `share` of a colour lies over a ground."""
    pairs = zip(channels(ground), channels(colour), strict=True)
    return "#" + "".join(f"{round(g * (1 - share) + c * share):02X}" for g, c in pairs)
