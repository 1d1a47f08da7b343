"""The commands that say what runs came to: pictures, predictions, comparisons, plans, budgets."""
