"""What is peculiar to runs that predict numbers: their tables, predictions, targets and answers."""
