"""How members are run on their devices: many steps in a compiled loop, or a step a call."""
