"""Among how many devices a member's batches are shared."""


def count_devices_per_member(members: int, devices: int, parts: int) -> int:
    """The devices that compute each member's gradients: 1 unless members are fewer than devices.

    Args:
      members: M.
      devices: that there are.
      parts: P, of each batch: as many devices have a member as have equally many of them.
    """
    most = max(1, devices // members)
    return max(count for count in range(1, parts + 1) if parts % count == 0 and count <= most)
