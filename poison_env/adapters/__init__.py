"""Thin shells that show the games to other libraries; none of them knows a rule."""
