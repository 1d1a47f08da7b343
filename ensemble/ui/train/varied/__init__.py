"""Members that differ in a setting: set on Train, seen in the curves, and which value was best."""
