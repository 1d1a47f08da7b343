"""The commands that ask what a budget is best spent on: plans, wider networks, cheaper members."""
