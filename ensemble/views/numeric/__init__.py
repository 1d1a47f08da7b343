"""Views of ensembles that predict numbers: what every face shows of them."""
