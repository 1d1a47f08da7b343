"""Sign-in to a shared server: who a visitor is, and what is kept from those who are nobody.

Nothing of it is there on a machine of one's own.
"""
