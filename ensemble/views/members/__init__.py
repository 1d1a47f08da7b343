"""Views of what members are to each other, to their ensemble and to their teacher."""
