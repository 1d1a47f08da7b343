"""What a person says of a run: its name, a note, tags to find and compare it by."""
