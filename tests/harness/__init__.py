"""What the programs beside this folder have in common."""
