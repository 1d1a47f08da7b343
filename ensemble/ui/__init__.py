"""What the pages share: colours, formats, charts, loaders and panels."""
