"""A whole ensemble as one program that others run: StableHLO for JAX, a graph for ONNX.

`ensemble_program.py` has what both are made from: the function of images, as JAX traces it.
"""
