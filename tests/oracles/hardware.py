"""Rows of device facts: what the catalogue of hardware says of a device or a link."""
from __future__ import annotations

from mlsysim.hardware import Hardware

from .rows import Row

# A row's quantity, by how it begins, and the path of the catalogue's fact, in base units of the row.
PATHS = {
    "memory, marketing figure": "memory.capacity", "memory bandwidth": "memory.bandwidth", "board power": "power", "sram": "memory.capacity", "flash": "flash",
    "total memory shown by nvidia-smi": "memory.driver_visible", "\"total capacity\"": "memory.framework_visible",
    "nvlink duplex": "link.duplex_bandwidth", "ici bandwidth": "link.duplex_bandwidth",
}
BASE = {"GB as printed": "byte", "KB": "byte", "KiB": "byte", "MB": "byte", "MiB": "byte", "GiB": "byte", "GB/s": "byte/second", "TB/s": "byte/second",
        "TFLOP/s": "FLOP/second", "TOPS": "FLOP/second", "W": "watt"}


def answer(row: Row) -> float | None:
    of, quantity = row.inputs, row.quantity.lower()
    base = BASE.get(row.unit.partition(" (")[0])
    if base is None:
        return None
    if "link" in of and quantity.startswith("unidirectional bandwidth"):
        return float(Hardware.Links.find(of["link"]).bandwidth_per_direction.m_as(base))
    if "device" not in of:
        return None
    device = Hardware.find(of["device"])
    if quantity.startswith("peak") and "dtype" in of:
        return float(device.at(f"compute.{of['dtype']}").m_as(base))
    for beginning, path in PATHS.items():
        if quantity.startswith(beginning):
            return float(device.at(path).m_as(base))
    return None
