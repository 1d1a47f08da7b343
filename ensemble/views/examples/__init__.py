"""Views that go example by example: the disputed ones, doubtful labels, tables of all."""
