"""The commands that ask something of a run that is there: pictures, plans."""
