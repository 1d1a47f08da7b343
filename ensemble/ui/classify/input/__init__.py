"""How a picture comes in: files, sheet, camera, samples."""
