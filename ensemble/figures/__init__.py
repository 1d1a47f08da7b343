"""Figures: data and a palette in, a Plotly figure out."""
