"""Contracts and building blocks that every game shares."""
