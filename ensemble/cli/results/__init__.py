"""The commands that say what runs came to: pictures read, predictions moved, runs compared."""
