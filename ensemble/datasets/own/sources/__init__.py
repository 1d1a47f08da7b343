"""The kinds of sources that pictures come from, each a `source.PictureSource`."""
