"""What a budget buys: members, one wider network in their place, or cheaper kinds of members."""
