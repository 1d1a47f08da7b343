"""Records in JSON: fields checked when they are read, and the lines of histories."""
