"""As much of IPython as lockstep_views.py touches: how a cell is compiled."""
