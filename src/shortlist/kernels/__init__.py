"""Compiled code over arrays. Imports nothing else of the package."""
