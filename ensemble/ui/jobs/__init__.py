"""Jobs on the screens: chosen, launched, stopped, resumed and deleted, of whatever kind."""
