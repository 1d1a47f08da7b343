"""Files of pictures: what they are, and their pixels, upright and bounded."""
