"""Folders of pictures: which folders are splits and classes, tables beside them."""
