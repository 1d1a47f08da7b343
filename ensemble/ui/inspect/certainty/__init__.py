"""Views on how sure the ensemble is, and rightly so."""
