"""Ensembles in forms that other programs take: weights, programs, tables, a folder that classifies.

    from ensemble.export import export_members
    export_members("digits-0412", Path("digits.safetensors"), "safetensors")

A form is a module with an `ExportFormat`; `registry.py` lists them. What was written is read back,
and judged on the run's test images: its figures are those of the file. See docs/take_it_away.md.
"""

from ensemble.export.member_export import ExportedFile, export_members
from ensemble.export.registry import EXPORT_FORMATS, choose_export_format, find_export_format

__all__ = ["EXPORT_FORMATS", "ExportedFile", "choose_export_format", "export_members", "find_export_format"]
